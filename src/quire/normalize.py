r"""Regular white space, for `flow`: line ends ``\n``, no trailing spaces, one blank line where there were several.

Code, tables and HTML stay as they are, also inside lists and quotes. A hard break of two spaces stays. A document is
made regular once; ``RegularText.span`` says where a span of the source is in the result.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from quire.model import VERBATIM, Block, Document
from quire.offsets import BLANK, LINE_END
from quire.parsing import inner_blocks

_IRREGULAR = ("\r", " \n", "\t\n", "\n\n\n")
_SPACES = re.compile(r"[ \t]*+")
_BLANKS = re.compile(r"[ \t\r\n]*+")
_FENCES = ("```", "~~~")
_CONTAINERS = frozenset({"list", "quote", "footnote", "directive", "html", "math"})


class RegularText:
    """The text of a document with regular white space."""

    def __init__(self, document: Document) -> None:
        self._source = document.text
        self._starts: list[int] = []  # where white space was replaced in the source
        self._ends: list[int] = []
        self._regular: list[tuple[int, int]] = []  # the same in the result
        parts: list[str] = []
        seen = length = 0
        for start, end, replacement in _replacements(document):
            parts += (self._source[seen:start], replacement)
            first = length + start - seen
            length, seen = first + len(replacement), end
            self._starts.append(start)
            self._ends.append(end)
            self._regular.append((first, length))
        self.text = "".join([*parts, self._source[seen:]]) if parts else self._source
        """The whole text."""

    def at(self, position: int) -> int:
        """Where a position of the source is in ``text``."""
        number = bisect_right(self._starts, position) - 1
        if number < 0:
            return position
        first, last = self._regular[number]
        return first if position < self._ends[number] else last + position - self._ends[number]

    def span(self, start: int, end: int) -> str:
        """The text of a span of the source."""
        return self.text[self.at(start) : self.at(end)]


def regular_text(document: Document) -> RegularText | None:
    """The text with regular white space; None if it is regular already."""
    return None if _is_regular(document.text) else RegularText(document)


def _is_regular(text: str) -> bool:
    return not any(map(text.__contains__, _IRREGULAR))


def _replacements(document: Document) -> Iterator[tuple[int, int, str]]:
    """The white space that is replaced: start, end, and what it becomes; in order."""
    text, verbatim = document.text, _Verbatim(document)
    done = 0
    for place in _irregular_places(text):
        if place < done:
            continue
        floor, is_inside = verbatim.before(place)
        if is_inside:
            done = floor
            continue
        start = place
        while start > floor and text[start - 1] in BLANK:
            start -= 1
        blanks = _BLANKS.match(text, start)
        done = blanks.end() if blanks else start
        gap = text[start:done].rstrip(" \t")
        lines = len(LINE_END.findall(gap))
        end = start + len(gap)
        if not lines or done == len(text):
            continue
        is_break = lines == 1 and start > floor and gap.rstrip("\r\n").endswith("  ") and not verbatim.starts_at(end)
        replacement = "  \n" if is_break else "\n\n" if lines > 1 else "\n"
        if replacement != gap:
            yield start, end, replacement


def _irregular_places(text: str) -> list[int]:
    """Where white space may have to change, ascending."""
    places: list[int] = []
    for mark in _IRREGULAR:
        place = text.find(mark)
        while place >= 0:
            places.append(place)
            place = text.find(mark, place + 1)
    return sorted(places)


class _Verbatim:
    """The spans of code, tables and HTML in a document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._inside: dict[int, list[tuple[int, int]]] = {}

    def before(self, position: int) -> tuple[int, bool]:
        """Where the last span before a position ends, and whether the position is inside it."""
        block = bisect_right(self._document.block_columns.starts, position) - 1
        floor = 0
        for number in range(max(block - 1, 0), block + 1):
            spans = self._spans(number)
            last = bisect_right(spans, (position, 1 << 62)) - 1
            floor = max(floor, spans[last][1]) if last >= 0 else floor
        return floor, position < floor

    def starts_at(self, line: int) -> bool:
        """Whether a span starts on the line that starts here."""
        spaces = _SPACES.match(self._document.text, line)
        first = spaces.end() if spaces else line
        block = bisect_right(self._document.block_columns.starts, first) - 1
        spans = self._spans(block) if block >= 0 else []
        at = bisect_left(spans, (line, 0))
        return at < len(spans) and spans[at][0] <= first

    def _spans(self, number: int) -> list[tuple[int, int]]:
        """The spans in a block, itself included, with the spaces behind their last line unless that is a fence."""
        if number not in self._inside:
            kinds, starts, ends, _ = self._document.block_columns
            block = Block(kinds[number], starts[number], ends[number])
            text = self._document.text
            self._inside[number] = [(start, _verbatim_end(text, start, end)) for start, end in _spans_in(text, block)]
        return self._inside[number]


def _spans_in(text: str, block: Block) -> list[tuple[int, int]]:
    if block.kind not in _CONTAINERS:
        return [block.span] if block.kind in VERBATIM else []
    if block.kind not in VERBATIM and _is_regular(text[block.start : block.end]):
        return []  # nothing in it changes
    children = inner_blocks(text, block)
    if block.kind in VERBATIM and not children:
        return [block.span]
    spans: list[tuple[int, int]] = []
    for child in children:
        for inner in child.walk():
            is_leaf = inner.kind == "table" or (inner.kind in VERBATIM and not inner.children)
            if is_leaf and (not spans or inner.start >= spans[-1][1]):
                spans.append(inner.span)
    return spans


def _verbatim_end(text: str, start: int, end: int) -> int:
    spaces = _SPACES.match(text, end)
    return end if spaces is None or text.endswith(_FENCES, start, end) else spaces.end()
