"""A section that is too long -> some passages of it, in document order. Pure; ``context`` chooses the passages.

Passages have counts, and those of passages that meet at the start of a line add up. Where they may not, and for the
line between passages that do not meet, more is reserved than can be needed. Only what is cut out of a passage is
counted anew.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from quire.blank import BLANK
from quire.index.engine.spelling import is_unspaced
from quire.index.node import Node
from quire.model import Span
from quire.offsets import line_start

GAP = "…\n\n"
"""Stands where something is left out, on a line of its own."""
_GAP_TOKENS = 8
"""Reserved for it and the line ends before it: it has about three."""
_SEAM_TOKENS = 4
"""Reserved where two counts may not add up."""
_CLEAN = re.compile(r"[ \t]{0,64}+[^\s/]")
"""A line with text in it; a slash may belong to the signs at the end of the line before."""
_WINDOW = 16
"""Of so many characters for each token that there is room for, a passage is cut: hardly any text has longer ones."""

Count = Callable[[str], int]
"""How many tokens a text has."""


class Passage(NamedTuple):
    """A run of whole lines."""

    start: int
    """Its first character in the source."""
    text: str
    """Its text, to the character."""
    tokens: int
    """How many tokens it has, or a few more."""

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.start + len(self.text)


def passages(node: Node) -> list[Passage]:
    """All of a node's text, in order, in as many passages as it has parts, which tile it; none is empty."""
    if not node.parts:
        return [Passage(node.start, node.text, node.tokens)] if node.text else []
    return [Passage(node.start + part.start, node.text[part.start : part.end], part.tokens) for part in node.parts]


class Excerpt:
    """Passages of one section; what it costs is known at any time."""

    def __init__(self) -> None:
        self.tokens = 0
        """How many tokens its text has, or a few more."""
        self._by_start: dict[int, Passage] = {}
        self._by_end: dict[int, Passage] = {}

    def __bool__(self) -> bool:
        return bool(self._by_start)

    def add(self, passages: Iterable[Passage], room: int) -> bool:
        """Take in what is not yet in it of these, all or none: all if it then has at most ``room`` tokens."""
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

    def runs(self) -> list[list[Passage]]:
        """The passages in order, those that meet together."""
        runs: list[list[Passage]] = []
        for _, passage in sorted(self._by_start.items()):
            if runs and runs[-1][-1].end == passage.start:
                runs[-1].append(passage)
            else:
                runs.append([passage])
        return runs

    def spans(self) -> tuple[Span, ...]:
        """Which characters of the source it shows."""
        return tuple(Span(run[0].start, run[-1].end) for run in self.runs())

    def text(self) -> str:
        """The text of the passages, with a line between those that do not meet."""
        return joined(["".join(passage.text for passage in run) for run in self.runs()])

    def _cost(self, passage: Passage) -> int:
        """How many tokens more it has with a passage."""
        before, after = self._by_end.get(passage.start), self._by_start.get(passage.end)
        gaps, seams = 1 if self else 0, 0
        if before:
            gaps -= 1
            seams += not _adds_up(before, passage)
        if after:
            gaps -= 1
            seams += not _adds_up(passage, after)
        return passage.tokens + gaps * _GAP_TOKENS + seams * _SEAM_TOKENS


def joined(texts: Sequence[str]) -> str:
    """Texts with a line between them that says that something is left out."""
    return GAP.join(f"{text}{_to_blank_line(text)}" for text in texts[:-1]) + GAP * (len(texts) > 1) + texts[-1]


def _to_blank_line(text: str) -> str:
    """What is missing for a text to end with a blank line."""
    if text.endswith(("\n\n", "\r\r", "\n\r\n")):
        return ""
    return "\n" if text.endswith(("\n", "\r")) else "\n\n"


def _adds_up(left: Passage, right: Passage) -> bool:
    return left.text.endswith(("\n", "\r")) and _CLEAN.match(right.text) is not None


