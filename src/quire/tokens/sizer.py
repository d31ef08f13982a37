"""How many tokens a span of a document has, and whether it fits the cap. Sizes are always exact.

With a byte pair encoding the counts of whole lines add up, so a size is a difference of two ``sums`` and the count of
what is left at the edges. With another counter there are no sums, and every text is counted as it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, repeat
from string import punctuation
from typing import TYPE_CHECKING

from quire.model.breadcrumbs import Breadcrumbs
from quire.model.chunk_record import Piece
from quire.model.document import Document
from quire.model.options import Options
from quire.tokens.token_counters import TokenCounter

if TYPE_CHECKING:
    from quire.cut.normalize import RegularText

SLACK = 8  # a span that starts or ends inside a word may have this many tokens more or less than its sum
_NEAR = 8  # a mark this many characters behind a span saves the count of its last stretch
_SIGNS = 32
"""As many characters before blank lines are looked at for punctuation, which may be one token with a line end."""
_NO_CAP = 1 << 62
NEVER = -_NO_CAP  # no sum is as low
UNKNOWN = 0, _NO_CAP  # the bounds of a span without a sum


def longest_that_fits(first: int, stop: int, fits: Callable[[int], bool], guess: int) -> int:
    """The last number from ``first`` to before ``stop`` that fits; ``first - 1`` if none does.

    Anything before a number that fits also fits. Looks at ``guess`` first, then in growing steps: counting is slow.
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


