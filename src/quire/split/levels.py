"""The levels of cuts: where a span may be cut, on one level. Used by ladder.py, which goes from one to the next.

sentences.py, words.py and graphemes.py have the levels of prose; those of code and tables are here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from quire.model import Kind
from quire.split.graphemes import grapheme_ends
from quire.split.inline import Atom, block_starts, inline_atoms, outside
from quire.split.words import inner_word_ends, word_ends, word_ends_near

Level: TypeAlias = Callable[[str, int, int], Sequence[int]]
"""Where a span of a text may be cut: ascending, the last is the span's end."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK_LINES = re.compile(r"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")
_PIPE = re.compile(r"(?<!\\)\|")


def lines(text: str, start: int, end: int) -> Sequence[int]:
    """After each line."""
    return with_end([match.end() for match in _LINE_END.finditer(text, start, end)], end)


def blank_lines(text: str, start: int, end: int) -> Sequence[int]:
    """After each run of blank lines."""
    return with_end([match.end() for match in _BLANK_LINES.finditer(text, start, end)], end)


def cells(text: str, start: int, end: int) -> Sequence[int]:
    """Before each pipe that is not escaped, but the first."""
    return with_end([match.start() for match in _PIPE.finditer(text, start + 1, end)], end)


def with_end(places: list[int], end: int) -> list[int]:
    """``places``, with the end of the span as the last."""
    if not places or places[-1] != end:
        places.append(end)
    return places


def _graphemes(text: str, start: int, end: int) -> Sequence[int]:
    """After each grapheme."""
    return outside(grapheme_ends(text, start, end), block_starts(text, start, end, end))


PROSE: tuple[Level, ...] = (word_ends, inner_word_ends, _graphemes)
"""The levels below sentences."""

IN_LINES: frozenset[Kind] = frozenset({"html", "math"})
"""What is cut at lines, with nothing repeated."""

_MARGIN = 160
"""So many characters around a position hold the end of a word in most text."""


class Places:
    """Where a span may be cut on one level."""

    def __init__(self, text: str, level: Level, start: int, end: int) -> None:
        self._text = text
        self._level = level
        self._start = start
        self.end = end

    @cached_property
    def all(self) -> Sequence[int]:
        """All of them, in order."""
        return self._level(self._text, self._start, self.end)

    def near(self, position: int) -> list[int]:
        """Those around a position, where the level is words: no other level has so many that one looks at few."""
        if self._level is not word_ends:
            return []
        low, high = position - _MARGIN, position + _MARGIN
        found = word_ends_near(self._text, (self._start, self.end), self._atoms, low, high)
        return [*found, self.end] if high >= self.end else found

    @cached_property
    def _atoms(self) -> list[Atom]:
        return inline_atoms(self._text, self._start, self.end)
