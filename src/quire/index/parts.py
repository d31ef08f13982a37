"""The parts of a long node, for answers that must be short. Used by ``nodes``.

They tile the node's text: each begins at the start of a line and ends where the next begins. A part begins below a
blank line, where nothing is indented, no fence is open and no heading stands above, so that it is a run of whole
paragraphs, items, tables and fences. What is long by itself is cut at line ends. Lines tell all of that, so no parser
is asked. Sizes are in characters; only the result is counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

LONG = 800
"""Above this many characters, some 200 tokens, a node has parts, and what has no better place is cut at a line end."""
_LINES = 500
"""How many characters of what is long by itself go into a part."""
_LEAST = 250
"""A part has at least about this many characters: a sentence alone answers little."""

_BELOW_BLANK = re.compile(r"\n[ \t\r]*+\n(?=\S)")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*+\n)*+")
_FENCE = re.compile(r"\n[ ]{0,3}+(?=[`~])(`{3,}|~{3,})([^\n]*)")


def cuts_in(text: str, first: int) -> list[int]:
    """Where the parts of ``text`` begin but for the first; front matter, up to ``first``, is not cut."""
    cuts: list[int] = []
    fences = list(_fences(text, first))
    begun = first if first < _LEAST else 0
    at = first if first >= _LEAST else _next(text, begun, fences)
    while 0 < at < len(text):
        cuts.append(at)
        begun = at
        at = _next(text, begun, fences)
    return cuts


def _next(text: str, begun: int, fences: list[int]) -> int:
    """Where the next part begins; 0 if this one goes on to the end."""
    end = min(begun + _LEAST + LONG, len(text))
    for match in _BELOW_BLANK.finditer(text, begun + _LEAST - 1, end):
        # At an odd place among the lines that open and close fences one is open.
        if not bisect_right(fences, match.start()) % 2 and not _is_heading(text, begun, match.start()):
            return match.end()
    if len(text) - begun <= LONG:
        return 0
    at = text.rfind("\n", begun + _LEAST, begun + _LINES) + 1 or text.find("\n", begun + _LINES) + 1
    return _BLANK_LINES.match(text, at).end() if at else 0  # type: ignore[union-attr]  # it matches the empty text too


def _is_heading(text: str, start: int, end: int) -> bool:
    """Whether the last line with text before ``end`` is a heading."""
    above = text[max(start, end - _LEAST) : end].rstrip()
    return above.startswith("#", above.rfind("\n") + 1)


def _fences(text: str, first: int) -> Iterator[int]:
    """Where fences open and close, in turn."""
    opened = ""
    for match in _FENCE.finditer(text, max(first - 1, 0)):
        marks, behind = match.groups()
        if not opened:
            opened = marks
            yield match.start() + 1
        elif marks.startswith(opened) and not behind.strip():
            opened = ""
            yield match.start() + 1