def cut(passage: Passage, around: Span | None, most: int, count: Count, least: int = 1) -> Passage | None:
    """As much of a passage as has at most ``most`` tokens: whole lines, else words; of one that is too long, a part.

    It starts at the line of ``around``, or at that itself where the line is too long before it; earlier where less than
    ``least`` would follow. A word is torn where otherwise ``around`` were left out, or less than ``least`` left.
    """
    whole = passage.text
    start = _start(whole, around, most, count)
    first = around.end - start if around is not None else 1
    window = whole[start : start + _WINDOW * most]
    end = _end_of_word(window, first, most, count, is_all=start + len(window) == len(whole))
    if end < len(window) and count(window[:end]) < least:
        end = _end_anywhere(window, first, most, count)
    text = window[:end]
    if not text.strip(BLANK):
        return None
    if start + end == len(whole) and count(text) < least:
        start = _earlier(whole, start, most, count, least)
        text = whole[start:]
    return Passage(passage.start + start, text, count(text))


def _start(text: str, around: Span | None, most: int, count: Count) -> int:
    """Where the line of ``around`` starts, or ``around`` itself where there is no room for both."""
    if around is None:
        return 0
    line = line_start(text, around.start)
    is_too_long = around.end - line > _WINDOW * most or count(text[line : around.end]) > most
    return around.start if is_too_long else line


def _end_of_word(text: str, first: int, most: int, count: Count, *, is_all: bool) -> int:
    """The last place from ``first`` on where a word ends and up to which a text fits; 0 if there is none.

    Rather one where a line ends, unless that would leave half of it out. Where the text ends, a word surely does only
    if it ``is_all`` of the passage.
    """
    ends = [at for at in range(first, len(text)) if _is_end(text, at)] + [len(text)] * is_all
    end = _last_fitting(text, ends, most, count)
    line = line_start(text, end)
    return line if 2 * line > end and line in ends and count(text[:line]) <= most else end


def _end_anywhere(text: str, first: int, most: int, count: Count) -> int:
    """The last place up to which a text fits, from ``first`` on or, if there is none, before it; 0 if nothing fits."""
    after, every = range(first, len(text) + 1), range(1, len(text) + 1)
    return _last_fitting(text, after, most, count) or _last_fitting(text, every, most, count)


def _earlier(text: str, start: int, most: int, count: Count, least: int) -> int:
    """From where on a text has ``least`` to ``most`` tokens: the start of a line before ``start``, else of a word.

    Where there is no such place, it has as many as it can have.
    """
    every = range(max(start - _WINDOW * most, 0), start)
    words = [at for at in every if text[at] not in BLANK and (not at or text[at - 1] in BLANK)]
    lines = [at for at in words if not at or text[at - 1] in "\r\n"]
    first = start
    for starts in (lines, words, every):
        near = starts[bisect_left(starts, -most, key=lambda at: -count(text[at:])) :]
        # The first of them may be too early: a word may have fewer tokens than its end.
        first = next((at for at in near if count(text[at:]) <= most), start)
        if count(text[first:]) >= least:
            break
    return first


def _is_end(text: str, at: int) -> bool:
    """Whether a line or a word ends there; in scripts without spaces every character is a word."""
    before, after = text[at - 1], text[at]
    if before in BLANK:
        return before == "\n" or (before == "\r" and after != "\n")
    return after in BLANK or (not before.isascii() and is_unspaced(before) and not unicodedata.combining(after))


def _last_fitting(text: str, ends: Sequence[int], most: int, count: Count) -> int:
    """The last of some places up to which a text has at most ``most`` tokens; 0 if there is none."""
    fitting = bisect_right(ends, most, key=lambda end: count(text[:end]))
    while fitting and count(text[: ends[fitting - 1]]) > most:  # a word may have fewer tokens than its beginning
        fitting -= 1
    return ends[fitting - 1] if fitting else 0
