"""The text that is shown of each result within ``max_tokens``.

In rank order, each result shows its own text, of a long one the passages with the most matches. A result without text
of its own shows the best node that matched in it. What is left of the budget shows what is below, again in rank order:
everything if it fits, else the nodes that matched, then the section from its start.

Token counts are stored with the nodes. Counts of passages that meet at the start of a line add up; where they may not,
and for the line between passages that do not meet, an upper bound is reserved. The tokenizer is only needed if not even
one passage fits, so that it must be cut.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, Protocol

import msgspec

from quire.index.engine.normalization import is_unspaced
from quire.index.file_records import TOKENIZER
from quire.index.node import Node
from quire.model import Span
from quire.offsets import BLANK, line_start

WORTH = 16  # a passage is cut only if there is room for so many tokens, and to at least half as many
_MAX_READ = 200_000  # how many characters of a long node are searched for matches
_MAX_MISSES = 16  # after so many nodes that do not fit, no more are tried
_BATCH = 32  # how many nodes are read at a time
ELLIPSIS = "…\n\n"  # between passages that do not meet, on a line of its own
_ELLIPSIS_TOKENS = 8  # reserved for it and the line ends before it; it has about three
_SEAM_TOKENS = 4  # reserved where two counts may not add up
_CLEAN_START = re.compile(r"[ \t]{0,64}+[^\s/]")
"""A line with text; a slash may merge with signs at the end of the line before."""
_CHARACTERS_PER_TOKEN = 16  # hardly any text has longer tokens on average

Count = Callable[[str], int]  # counts the tokens of a text
Ranges = Callable[[str], Sequence[Span]]  # finds the query's words in a text, in order


class ReadNodes(Protocol):
    """Reads nodes."""

    def __call__(self, document_id: str, first: int, last: int, /) -> Sequence[Node]:
        """The nodes of a document from one position to another, both included, in order."""


class Section(msgspec.Struct, frozen=True):
    """A result whose text is needed."""

    node: Node
    constituents: tuple[int, ...]  # the positions of the nodes that matched in it, the best first
    around_whole: int = 0  # tokens shown around the whole text, besides the breadcrumb line
    around_excerpt: int = 0  # tokens shown around an excerpt

    @property
    def cost_whole(self) -> int:
        """The tokens besides the whole text."""
        return self.node.crumb_tokens + self.around_whole

    @property
    def cost_excerpt(self) -> int:
        """The tokens besides an excerpt."""
        return self.node.crumb_tokens + self.around_excerpt


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """The text that is shown of a section."""

    text: str
    spans: tuple[Span, ...]  # of the source
    tokens: int  # of ``text``; an upper bound for an excerpt
    complete: bool


NO_TEXT = Shown(text="", spans=(), tokens=0, complete=False)


def fit(
    sections: Iterable[Section],
    read: ReadNodes,
    *,
    max_tokens: int | None = None,
    max_extended: int | None = None,
    ranges: Ranges | None = None,
    worth: int = WORTH,
) -> list[Shown | None]:
    """The text for each section; None for those that do not fit.

    Texts, breadcrumb lines and what else is shown around them have together at most ``max_tokens``. Nothing below a
    section is added that makes them more than ``max_extended``. A passage is cut only if there is room for ``worth``
    tokens.
    """
    if max_tokens is None:
        return [_whole(section, read) for section in sections]
    room = max_tokens
    drafts: list[_Draft] = []
    for section in sections:
        draft = _draft(section, read, ranges, room, worth)
        drafts.append(draft)
        room -= draft.cost
    if max_extended is not None:
        room = max(0, min(room, max_extended - (max_tokens - room)))
    for draft in drafts:
        room += draft.cost
        _extend(draft, read, room)
        room -= draft.cost
    return [draft.shown() for draft in drafts]


class Passage(NamedTuple):
    """Whole lines of a node."""

    start: int  # in the source
    text: str
    tokens: int  # or an upper bound

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)


def passages(node: Node) -> list[Passage]:
    """The passages of a node's text in order; none is empty."""
    if not node.passages:
        return [Passage(node.start, node.text, node.tokens)] if node.text else []
    return [Passage(node.start + each.start, node.text[each.start : each.end], each.tokens) for each in node.passages]


