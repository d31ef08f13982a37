"""Results -> the text that is given for each, within a budget. Before: ``counting`` orders them. After: ``highlight``.

In rank order, each result is given whole if that fits; else the nodes that matched in it, the best first, and of one
that is too long its parts with the most matches. Later results may use what is left. What is left in the end goes to
those that were cut, first for the other parts of what matched, then for the section from its start. The counts that the
nodes bring are enough for the promise that a budget is never passed; only where not even a part fits, something is cut
out of one and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Protocol

import msgspec

from quire.blank import BLANK
from quire.index.files import TOKENIZER
from quire.index.node import Node
from quire.model import Span
from quire.search.excerpt import Count, Excerpt, Passage, cut, passages

WORTH = 16
"""Out of a part something is cut only if there is room for so many tokens, and at least half as many are: a few words
answer nothing."""
_MISSES = 16
"""After so many nodes that have no room, no more are tried."""
_BATCH = 32
"""How many nodes are read at a time."""


class Read(Protocol):
    """How nodes are read."""

    def __call__(self, document_id: str, first: int, last: int, /) -> Sequence[Node]:
        """The nodes of a document from one position to another, both included, in order."""


Ranges = Callable[[str], Sequence[Span]]
"""Where the query's words stand in a text, in order."""


class ToGive(msgspec.Struct, frozen=True):
    """A section whose text is to be given."""

    node: Node
    """Its node."""
    constituents: tuple[int, ...]
    """The positions of the nodes that matched in it, the best first."""
    nodes: Sequence[Node] = ()
    """The node and all below it, in order, if they are at hand; else they are read."""
    around_whole: int = 0
    """How many tokens are shown around its text, besides the breadcrumb line, if that is given whole."""
    around_parts: int = 0
    """And if it is not."""

    @property
    def above_whole(self) -> int:
        """All that it costs besides its text, if that is given whole."""
        return self.node.crumb_tokens + self.around_whole

    @property
    def above_parts(self) -> int:
        """All that it costs besides its text, if that is not."""
        return self.node.crumb_tokens + self.around_parts


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a section."""

    text: str
    """Its text, or parts of it."""
    parts: tuple[Span, ...]
    """Which characters of the source these are."""
    tokens: int
    """How many tokens ``text`` has; a few more where it is not complete."""
    complete: bool
    """Whether it is all of the section."""


NOTHING = Given(text="", parts=(), tokens=0, complete=False)
"""Of a section that the budget has no room for."""


def fit(
    sections: Iterable[ToGive],
    read: Read,
    *,
    max_tokens: int | None = None,
    ranges: Ranges | None = None,
    worth: int = WORTH,
) -> list[Given | None]:
    """The text for each section; None for those that the budget has no room for.

    The tokens of all texts, of the breadcrumb line above each and of what else is shown around it are together at most
    ``max_tokens``. Something is cut out of a part only if there is room for ``worth`` tokens.
    """
    if max_tokens is None:
        return [_whole(section, read) for section in sections]
    room = max_tokens
    drafts: list[_Draft] = []
    for section in sections:
        draft = _drafted(section, read, ranges, room, worth)
        drafts.append(draft)
        room -= draft.cost
    for draft in drafts:
        room += draft.cost
        _extend(draft, read, room)
        room -= draft.cost
    return [draft.given() for draft in drafts]


class _Draft(msgspec.Struct):
    """What is chosen so far."""

    section: ToGive
    whole: Given | None = None
    excerpt: Excerpt = msgspec.field(default_factory=Excerpt)
    matched: list[Node] = msgspec.field(default_factory=list)
    """The nodes that were looked at."""
    closed: bool = False
    """Whether nothing may be added to the excerpt."""

    @property
    def cost(self) -> int:
        if self.whole is not None:
            return self.whole.tokens + self.section.above_whole
        return self.excerpt.tokens + self.section.above_parts if self.excerpt else 0

    def given(self) -> Given | None:
        if self.whole is not None or not self.excerpt:
            return self.whole
        spans = self.excerpt.spans()
        complete = spans == (Span(self.section.node.start, self.section.node.full_end),)
        return Given(text=self.excerpt.text(), parts=spans, tokens=self.excerpt.tokens, complete=complete)


def _whole(section: ToGive, read: Read) -> Given:
    node, nodes = section.node, section.nodes
    if len(nodes) <= node.last - node.position:
        nodes = read(node.document_id, node.position, node.last) if node.last > node.position else [node]
    return Given(
        text="".join(each.text for each in nodes),
        parts=(Span(node.start, node.full_end),),
        tokens=node.full_tokens,
        complete=True,
    )


def _drafted(section: ToGive, read: Read, ranges: Ranges | None, room: int, worth: int) -> _Draft:
    """The whole section if it fits, else the most relevant of it; if need be, some lines or words."""
    node = section.node
    if node.full_tokens <= room - section.above_whole:
        return _Draft(section, _whole(section, read))
    draft = _Draft(section)
    room -= section.above_parts
    too_long: list[tuple[Passage, Span | None]] = []
    for position in section.constituents:
        if draft.excerpt.tokens >= room or len(too_long) >= _MISSES:
            break
        [matched] = [node] if position == node.position else read(node.document_id, position, position)
        if not matched.body_text.strip(BLANK):
            start = next(_from_its_start(matched, read), [])
            if not draft.excerpt.add(start, room):
                too_long.append((start[-1], None))
            continue
        draft.matched.append(matched)
        if not draft.excerpt.add(passages(matched), room):
            too_long += _add_matching(draft.excerpt, matched, ranges, room)
    if not draft.excerpt and too_long and room >= worth:
        shortened = cut(*too_long[0], room, _counter(), max(worth // 2, 1))
        draft.closed = shortened is not None and draft.excerpt.add([shortened], room)
    return draft


@cache
def _counter() -> Count:
    """What counted the tokens of the nodes."""
    from quire.size import resolve  # noqa: PLC0415  few answers are so short that something must be counted

    return resolve(None, TOKENIZER).count


def _add_matching(excerpt: Excerpt, node: Node, ranges: Ranges | None, room: int) -> list[tuple[Passage, Span | None]]:
    """Take in what holds matches, those with most of them first. What does not fit, each with its first match."""
    inside = passages(node)
    matches = _matches(inside, ranges(node.text) if ranges else (), node.start)
    holding = sorted(matches, key=lambda number: -len(matches[number]))
    if not holding:
        return [] if excerpt.add(inside[:1], room) else [(inside[0], None)]
    return [(inside[number], matches[number][0]) for number in holding if not excerpt.add([inside[number]], room)]


def _matches(inside: Sequence[Passage], found: Iterable[Span], offset: int) -> dict[int, list[Span]]:
    """The matches that start in each passage, counted from its start; only for passages that have any."""
    matches: dict[int, list[Span]] = {}
    number = 0
    for start, end in found:
        while offset + start >= inside[number].end:
            number += 1
        shift = inside[number].start - offset
        matches.setdefault(number, []).append(Span(start - shift, end - shift))
    return matches


def _extend(draft: _Draft, read: Read, room: int) -> None:
    """Fill up: the rest of what matched, then the section from its start as far as it goes."""
    excerpt = draft.excerpt
    room -= draft.section.above_parts
    if draft.closed or not excerpt or excerpt.tokens >= room:
        return
    for matched in draft.matched:
        for passage in passages(matched):
            excerpt.add([passage], room)
    for run in _from_its_start(draft.section.node, read):
        if not excerpt.add(run, room):
            return


def _from_its_start(node: Node, read: Read) -> Iterator[list[Passage]]:
    """The passages of a section in order; a heading that has no text of its own with the passage after it."""
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
