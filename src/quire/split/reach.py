"""How far a part of a block may go: up to the last place within the limit. Used by ladder.py, which cuts there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from quire.blank import BLANK
from quire.counter import TokenCounter
from quire.normalize import RegularText
from quire.split.levels import Places
from quire.split.quoted import Quoted
from quire.split.units import NO_WRAP, Wrap, is_clearly_above

_LONG = 8
"""Of a span with so many characters a token of the limit, the beginning tells how large it is."""
_GUESSES = 6
"""So often the size of a part says where to look next; then the search halves what is left."""


class Reach:
    """The sizes of parts, each with ``wrap`` around it, and the places that they reach within ``limit`` tokens."""

    def __init__(
        self,
        text: str,
        embedded: str | RegularText,
        counter: TokenCounter,
        quoted: Quoted,
        limit: int,
        *,
        wrap: Wrap = NO_WRAP,
    ) -> None:
        self._text = text
        self._embedded = embedded
        self._counter = counter
        self._quoted = quoted
        self.limit = limit
        self.wrap = wrap

    def place(self, start: int, places: Places, stride: int) -> tuple[int, int]:
        """The last place up to which the text from ``start`` fits, and its size; if there is none, the first place."""
        near = places.near(start + stride)
        if near and near[0] > start:
            best, size = self._furthest(start, near, 0, stride)
            if best >= 0 and (best + 1 < len(near) or near[best] == places.end):
                return near[best], size
        ends = places.all
        first = bisect_right(ends, start)
        best, size = self._furthest(start, ends, first, stride)
        return ends[max(best, first)], size

    def about(self, start: int, end: int) -> int:
        """The size of a span; of a long one that is clearly too large, about its size, by that of its beginning."""
        reach = start + self.limit * _LONG
        if end > reach:
            size = self.size(start, reach)
            if is_clearly_above(size, self.limit):
                return size * (end - start) // (reach - start)
        return self.size(start, end)

    def size(self, start: int, end: int) -> int:
        """How many tokens a part has with what stands around it."""
        before, after = self.around(start, end)
        return self._counter.count(f"{before}{self._embedded[start:end].rstrip(BLANK)}{after}")

    def around(self, start: int, end: int) -> tuple[str, str]:
        """What stands around a part; the marks of a quote, too, where it starts inside a line."""
        in_line = start > 0 and self._text[start - 1] not in "\r\n"
        before, after = self.wrap.around(start, end, in_line=in_line)
        return before or self._quoted.marks(start), after

    def _furthest(self, start: int, ends: Sequence[int], index: int, stride: int) -> tuple[int, int]:
        """The last of ``ends`` up to which the text from ``start`` fits, and its size; ``index - 1`` if none does.

        Looks first where the limit should be, so that it takes a few counts, whatever counts.
        """
        low, high = index - 1, len(ends)  # fits, does not fit
        fitting = over = 0
        guess = bisect_right(ends, start + stride, lo=index) - 1
        attempt = 0
        while low + 1 < high:  # each count brings the two nearer
            guess = max(low + 1, min(guess, high - 1))
            size = self.size(start, ends[guess])
            if size <= self.limit:
                low, fitting = guess, size
            else:
                high, over = guess, size
            if attempt < _GUESSES:
                aim = start + (ends[guess] - start) * self.limit // max(size, 1)
                guess = bisect_right(ends, aim, lo=index) - 1
            else:
                guess = (low + high) // 2
            attempt += 1
        return low, fitting if low >= index else over