class Excerpt:
    """Some passages of one section."""

    def __init__(self) -> None:
        self.tokens = 0
        """The token count of its text, or an upper bound."""
        self._by_start: dict[int, Passage] = {}
        self._by_end: dict[int, Passage] = {}

    def __bool__(self) -> bool:
        return bool(self._by_start)

    def add(self, passages: Iterable[Passage], room: int) -> bool:
        """Add all of these passages if the excerpt then has at most ``room`` tokens, or none."""
        new = [passage for passage in passages if passage.start not in self._by_start]
        cost = 0
        for passage in new:
            cost += self._cost(passage)
            self._by_start[passage.start] = self._by_end[passage.end] = passage
        if self.tokens + cost > room:
            for passage in new:
                del self._by_start[passage.start], self._by_end[passage.end]
            return False
        self.tokens += cost
        return True

    def _groups(self) -> list[list[Passage]]:
        """The passages in order, grouped where they meet."""
        groups: list[list[Passage]] = []
        for _, passage in sorted(self._by_start.items()):
            if groups and groups[-1][-1].end == passage.start:
                groups[-1].append(passage)
            else:
                groups.append([passage])
        return groups

    def spans(self) -> tuple[Span, ...]:
        """The spans of the source that it shows."""
        return tuple(Span(group[0].start, group[-1].end) for group in self._groups())

    def text(self) -> str:
        """The text of the passages, with an ellipsis between those that do not meet."""
        texts = ["".join(passage.text for passage in group) for group in self._groups()]
        joined = ELLIPSIS.join(f"{text}{_to_blank_line(text)}" for text in texts[:-1])
        return joined + ELLIPSIS * (len(texts) > 1) + texts[-1]

    def _cost(self, passage: Passage) -> int:
        """How many tokens a passage adds."""
        before, after = self._by_end.get(passage.start), self._by_start.get(passage.end)
        gaps, seams = 1 if self else 0, 0
        if before:
            gaps -= 1
            seams += not _adds_up(before, passage)
        if after:
            gaps -= 1
            seams += not _adds_up(passage, after)
        return passage.tokens + gaps * _ELLIPSIS_TOKENS + seams * _SEAM_TOKENS


def _to_blank_line(text: str) -> str:
    """What a text needs to end with a blank line."""
    if text.endswith(("\n\n", "\r\r", "\n\r\n")):
        return ""
    return "\n" if text.endswith(("\n", "\r")) else "\n\n"


def _adds_up(left: Passage, right: Passage) -> bool:
    return left.text.endswith(("\n", "\r")) and _CLEAN_START.match(right.text) is not None


class _Draft(msgspec.Struct):
    """What is chosen so far for a section."""

    section: Section
    whole: Shown | None = None
    excerpt: Excerpt = msgspec.field(default_factory=Excerpt)
    closed: bool = False  # whether the excerpt is a cut passage, to which nothing may be added

    @property
    def cost(self) -> int:
        if self.whole is not None:
            return self.whole.tokens + self.section.cost_whole
        return self.excerpt.tokens + self.section.cost_excerpt if self.excerpt else 0

    def shown(self) -> Shown | None:
        if self.whole is not None or not self.excerpt:
            return self.whole
        spans = self.excerpt.spans()
        complete = spans == (Span(self.section.node.start, self.section.node.full_end),)
        return Shown(text=self.excerpt.text(), spans=spans, tokens=self.excerpt.tokens, complete=complete)


def _whole(section: Section, read: ReadNodes) -> Shown:
    node = section.node
    nodes = read(node.document_id, node.position, node.last) if node.last > node.position else [node]
    text = "".join(each.text for each in nodes)
    return Shown(text=text, spans=(Span(node.start, node.full_end),), tokens=node.full_tokens, complete=True)


