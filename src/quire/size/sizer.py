"""How many tokens a span of a document has, and whether it fits the cap. The only place that knows if counts add up.

With a byte pair encoding the counts of whole lines add up: ``mark`` counts the text once, in order, and a size is a
difference of two sums and the count of what is left at the edges. With a counter that does not add up there are no
sums: every text is counted as it is. Sizes are always exact; sums that strategies keep beside their lists are within
``SLACK`` of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
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
_SIGNS = 32
"""As many characters before blank lines are looked at for punctuation, which may be one token with a line end."""
_NO_CAP = 1 << 62


class Sizer:
    """The sizes of spans of one document, as they are embedded: ``regular`` is its text with regular white space."""

    def __init__(
        self, document: Document, counter: TokenCounter, options: Options, regular: RegularText | None = None
    ) -> None:
        self.text = document.text if regular is None else regular.text
        is_ascii = document.text.isascii() and document.title.isascii()
        self.count: Callable[[str], int] = getattr(counter, "count_ascii", counter.count) if is_ascii else counter.count
        self.cap = options.cap or _NO_CAP
        self.breadcrumbs = Breadcrumbs(document, self.count, options)
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

    def sums(self, start: int, ends: Sequence[int]) -> tuple[list[int], bool]:
        """The sums up to ``start`` and up to each of ``ends``, and whether they are exact. Adds marks there.

        Counts add up at the start of a line, and before the space in front of a word.
        """
        text, count, at = self.text, self.count, self._regular.at if self._regular else int
        last = at(start)
        number = bisect_right(self._marks, last) - 1
        is_exact = self.adds_up and number >= 0 and self._marks[number] >= last - 1
        total = self._totals[number] if is_exact else 0
        last = self._marks[number] if is_exact else last
        found, positions = [total], []
        for end in map(at, ends[:-1]):
            position = end if self.is_clean(text, end) else end - 1
            if position < end and not self.is_clean(text, position):
                position, is_exact = end, False
            if position > last:
                total += count(text[last:position])
                last = position
            positions.append(position)
            found.append(total)
        if is_exact:
            self._marks[number + 1 : number + 1] = positions
            self._totals[number + 1 : number + 1] = found[1:]
        found.append(total + count(text[last : at(ends[-1])]))
        return found, is_exact

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
        near = text[max(end - _SIGNS, mark) : end]
        at = end - len(near) + len(near.rstrip(punctuation).rstrip(" "))
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

    def is_over(self, low: int) -> bool:
        """Whether text whose sum is at least ``low`` exceeds the cap without any breadcrumb."""
        return self.adds_up and low - SLACK > self.cap

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
        """Whether a span, whose sum is between ``low`` and ``high``, keeps the cap below the line of a section."""
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
