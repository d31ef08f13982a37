"""How many tokens a span of a document has, and whether it fits the cap. The only place that knows if counts add up.

With a byte pair encoding the counts of whole lines add up: ``mark`` counts the text once, in order, and a size is a
difference of two sums and the count of what is left at the edges. With a counter that does not add up there are no
sums: every text is counted as it is. Sizes are always exact; sums that strategies keep beside their lists are within
``SLACK`` of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from string import punctuation
from typing import TYPE_CHECKING

from quire.breadcrumbs import Breadcrumbs
from quire.counter import TokenCounter
from quire.model import Document, Piece
from quire.options import Options

if TYPE_CHECKING:
    from quire.normalize import RegularText

SLACK = 8
"""A span that starts or ends inside a word may have this many tokens more or less than its sum."""
_NEAR = 8
"""A mark this many characters behind a span saves the count of its last stretch."""
_NO_CAP = 1 << 62


class Sizer:
    """The sizes of spans of one document, as they are embedded: ``regular`` is its text with regular white space."""

    def __init__(
        self, document: Document, counter: TokenCounter, options: Options, regular: RegularText | None = None
    ) -> None:
        self.text = document.text if regular is None else regular.text
        self.count = counter.count
        self.cap = options.cap or _NO_CAP
        self.breadcrumbs = Breadcrumbs(document, counter, options)
        self.adds_up = counter.cuts_cleanly("a\nb", 2)
        """Whether the sums of ``mark`` can be used."""
        self.sure = self.cap - self.breadcrumbs.most_tokens - SLACK if self.adds_up else -_NO_CAP
        """Text whose sum is at most this fits below every breadcrumb line."""
        self.is_clean = counter.cuts_cleanly
        self._regular = regular
        self._marks: list[int] = []  # clean cuts of the text, ascending
        self._totals: list[int] = []  # the tokens from the first mark up to each
        self._behind: dict[str, int] = {}  # what blank lines add, by the signs before them
        self._last = -1, 0  # the last position asked for, and its sum

    def mark(self, position: int) -> int:
        """The sum up to the start of a line, from the first one asked for on; positions must ascend."""
        if self._regular is not None:
            position = self._regular.at(position)
        marks, (last, total) = self._marks, self._last
        total += self.count(self.text[last:position]) if last >= 0 else 0
        if self.adds_up and self.is_clean(self.text, position):
            if marks and last != marks[-1]:  # counts did not add up in between
                total = self._totals[-1] + self.count(self.text[marks[-1] : position])
            marks.append(position)
            self._totals.append(total)
        self._last = position, total
        return total

    def size(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """The tokens of a span between ``prefix`` and ``suffix``, as it is embedded."""
        if self._regular is not None:
            start, end = self._regular.at(start), self._regular.at(end)
        text, marks, totals = self.text, self._marks, self._totals
        tokens = 0
        if prefix:
            if not self._joins(prefix, start):
                return self.count(f"{prefix}{text[start:end]}{suffix}")
            tokens = self.breadcrumbs.count(prefix)
        first = bisect_left(marks, start)
        after = bisect_left(marks, end, first)
        if first == after:
            return tokens + self.count(text[start:end] + suffix)
        tokens -= totals[first]
        if marks[first] > start:
            tokens += self.count(text[start : marks[first]])
        if not suffix and after < len(marks) and marks[after] - end <= _NEAR:
            return tokens + totals[after] - self._tokens_behind(end, marks[after], marks[after - 1])
        return tokens + totals[after - 1] + self.count(text[marks[after - 1] : end] + suffix)

    def _tokens_behind(self, end: int, stop: int, mark: int) -> int:
        """How many tokens the text from ``end`` to the mark ``stop`` adds; blank lines may be one with a sign."""
        if stop == end:
            return 0
        text = self.text
        at = end - len(near := text[max(end - _NEAR, mark) : end]) + len(near.rstrip(punctuation))
        if not self.is_clean(text, at):
            at = mark
        tail = text[at:stop]
        known = self._behind.get(tail)
        if known is None:
            known = self.count(tail) - self.count(text[at:end])
            if at > mark:
                self._behind[tail] = known
        return known

    def _joins(self, prefix: str, start: int) -> bool:
        """Whether the tokens of a prefix and of the text from ``start`` on add up."""
        return self.is_clean(prefix[-1] + self.text[start : start + 80], 1)

    def size_below(self, line: str, piece: Piece, text: str) -> int:
        """The tokens of a piece below a breadcrumb line; ``text`` is the text of the piece."""
        if not piece.prefix:
            start = piece.start if piece.overlap_start is None else piece.overlap_start
            if self._joins(line, start if self._regular is None else self._regular.at(start)):
                return piece.tokens + self.breadcrumbs.count(line)
        return self.count(line + text)

    def fits(
        self,
        start: int,
        end: int,
        section: int,
        prefix: str = "",
        suffix: str = "",
        *,
        low: int = 0,
        high: int = _NO_CAP,
    ) -> bool:
        """Whether a span keeps the cap below the breadcrumb line of a section; its sum is between ``low`` and ``high``."""
        if self.adds_up:
            above = self.breadcrumbs.tokens(section)
            if high + above + 4 * (len(prefix) + len(suffix)) + SLACK <= self.cap:
                return True
            if low + above - SLACK > self.cap:
                return False
        return self.size(start, end, self.breadcrumbs.prefix(section) + prefix, suffix) <= self.cap

    def text_of(self, start: int, end: int) -> str:
        """The text of a span as it is embedded."""
        return self.text[start:end] if self._regular is None else self._regular.span(start, end)


def furthest(first: int, stop: int, fits: Callable[[int], bool], guess: int) -> int:
    """The last number from ``first`` to before ``stop`` that fits; ``first - 1`` if none does.

    Anything before a number that fits also fits. Looks at ``guess`` first, then in steps that grow: counting is dear.
    """
    low, high = first - 1, stop  # fits, does not fit
    at, step = min(max(guess, first), high - 1), 1
    while low + 1 < high:
        if fits(at):
            low, at = at, at + step
        else:
            high, at = at, at - step
        step *= 2
        at = (low + high) // 2 if not low < at < high else at
    return low
