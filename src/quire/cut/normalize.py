r"""Regular white space, for `flow`: line ends ``\n``, no trailing spaces, one blank line where there were several.

Code, tables and HTML stay as they are, also inside lists and quotes. A hard break of two spaces stays.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import repeat

from quire.model.document import VERBATIM, Block, Document
from quire.model.offsets import BLANK, LINE_END
from quire.parsing.nested_blocks import inner_blocks

_IRREGULAR_LINE_END = re.compile(r"\n(?:(?<=[ \t]\n)|(?=\n\n))")  # starts with one character, so it is searched fast
_WITH_RETURNS = re.compile(rf"\r|{_IRREGULAR_LINE_END.pattern}")
_SPACES = re.compile(r"[ \t]*+")
_BLANKS = re.compile(r"[ \t\r\n]*+")
_FENCES = ("```", "~~~")
_CONTAINERS = frozenset({"list", "quote", "footnote", "directive", "html", "math"})


class RegularText:
    """The text of a document with regular white space."""

    def __init__(self, document: Document) -> None:
        source, parts = document.text, list[str]()
        self._starts, self._ends = [-1], [0]  # where white space was replaced in the source
        self._shifts = [0]  # how far all behind it has moved
        seen = 0
        for start, end, replacement in _replacements(document):
            parts += (source[seen:start], replacement)
            seen = end
            self._starts.append(start)
            self._ends.append(end)
            self._shifts.append(self._shifts[-1] + len(replacement) - (end - start))
        self.text = "".join([*parts, source[seen:]]) if parts else source  # the whole text

    def at(self, position: int) -> int:
        """Where a position of the source is in ``text``."""
        number = bisect_right(self._starts, position) - 1
        is_behind = position >= self._ends[number]
        return position + self._shifts[number] if is_behind else self._starts[number] + self._shifts[number - 1]

    def all_at(self, positions: Sequence[int]) -> list[int]:
        """Where positions of the source are in ``text``."""
        starts, ends, shifts = self._starts, self._ends, self._shifts
        rows = zip(positions, map(bisect_right, repeat(starts), positions), strict=True)
        return [at + shifts[row - 1] if at >= ends[row - 1] else starts[row - 1] + shifts[row - 2] for at, row in rows]

    def span(self, start: int, end: int) -> str:
        """The text of a span of the source."""
        return self.text[self.at(start) : self.at(end)]


def regular_text(document: Document) -> RegularText | None:
    """The text with regular white space; None if it is regular already."""
    is_irregular = "\r" in document.text or _IRREGULAR_LINE_END.search(document.text)
    return RegularText(document) if is_irregular else None


def _replacements(document: Document) -> Iterator[tuple[int, int, str]]:
    """The white space that is replaced: start, end, and what it becomes; in order."""
    text = document.text
    pattern = _WITH_RETURNS if "\r" in text else _IRREGULAR_LINE_END
    places = [match.start() for match in pattern.finditer(text)]
    verbatim = _verbatim_spans(document, places) if places else []
    done = 0
    for place in places:
        if place < done:
            continue
        following = bisect_right(verbatim, (place, len(text)))
        floor = verbatim[following - 1][1] if following else 0
        if place < floor:
            done = floor
            continue
        start = place
        while start > floor and text[start - 1] in BLANK:
            start -= 1
        done = _BLANKS.match(text, start).end()  # type: ignore[union-attr]  # it matches the empty text too
        gap = text[start:done].rstrip(" \t")
        lines = len(LINE_END.findall(gap))
        if not lines or done == len(text):
            continue
        end = start + len(gap)
        starts_verbatim = following < len(verbatim) and end <= verbatim[following][0] <= done
        is_break = lines == 1 and start > floor and gap.rstrip("\r\n").endswith("  ") and not starts_verbatim
        replacement = "  \n" if is_break else "\n\n" if lines > 1 else "\n"
        if replacement != gap:
            yield start, end, replacement


def _verbatim_spans(document: Document, places: Sequence[int]) -> list[tuple[int, int]]:
    """The code, tables and HTML of a document, with the spaces behind their last line unless that is a fence."""
    # Nothing changes in containers that have none of the ``places``.
    text, spans = document.text, list[tuple[int, int]]()
    for kind, start, end in zip(*document.block_columns[:3], strict=True):
        if kind not in VERBATIM and (kind not in _CONTAINERS or bisect_left(places, start) == bisect_left(places, end)):
            continue
        for first, last in _spans_in(text, Block(kind, start, end)) if kind in _CONTAINERS else [(start, end)]:
            spaces = _SPACES.match(text, last)
            spans.append((first, last if spaces is None or text.endswith(_FENCES, first, last) else spaces.end()))
    return spans


def _spans_in(text: str, block: Block) -> list[tuple[int, int]]:
    """The code, tables and HTML in a container, or all of it."""
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
