"""The text that is shown of each result within ``max_tokens``: first its own text, then what is below it.

Token counts are stored with the nodes; where they may not add up, an upper bound is reserved. The tokenizer is only
needed if not even one passage fits, so that it must be cut.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from quire.index.file_records import TOKENIZER
from quire.index.node import Node, PassageSpan
from quire.model.document import Span
from quire.model.offsets import BLANK, LINE_END, line_start
from quire.model.patterns import pattern
from quire.model.validation import NO_LIMIT

MIN_EXCERPT = 16  # a passage is cut only if there is room for so many tokens
_MAX_READ = 50_000  # how many characters of a long node are searched for matches
_MAX_MISSES = 16  # after so many nodes that do not fit, no more are tried
ELLIPSIS = "…\n\n"  # between passages that do not meet, on a line of its own
_ELLIPSIS_TOKENS = 8  # reserved for it and the line ends before it; it has about three
_SEAM_TOKENS = 4  # reserved where two counts may not add up
_CLEAN_START = pattern(r"[ \t]{0,64}+[^\s/]")  # a slash may merge with signs at the end of the line before
_WORD = pattern(r"\S+")
_CHARACTERS_PER_TOKEN = 16  # hardly any text has longer tokens on average

Ranges = Callable[[str], Sequence[Span]]  # finds the query's words in a text, in order
ReadNodes = Callable[[str, int, int], Sequence[Node]]  # the nodes of a document from one position to another


def fit(
    results: Iterable[tuple[Node, Sequence[int]]],
    read: ReadNodes,
    *,
    max_tokens: int = 0,
    max_below: int = NO_LIMIT,
    ranges: Ranges | None = None,
    min_excerpt: int = MIN_EXCERPT,
) -> "list[Excerpt]":
    """The text for each result: a node, and the positions of the nodes that matched in it, the best first.

    Texts and breadcrumb lines have together at most ``max_tokens``, 0 for no limit; nothing below a section is added
    that makes them more than ``max_below``. A result that does not fit has an empty excerpt. A passage is cut only if
    there is room for ``min_excerpt`` tokens.
    """
    excerpts = [Excerpt(node, matched) for node, matched in results]
    if not max_tokens:
        for excerpt in excerpts:
            excerpt.show_all(read)
        return excerpts
    room = max_tokens
    for excerpt in excerpts:
        _show_own_text(excerpt, read, ranges, room - excerpt.node.crumb_tokens, min_excerpt)
        room -= excerpt.cost
    room = max(0, min(room, max_below - (max_tokens - room)))
    for excerpt in excerpts:
        if excerpt and not excerpt.is_closed:
            room += excerpt.cost
            _show_more(excerpt, read, room - excerpt.node.crumb_tokens)
            room -= excerpt.cost
    return excerpts


class Passage(NamedTuple):
    """Whole lines of a node."""

    start: int  # in the source
    end: int
    text: str
    tokens: int  # or an upper bound


def passages(node: Node) -> list[Passage]:
    """The passages of a node's text in order; none is empty."""
    at, text = node.start, node.text
    spans = node.passages or [PassageSpan(0, len(text), node.tokens)] * bool(text)
    return [Passage(at + span.start, at + span.end, text[span.start : span.end], span.tokens) for span in spans]


class Excerpt(Struct):
    """The passages of a result that are shown."""

    node: Node
    matched: Sequence[int] = ()  # the positions of the nodes that matched in it, the best first
    tokens: int = 0  # of its text, or an upper bound
    is_closed: bool = False  # whether nothing can be added: it is everything, or a cut passage
    _by_start: dict[int, Passage] = {}
    _by_end: dict[int, Passage] = {}

    def __bool__(self) -> bool:
        return bool(self._by_start)

    @property
    def cost(self) -> int:
        """Its tokens with those of the breadcrumb line."""
        return self.tokens + self.node.crumb_tokens if self._by_start else 0

    def show_all(self, read: ReadNodes) -> None:
        """Show the whole section with everything below it."""
        node = self.node
        nodes = read(node.document_id, node.position, node.last) if node.last > node.position else [node]
        text = "".join([inner.text for inner in nodes])
        self._by_start = {node.start: Passage(node.start, node.full_end, text, node.full_tokens)}
        self.tokens, self.is_closed = node.full_tokens, True

    def add(self, new: Iterable[Passage], room: int) -> bool:
        """Add all of these passages if the excerpt then has at most ``room`` tokens, or none."""
        missing = [passage for passage in new if passage.start not in self._by_start]
        cost = 0
        for passage in missing:
            cost += passage.tokens + (_ELLIPSIS_TOKENS if self._by_start else 0)
            before, after = self._by_end.get(passage.start), self._by_start.get(passage.end)
            for left, right in ((before, passage), (passage, after)):
                if left and right:
                    adds_up = left.text.endswith(("\n", "\r")) and _CLEAN_START.match(right.text)
                    cost += (0 if adds_up else _SEAM_TOKENS) - _ELLIPSIS_TOKENS
            self._by_start[passage.start] = self._by_end[passage.end] = passage
        if self.tokens + cost > room:
            for passage in missing:
                del self._by_start[passage.start], self._by_end[passage.end]
            return False
        self.tokens += cost
        return True

    def _groups(self) -> list[list[Passage]]:
        """The passages in order, grouped where they meet."""
        groups: list[list[Passage]] = []
        for start, passage in sorted(self._by_start.items()):
            if start not in self._by_end:
                groups.append([])
            groups[-1].append(passage)
        return groups

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans of the source that it shows."""
        return tuple([Span(group[0].start, group[-1].end) for group in self._groups()])

    @property
    def text(self) -> str:
        """The text of the passages, with an ellipsis between those that do not meet."""
        shown = ""
        for group in self._groups():
            if shown and not shown.endswith(("\n\n", "\r\r", "\n\r\n")):
                shown += "\n" if shown.endswith(("\n", "\r")) else "\n\n"
            shown += "".join([ELLIPSIS if shown else "", *[passage.text for passage in group]])
        return shown


def _show_own_text(excerpt: Excerpt, read: ReadNodes, ranges: Ranges | None, room: int, min_excerpt: int) -> None:
    """Show the section's own text, or its most relevant passages, or a cut passage; a leaf as a whole."""
    node = excerpt.node
    if node.last == node.position and node.full_tokens <= room:
        excerpt.show_all(read)
        return
    too_long: list[tuple[Passage, int]] = []
    for position in (node.position,) if node.has_text else excerpt.matched:
        if excerpt or room <= 0 or len(too_long) >= _MAX_MISSES:
            break
        [matched] = [node] if position == node.position else read(node.document_id, position, position)
        if not matched.has_text:
            first = next(_from_its_start(matched, read), [])
            if not excerpt.add(first, room):
                too_long.append((first[-1], 0))
        elif not excerpt.add(passages(matched), room):
            too_long += _add_matching(excerpt, matched, ranges, room)
    if not excerpt and node.full_tokens <= room:  # sums of passages are upper bounds
        excerpt.show_all(read)
    elif not excerpt and too_long and room >= min_excerpt:
        shortened = _cut(*too_long[0], room)
        excerpt.is_closed = shortened is not None and excerpt.add([shortened], room)