class Sizer:
    """The sizes of spans of one document, as they are embedded: ``regular`` is its text with regular white space."""

    def __init__(
        self, document: Document, counter: TokenCounter, options: Options, regular: RegularText | None = None
    ) -> None:
        self.text = document.text if regular is None else regular.text
        is_ascii = document.text.isascii() and document.title.isascii()
        self.count: Callable[[str], int] = counter.count_ascii if is_ascii else counter.count
        self.cap = options.cap or _NO_CAP
        self.breadcrumbs = Breadcrumbs(document, counter.line_count, options)
        self.section_of = document.first_section if options.strategy == "flow" else document.enclosing_section
        """The section whose breadcrumb line is above a span."""
        self._rate = counter.characters_a_token
        self.adds_up = self._rate > 0 or counter.cuts_cleanly("a\nb", 2)
        """Whether counts of lines add up, so that ``sums`` can be used."""
        self.sure = self.cap - self.breadcrumbs.most_tokens - SLACK if self.adds_up else NEVER
        """Text whose sum is at most this fits below every breadcrumb line."""
        self._is_clean = counter.cuts_cleanly
        self._starts_line = counter.starts_line
        self._regular = regular
        self._marks: list[int] = []  # clean cuts of the text, ascending
        self._totals: list[int] = []  # the tokens from the first mark up to each
        self._behind: dict[tuple[str, str], int] = {}  # what blank lines add, by the signs before them

    def sums(self, start: int, ends: Sequence[int]) -> tuple[list[int], bool]:
        """The sums up to ``start`` and up to each of the ascending ``ends``, and whether they are exact.

        Only their differences have a meaning. Counts add up at the start of a line, and before the space in front of a
        word. These positions are marked; text between two marks is not counted again.
        """
        if self._regular is not None:
            start, *ends = self._regular.all_at([start, *ends])
        if self._rate:
            return [at // self._rate for at in (start, *ends)], True
        return self._counted(start, ends)

    def _counted(self, start: int, ends: Sequence[int]) -> tuple[list[int], bool]:
        text, count, is_clean, starts_line = self.text, self.count, self._is_clean, self._starts_line
        first, stop = bisect_right(self._marks, start) - 1, bisect_right(self._marks, ends[-1])
        is_marked = self.adds_up and (first < 0 or self._marks[first] >= start - 1)
        *inner, end = ends
        are_starts = [*map(starts_line, repeat(text), inner)]
        if is_marked and first < 0 and all(are_starts):  # the usual case, without a loop in Python
            counts = [count(text[last:end]) for last, end in zip([start, *inner], ends, strict=True)]
            sums = [*accumulate(counts, initial=0)]
            marked = len(sums) - (end < len(text))
            self._marks[:stop], self._totals[:stop] = [start, *ends][:marked], sums[:marked]
            return sums, True
        sum_at = {start: 0}
        if is_marked and first >= 0:
            sum_at = dict(zip(self._marks[first:stop], self._totals[first:stop], strict=True))
        before = len(sum_at)
        mark = last = next(iter(sum_at))
        total = sum_at[mark]
        sums, is_exact = [total], is_marked
        for position, is_start in zip(inner, are_starts, strict=True):
            at = position
            if not is_start and at not in sum_at and not is_clean(text, at):
                at -= 1
                if at not in sum_at and not is_clean(text, at):
                    total += count(text[last:position])
                    last, is_exact = position, False
                    sums.append(total)
                    continue
            if at not in sum_at:
                sum_at[at] = sum_at[mark] + count(text[mark:at])
            mark = last = at
            total = sum_at[at]
            sums.append(total)
        if end not in sum_at:
            total += count(text[last:end])
            if end == len(text) and is_marked:
                sum_at[end] = total if last == mark else sum_at[mark] + count(text[mark:])
        sums.append(sum_at.get(end, total))
        if is_marked and len(sum_at) > before:
            in_order = sum_at if before == 1 else dict(sorted(sum_at.items()))
            self._marks[max(first, 0) : stop] = in_order
            self._totals[max(first, 0) : stop] = in_order.values()
        return sums, is_exact

    def total(self, position: int) -> int:
        """The sum up to the last mark that is not behind a position."""
        position = position if self._regular is None else self._regular.at(position)
        if self._rate:
            return position // self._rate
        return self._totals[bisect_right(self._marks, position) - 1]

    def size(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """The tokens of a span between ``prefix`` and ``suffix``, as it is embedded."""
        if self._regular is not None:
            start, end = self._regular.at(start), self._regular.at(end)
        if self._rate:
            return -(-(len(prefix) + end - start + len(suffix)) // self._rate)
        text, marks, totals = self.text, self._marks, self._totals
        tokens = 0
        if prefix:
            if not self._add_up(prefix, start):
                return self.count(f"{prefix}{text[start:end]}{suffix}")
            tokens = self.breadcrumbs.tokens_of(prefix)
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
        word = near.rstrip(punctuation)
        at = end - len(near) + len(word)
        if text[end] not in "\r\n" or not (word and word[-1].isalnum() and word[-1].isascii()):  # else it is clean
            at -= len(word) - len(word.rstrip(" "))
            at = at if self._is_clean(text, at) else mark
        tail = text[at:end], text[end:stop]
        added = self._behind.get(tail)
        if added is None:
            added = self._behind[tail] = self.count("".join(tail)) - self.count(tail[0])
        return added

    def _add_up(self, prefix: str, start: int) -> bool:
        """Whether the tokens of a prefix and of the text from ``start`` on add up."""
        if prefix[-1] == "\n" and self._starts_line(self.text, start):
            return True
        return self._is_clean(prefix[-1] + self.text[start : start + 80], 1)

    def size_below(self, line: str, piece: Piece, text: str) -> int:
        """The tokens of a piece below a breadcrumb line; ``text`` is the text of the piece."""
        if not piece.prefix:
            start = piece.start if piece.overlap_start is None else piece.overlap_start
            if self._add_up(line, start if self._regular is None else self._regular.at(start)):
                return piece.tokens + self.breadcrumbs.tokens_of(line)
        return self.count(line + text)

    def bounds(self, total: int, blanks: int = 0, added: int = 0) -> tuple[int, int]:
        """The fewest and the most tokens of a span, by its sum with ``blanks`` behind it and ``added`` characters."""
        return (total - blanks - SLACK, total + SLACK + 4 * added) if self.adds_up else UNKNOWN

    def is_within(  # noqa: PLR0917
        self, limit: int, start: int, end: int, prefix: str = "", suffix: str = "", bounds: tuple[int, int] = UNKNOWN
    ) -> bool:
        """Whether a span has at most ``limit`` tokens; text is counted only if the bounds do not tell."""
        low, high = bounds
        return high <= limit or (low <= limit and self.size(start, end, prefix, suffix) <= limit)

    def fits(  # noqa: PLR0917
        self,
        start: int,
        end: int,
        section: int = -1,
        prefix: str = "",
        suffix: str = "",
        bounds: tuple[int, int] = UNKNOWN,
        room: int = 0,
    ) -> bool:
        """Whether a span and ``room`` more tokens keep the cap below a breadcrumb line, by default its section's."""
        low, high = bounds
        if high + room - SLACK <= self.sure:
            return True
        if low > self.cap:
            return False
        line = self.breadcrumbs.prefix(self.section_of(start, end) if section < 0 else section)
        if bounds is not UNKNOWN:
            above = self.breadcrumbs.tokens_of(line) + room
            if high + above <= self.cap:
                return True
            if low + above > self.cap:
                return False
        return self.size(start, end, line + prefix, suffix) + room <= self.cap

    def text_of(self, start: int, end: int) -> str:
        """The text of a span as it is embedded."""
        return self.text[start:end] if self._regular is None else self._regular.span(start, end)
