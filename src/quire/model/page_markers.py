"""Where the pages of a converted document begin, by the markers of converters. docs/decisions/pages.md lists them.

A marker is no text to embed. A sentence that goes on below a marker is one paragraph, on two pages.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from quire.errors import invalid_value

_MARKER = (
    r"<!--[ ]*(?:page|slide[ ]number:|cell)[ ]+(?P<first>[0-9]{1,6})(?:[ ]of[ ][0-9]+)?[ ]*-->"  # MinerU
    r"|<!--[ ]*page[ -]?break[ ]*-->"  # Azure Document Intelligence; docling, as its documentation sets it
    r"|\{(?P<index>[0-9]{1,6})\}-{48}"  # Marker, which counts from 0
    r"|---[ ]end[ ]of[ ]page\.page_number=(?P<last>[0-9]{1,6})[ ]---"  # PyMuPDF4LLM, below a page
)
NOTEBOOK = ".ipynb"
_HINTS = ("\f", "}" + "-" * 48, "page_number=")
_BLANK = " \t\r\n\f"
FENCED = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[^\n]*\n(?:(?![ ]{0,3}\1)[^\n]*\n)*+(?:[ ]{0,3}\1)?", re.MULTILINE)


@lru_cache(maxsize=32)
def marker_pattern(custom: str = "") -> re.Pattern[str]:
    """The lines that are markers, and form feeds; ``custom`` is another marker, whose first group is a page."""
    try:
        own = f"|(?P<custom>{custom})" if custom else ""
        return re.compile(rf"^[ \t]*(?:{_MARKER}{own})[ \t]*$|\f", re.MULTILINE | re.IGNORECASE)
    except re.error as error:
        raise invalid_value("page_marker", custom, f"must be a regular expression ({error})") from error


def may_have_markers(text: str, custom: str = "") -> bool:
    """Whether it is worth while to look for markers; most comments are none."""
    if custom or any(hint in text for hint in _HINTS):
        return True
    at = text.find("<!--")
    while at >= 0 and text[at + 4 : at + 30].lstrip(" ")[:2].lower() not in ("pa", "sl", "ce"):
        at = text.find("<!--", at + 4)
    return at >= 0


def markers(text: str, custom: str = "") -> Iterator[re.Match[str]]:
    """The markers of a text, without those in fenced code."""
    if not may_have_markers(text, custom):
        return
    fences = [fence.span() for fence in FENCED.finditer(text)]
    starts = [start for start, _ in fences]
    for match in marker_pattern(custom).finditer(text):
        inside = bisect_right(starts, match.start()) - 1
        if inside < 0 or fences[inside][1] <= match.start():
            yield match


class Pages:
    """The pages of a text; none if it has no markers."""

    def __init__(self, text: str, custom: str = "") -> None:
        self._text, self._starts, self._ends, self._pages = text, [0], [0], [1]
        for match in markers(text, custom):
            first, index, last, *others = (
                int(group) if group and group.isdigit() else None for group in match.groups()
            )
            page = first or (index + 1 if index is not None else next(filter(None, others), None))
            if len(self._starts) == 1:
                self._pages[0] = last or max((page or 0) - 1, 1)
            self._starts.append(match.start())
            self._ends.append(match.end())
            self._pages.append(page or (last or self._pages[-1]) + 1)

    def __bool__(self) -> bool:
        return len(self._starts) > 1

    def of(self, start: int, end: int) -> tuple[int, ...]:
        """The first and last page of a span; a marker at its end begins no page of it."""
        if not self:
            return ()
        first, last = (self._pages[self._at(position)] for position in (start, self._last(start, end)))
        return first, max(first, last)

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """The first and last line of a span in the cells of a notebook that they are in."""
        return self._line(start), self._line(self._last(start, end))

    def _at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def _last(self, start: int, end: int) -> int:
        """The last character of a span that is neither blank nor in a marker at its end."""
        while (last := self._at(end - 1)) > self._at(start) and not self._text[self._ends[last] : end].strip(_BLANK):
            end = self._starts[last]
        return start + max(len(self._text[start:end].rstrip(_BLANK)) - 1, 0)

    def _line(self, position: int) -> int:
        """The line in its cell; the fences of code have the lines beside them."""
        cell = self._ends[self._at(position)] + 2  # below a blank line
        line = self._text.count("\n", cell, position) + 1
        is_code, is_fence = (self._text.startswith("```", at) for at in (cell, self._text.rfind("\n", 0, position) + 1))
        return max(line - is_code - (is_fence and line > 1), 1)


def after_first_marker(text: str, start: int, custom: str = "") -> int:
    """Where a body begins that begins with a marker; else ``start``."""
    first = next((match for match in markers(text, custom) if match.start() >= start), None)
    return first.end() if first and not text[start : first.start()].strip(_BLANK) else start


def without_markers(text: str, custom: str = "") -> str:
    """A text to embed: a sentence that goes on below a marker has a space there, other text a blank line."""
    parts: list[str] = []
    at = 0
    for match in markers(text, custom):
        start, end = _gap(text, match)
        if start >= at:  # else a marker is right above it
            parts += (text[at:start], " " if _is_inside_sentence(text, start, end) else "\n\n")
        at = end
    return ("".join(parts) + text[at:]).strip(_BLANK) or text if parts else text


def with_whole_sentences(text: str, custom: str = "") -> str:
    """A text of the same length in which a marker inside a sentence is blank, and others begin the text below them."""
    parts: list[str] = []
    at = 0
    for match in markers(text, custom):
        start, end = _gap(text, match)
        is_inside = _is_inside_sentence(text, start, end)
        start = start if is_inside else match.start()
        if start >= at and (is_inside or text[end : end + 1].isalpha()):  # else a block begins below it
            blank = end - start if is_inside else end - match.end()
            parts += (text[at:start], "x" * (end - start - blank), " " * blank)
            at = end
    return "".join(parts) + text[at:] if parts else text


def _gap(text: str, match: re.Match[str]) -> tuple[int, int]:
    """A marker with the blank characters around it."""
    start, end = match.span()
    while start and text[start - 1] in _BLANK:
        start -= 1
    while end < len(text) and text[end] in _BLANK:
        end += 1
    return start, end


def _is_inside_sentence(text: str, start: int, end: int) -> bool:
    """Whether prose goes on below a gap: a line that starts and ends with a word, then a small letter."""
    line = text.rfind("\n", 0, start) + 1
    first = text[line : line + 1] if line < start else ""
    return first.isalpha() and (text[start - 1].isalpha() or text[start - 1] in ",-") and text[end : end + 1].islower()