def _draft(section: Section, read: ReadNodes, ranges: Ranges | None, room: int, worth: int) -> _Draft:
    """The section's own text, or its most relevant passages, or a cut passage; the whole section if it is a leaf."""
    node = section.node
    if node.last == node.position and node.full_tokens <= room - section.cost_whole:
        return _Draft(section, _whole(section, read))
    draft = _Draft(section)
    room -= section.cost_excerpt
    too_long: list[tuple[Passage, Span | None]] = []
    has_text = bool(node.body_text.strip(BLANK))
    for position in (node.position,) if has_text else section.constituents:
        if draft.excerpt or draft.excerpt.tokens >= room or len(too_long) >= _MAX_MISSES:
            break
        [matched] = [node] if position == node.position else read(node.document_id, position, position)
        if not matched.body_text.strip(BLANK):
            start = next(_from_its_start(matched, read), [])
            if not draft.excerpt.add(start, room):
                too_long.append((start[-1], None))
            continue
        if not draft.excerpt.add(passages(matched), room):
            too_long += _add_matching(draft.excerpt, matched, ranges, room)
    if not draft.excerpt and too_long and room >= worth:
        shortened = cut_passage(*too_long[0], room, _counter(), max(worth // 2, 1))
        draft.closed = shortened is not None and draft.excerpt.add([shortened], room)
    return draft


@cache
def _counter() -> Count:
    from quire.size import resolve  # noqa: PLC0415  loads the tokenizer, which few answers need

    return resolve(None, TOKENIZER).count


def _add_matching(excerpt: Excerpt, node: Node, ranges: Ranges | None, room: int) -> list[tuple[Passage, Span | None]]:
    """Add the passages with matches, most matches first; return those that do not fit, each with its first match."""
    inside = passages(node)
    matches: dict[int, list[Span]] = {}  # by number of the passage, relative to its start
    number = 0
    for start, end in ranges(node.text[:_MAX_READ]) if ranges else ():
        while node.start + start >= inside[number].end:
            number += 1
        shift = inside[number].start - node.start
        matches.setdefault(number, []).append(Span(start - shift, end - shift))
    if not matches:
        return [] if excerpt.add(inside[:1], room) else [(inside[0], None)]
    best_first = sorted(matches, key=lambda number: -len(matches[number]))
    return [(inside[number], matches[number][0]) for number in best_first if not excerpt.add([inside[number]], room)]


def _extend(draft: _Draft, read: ReadNodes, room: int) -> None:
    """Show the whole section if it fits, else add the other nodes that matched, then the section from its start."""
    excerpt, section = draft.excerpt, draft.section
    if draft.closed or not excerpt or draft.whole is not None:
        return
    if section.node.full_tokens <= room - section.cost_whole:
        draft.whole = _whole(section, read)
        return
    room -= section.cost_excerpt
    misses = 0
    for position in section.constituents:
        if excerpt.tokens >= room or misses >= _MAX_MISSES:
            break
        [matched] = read(section.node.document_id, position, position)
        for passage in passages(matched) if matched.body_text.strip(BLANK) else ():
            misses += not excerpt.add([passage], room)
    for group in _from_its_start(section.node, read):
        if not excerpt.add(group, room):
            return


def _from_its_start(node: Node, read: ReadNodes) -> Iterator[list[Passage]]:
    """The passages of a section in order; a heading without text comes with the passage after it."""
    headings: list[Passage] = []
    for first in range(node.position, node.last + 1, _BATCH):
        for each in read(node.document_id, first, min(node.last, first + _BATCH - 1)):
            inside = passages(each)
            if each.body_text.strip(BLANK):
                yield [*headings, inside[0]]
                yield from ([passage] for passage in inside[1:])
                headings = []
            else:
                headings += inside


def cut_passage(passage: Passage, match: Span | None, most: int, count: Count, least: int = 1) -> Passage | None:
    """At most ``most`` tokens of a passage: whole lines, else whole words, else the beginning of a word.

    It starts at the line of ``match``, or at the match itself if the line is too long before it, or earlier if less
    than ``least`` tokens would follow.
    """
    text, (at, first) = passage.text, match or Span(0, 1)
    start = line_start(text, at)
    if first - start > _CHARACTERS_PER_TOKEN * most or count(text[start:first]) > most:
        start = at
    end = _cut_end(text[start : start + _CHARACTERS_PER_TOKEN * most], first - start, most, count, least) + start
    if end == len(text) and count(text[start:]) < least:
        start = _earlier_start(text, start, most, count, least)
    cut = text[start:end]
    return Passage(passage.start + start, cut, count(cut)) if cut.strip(BLANK) else None


def _cut_end(text: str, first: int, most: int, count: Count, least: int) -> int:
    """The last end of a line from ``first`` on up to which a text fits, if that is half of ``most``; else of a word."""
    if count(text) <= most:
        return len(text)
    words = [at for at in range(first, len(text)) if _is_end(text, at)]
    lines = [at for at in words if text[at - 1] in "\r\n"]
    for ends, needed in ((lines, most // 2), (words, least), (range(first, len(text)), 1), (range(1, len(text)), 1)):
        fitting = bisect_right(ends, most, key=lambda end: count(text[:end]))
        while fitting and count(text[: ends[fitting - 1]]) > most:  # a word may have fewer tokens than its beginning
            fitting -= 1
        if fitting and count(text[: ends[fitting - 1]]) >= needed:
            return ends[fitting - 1]
    return 0


def _earlier_start(text: str, start: int, most: int, count: Count, least: int) -> int:
    """A start before ``start`` from which the text fits and has ``least`` tokens: of a line, a word, or anywhere."""
    every = range(max(start - _CHARACTERS_PER_TOKEN * most, 0), start)
    words = [at for at in every if text[at] not in BLANK and (not at or text[at - 1] in BLANK)]
    lines = [at for at in words if not at or text[at - 1] in "\r\n"]
    for starts in (lines, words, every):
        close = starts[bisect_left(starts, -most, key=lambda at: -count(text[at:])) :]
        # The first may be too early, as a word may have fewer tokens than its end.
        first = next((at for at in close if count(text[at:]) <= most), start)
        if count(text[first:]) >= least:
            return first
    return start


def _is_end(text: str, at: int) -> bool:
    """Whether a line or word ends here; in scripts without spaces every character is a word."""
    before, after = text[at - 1], text[at]
    if before in BLANK:
        return before == "\n" or (before == "\r" and after != "\n")
    return after in BLANK or (not before.isascii() and is_unspaced(before) and not unicodedata.combining(after))