def _add_matching(excerpt: Excerpt, node: Node, ranges: Ranges | None, room: int) -> list[tuple[Passage, int]]:
    """Add the passages with matches, most matches first; return those that do not fit, each with its first match."""
    inside = passages(node)
    matches: dict[int, list[int]] = {}  # where matches start, by number of the passage, relative to its start
    number = 0
    for start, _ in ranges(node.text[:_MAX_READ]) if ranges else ():
        while node.start + start >= inside[number].end:
            number += 1
        matches.setdefault(number, []).append(start - (inside[number].start - node.start))
    if not matches:
        return [] if excerpt.add(inside[:1], room) else [(inside[0], 0)]
    best_first = sorted(matches, key=lambda number: -len(matches[number]))
    return [(inside[number], matches[number][0]) for number in best_first if not excerpt.add([inside[number]], room)]


def _show_more(excerpt: Excerpt, read: ReadNodes, room: int) -> None:
    """Show the whole section if it fits, else add the other nodes that matched, then the section from its start."""
    node = excerpt.node
    if node.full_tokens <= room:
        excerpt.show_all(read)
        return
    misses = 0
    for position in excerpt.matched:
        if excerpt.tokens >= room or misses >= _MAX_MISSES:
            break
        [matched] = read(node.document_id, position, position)
        for passage in passages(matched) if matched.has_text else ():
            misses += not excerpt.add([passage], room)
    for group in _from_its_start(node, read):
        if not excerpt.add(group, room):
            return


def _from_its_start(node: Node, read: ReadNodes) -> Iterator[list[Passage]]:
    """The passages of a section in order; a heading without text comes with the passage after it."""
    headings: list[Passage] = []
    for position in range(node.position, node.last + 1):
        [inner] = read(node.document_id, position, position)
        inside = passages(inner)
        if inner.has_text:
            yield [*headings, inside[0]]
            yield from ([passage] for passage in inside[1:])
            headings = []
        else:
            headings += inside


@cache
def token_counter() -> Callable[[str], int]:
    """Counts tokens as they are counted for nodes."""
    from quire.tokens.tokenizers import resolve  # noqa: PLC0415  loads the tokenizer, which few answers need

    return resolve(None, TOKENIZER).count


def _cut(passage: Passage, match: int, most: int) -> Passage | None:
    """At most ``most`` tokens of a passage from the line of a match on: whole lines if they fill half, else words."""
    # It starts at the match if the line is too long before it, and earlier if only a scrap would follow. A word that is
    # too long is cut.
    count, window = token_counter(), _CHARACTERS_PER_TOKEN * most
    start = line_start(passage.text, match)
    if match - start > window or count(passage.text[start : match + 1]) > most:
        start = match
    if count(passage.text[start : start + window]) < MIN_EXCERPT // 2:
        starts = [word.start() for word in _WORD.finditer(passage.text, max(start - window, 0), start)]
        start = next((at for at in starts if count(passage.text[at:]) <= most), start)
    text = passage.text[start : start + window]
    lines, words = ([match.end() for match in ends.finditer(text)] for ends in (LINE_END, _WORD))
    for ends, least in (([len(text)], 1), (lines, most // 2), (words, most // 2), (range(1, len(text)), 1)):
        fitting = ends[: bisect_right(ends, most, key=lambda end: count(text[:end]))]
        # A word may have fewer tokens than its beginning.
        cut = text[: next((end for end in reversed(fitting) if count(text[:end]) <= most), 0)]
        if count(cut) >= least:
            start += passage.start
            return Passage(start, start + len(cut), cut, count(cut)) if cut.strip(BLANK) else None
    return None
