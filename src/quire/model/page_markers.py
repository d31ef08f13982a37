"""Where the pages of a converted document begin, by the markers of converters. docs/decisions/pages.md lists them.

A marker is no text to embed. A sentence that goes on below a marker is one paragraph, on two pages.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from quire.errors import invalid_value

_MARKER = (
    r"<!--[ ]*(?:page|slide[ ]number:|cell)[ ]+(?P<first>[0-9]{1,6})(?:[ ]of[ ][0-9]+)?[ ]*-->"  # MinerU
    r"|<!--[ ]*page[ -]?break[ ]*-->"  # Azure Document Intelligence; docling, as its documentation sets it
    r"|\{(?P<index>[0-9]{1,6})\}-{48}"  # Marker, which counts from 0
    r"|---[ ]end[ ]of[ ]page\.page_number=(?P<last>[0-9]{1,6})[ ]---"  # PyMuPDF4LLM, below a page
)
NOTEBOOK = ".ipynb"
_HINTS = ("\f", "}" + "-" * 48, "page.page_number=")
_COMMENTS = ("pa", "sl", "ce")  # most comments are no markers
_BLANK = " \t\r\n\f"
FENCED = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[^\n]*\n(?:(?![ ]{0,3}\1)[^\n]*\n)*+(?:[ ]{0,3}\1)?", re.MULTILINE)


class Marker(NamedTuple):
    """A marker between two pages."""

    start: int
    end: int
    above: int  # the page above it
    page: int  # the page below it


def find_markers(text: str, custom: str = "") -> tuple[Marker, ...]:
    """The markers of a text, without those in fenced code; ``custom`` is another one, whose first group is a page."""
    if not custom and not _may_have_markers(text):
        return ()
    fences = [fence.span() for fence in FENCED.finditer(text)]
    found: list[Marker] = []
    for match in _pattern(custom).finditer(text):
        inside = bisect_right(fences, (match.start(), len(text))) - 1
        if inside >= 0 and match.start() < fences[inside][1]:
            continue
        first, index, last, *others = (int(group) if group and group.isdigit() else None for group in match.groups())
        page = first or (index + 1 if index is not None else next(filter(None, others), None))
        above = found[-1].page if found else last or max((page or 0) - 1, 1)
        found.append(Marker(*match.span(), above, page or (last or above) + 1))
    return tuple(found)


def _may_have_markers(text: str) -> bool:
    """Whether it is worth while to look for markers: almost no document has any."""
    if any(map(text.__contains__, _HINTS)):
        return True
    at = text.find("!")  # one character is found much faster than several
    while at >= 0:
        if text.startswith("<!--", at - 1) and text[at + 3 : at + 40].lstrip(" ")[:2].lower() in _COMMENTS:
            return True
        at = text.find("!", at + 1)
    return False


@lru_cache(maxsize=32)
def _pattern(custom: str) -> re.Pattern[str]:
    """The lines that are markers, and form feeds."""
    try:
        own = f"|(?P<custom>{custom})" if custom else ""
        return re.compile(rf"^[ \t]*(?:{_MARKER}{own})[ \t]*$|\f", re.MULTILINE | re.IGNORECASE)
    except re.error as error:
        raise invalid_value("page_marker", custom, f"must be a regular expression ({error})") from error


def pages_of(text: str, markers: Sequence[Marker], start: int, end: int) -> tuple[int, ...]:
    """The first and last page of a span; a marker at its end begins no page of it. Empty if no page is marked."""
    if not markers:
        return ()
    numbers = [_above(markers, position) for position in (start, _last(text, markers, start, end))]
    first, last = (markers[number].page if number >= 0 else markers[0].above for number in numbers)
    return first, max(first, last)


def cell_lines(text: str, markers: Sequence[Marker], start: int, end: int) -> tuple[int, ...]:
    """The first and last line of a span in the cells of a notebook; fences of code have the lines beside them."""
    lines: list[int] = []
    for position in (start, _last(text, markers, start, end)):
        cell = markers[max(_above(markers, position), 0)].end + 2  # below a blank line
        line = text.count("\n", cell, position) + 1
        is_code, is_fence = (text.startswith("```", at) for at in (cell, text.rfind("\n", 0, position) + 1))
        lines.append(max(line - is_code - (is_fence and line > 1), 1))
    return tuple(lines)


def _above(markers: Sequence[Marker], position: int) -> int:
    """The number of the last marker that does not start behind a position; -1 if there is none."""
    return bisect_right(markers, position, key=attrgetter("start")) - 1


def _last(text: str, markers: Sequence[Marker], start: int, end: int) -> int:
    """The last character of a span that is neither blank nor in a marker at its end."""
    first = _above(markers, start)
    while (last := _above(markers, end - 1)) > first and not text[markers[last].end : end].strip(_BLANK):
        end = markers[last].start
    return start + max(len(text[start:end].rstrip(_BLANK)) - 1, 0)


def after_first_marker(text: str, markers: Sequence[Marker], start: int) -> int:
    """Where a body begins that begins with a marker; else ``start``."""
    first = next((marker for marker in markers if marker.start >= start), None)
    return first.end if first and not text[start : first.start].strip(_BLANK) else start


def without_markers(text: str, custom: str = "") -> str:
    """A text to embed: a sentence that goes on below a marker has a space there, other text a blank line."""
    parts: list[str] = []
    at = 0
    for marker in find_markers(text, custom):
        start, end, is_inside = _gap(text, marker)
        if start >= at:  # else a marker is right above it
            parts += (text[at:start], " " if is_inside else "\n\n")
        at = end
    return ("".join(parts) + text[at:]).strip(_BLANK) or text if parts else text


def with_whole_sentences(text: str, markers: Sequence[Marker], at: int) -> str:
    """The text from ``at`` on, in which a marker inside a sentence is blank, and others begin the text below them."""
    parts: list[str] = []
    for marker in markers:
        start, end, is_inside = _gap(text, marker)
        start = start if is_inside else marker.start
        if start >= at and (is_inside or text[end : end + 1].isalpha()):  # else a block begins below it
            blank = end - start if is_inside else end - marker.end
            parts += (text[at:start], "x" * (end - start - blank), " " * blank)
            at = end
    return "".join([*parts, text[at:]])


def _gap(text: str, marker: Marker) -> tuple[int, int, bool]:
    """A marker with the blanks around it, and whether prose goes on: a line of words above it, a small letter below."""
    start, end = marker.start, marker.end
    while start and text[start - 1] in _BLANK:
        start -= 1
    while end < len(text) and text[end] in _BLANK:
        end += 1
    line = text.rfind("\n", 0, start) + 1
    is_prose = line < start and text[line].isalpha() and (text[start - 1].isalpha() or text[start - 1] in ",-")
    return start, end, is_prose and text[end : end + 1].islower()
