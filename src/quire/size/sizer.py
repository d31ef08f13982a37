"""How many tokens a span of a document has, and whether it fits the cap. The only place that knows if counts add up.

The strategies ask ``fits`` and ``size``; the answers are always exact. With a byte pair encoding the tokens of whole
lines add up, so ``measure`` counts every unit once and most answers are a difference of two sums. Where the sum is too
close to the cap to tell, and with counters that do not add up, the text itself is counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate

from quire.breadcrumbs import Breadcrumbs
from quire.counter import TokenCounter
from quire.model import Document
from quire.options import Options

JOINT = 3
"""Sums may be off by this much where counts add up: at the breadcrumb, at the first and at the last character."""
_NO_CAP = 1 << 62


class Sizer:
    """The sizes of spans of one document.

    ``section_of`` names the section whose breadcrumb goes above the text from a start to an end. ``text_of`` gives that
    text as it is embedded, where it is not a slice of the source.
    """

    def __init__(
        self,
        document: Document,
        counter: TokenCounter,
        options: Options,
        section_of: Callable[[int, int], int],
        text_of: Callable[[int, int], str] | None = None,
    ) -> None:
        self.text = document.text
        self.counter = counter
        self.count = counter.count
        self.cap = options.cap or _NO_CAP
        self.section_of = section_of
        self._text_of = text_of
        self._over = False if text_of is None else None  # embedded text may have fewer tokens than its source
        self.breadcrumbs = Breadcrumbs(document, counter, options)
        self._is_additive = adds_up(counter)
        self._sure = self.cap - self.breadcrumbs.most_tokens - JOINT  # this many tokens fit below any breadcrumb
        self._at_start: dict[int, int] = {}
        self._at_end: dict[int, int] = {}
        self._stops: Sequence[int] = ()
        self._totals: Sequence[int] = (0,)
        self._loose: Sequence[int] = (0,)

    def measure(self, spans: Sequence[tuple[int, int, int, int]]) -> None:
        """Learn the sizes of units in document order: start, end, start of the next unit, tokens up to there."""
        self._totals = [0, *accumulate([tokens for _, _, _, tokens in spans])]
        if not self._is_additive:
            return
        clean, text = self.counter.cuts_cleanly, self.text
        self._loose = [0, *accumulate([not clean(text, span[0]) for span in spans])]
        self._at_start = {span[0]: number for number, span in enumerate(spans)}
        self._at_end = {span[1]: number + 1 for number, span in enumerate(spans)}
        self._stops = [span[2] for span in spans]

    def size(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """The tokens of ``prefix + text[start:end] + suffix``."""
        if not (prefix or suffix):
            first, last = self._at_start.get(start), self._at_end.get(end)
            if first is not None and last is not None and self._loose[last] == self._loose[first + 1]:
                blank = self._blank_tokens(start, end, self._stops[last - 1])
                return self._totals[last] - self._totals[first] - blank
        return self.count(f"{prefix}{self._embedded(start, end)}{suffix}")

    def with_blank(self, tokens: int, start: int, end: int, stop: int) -> int:
        """The tokens of the source text from ``start`` to ``stop``, where those up to ``end`` are known."""
        if self._is_additive and self._text_of is None:
            return tokens + self._blank_tokens(start, end, stop)
        return self.count(self.text[start:stop])

    def _embedded(self, start: int, end: int) -> str:
        return self._text_of(start, end) if self._text_of else self.text[start:end]

    def fits(self, start: int, end: int, prefix: str = "", suffix: str = "", section: int = -1) -> bool:
        """Whether the span, with what is added around it and its breadcrumb above it, keeps the cap."""
        if not (prefix or suffix):
            first, last = self._at_start.get(start), self._at_end.get(end)
            if first is not None and last is not None:
                slack, blank = self._loose[last] - self._loose[first], self._stops[last - 1] - end
                total = self._totals[last] - self._totals[first]
                known = self.fits_sum(total, start, end, slack=slack, blank=blank, section=section)
                if known is not None:
                    return known
        section = section if section >= 0 else self.section_of(start, end)
        return self.count(f"{self.breadcrumbs.prefix(section)}{prefix}{self._embedded(start, end)}{suffix}") <= self.cap

    def fits_sum(
        self, tokens: int, start: int, end: int, *, slack: int = 0, blank: int = 0, section: int = -1
    ) -> bool | None:
        """Whether a span fits whose counts sum up to ``tokens``; None where the sum is too close to tell.

        The sum may be off by ``slack``, and includes up to ``blank`` blank characters behind the span.
        """
        if not self._is_additive:
            return None
        if tokens + slack <= self._sure:
            return True
        if tokens - slack - JOINT - blank > self.cap:
            return self._over
        tokens += self.breadcrumbs.tokens(section if section >= 0 else self.section_of(start, end))
        if tokens + slack + 2 * JOINT <= self.cap:
            return True
        return self._over if tokens - slack - 2 * JOINT - blank > self.cap else None

    def is_surely_at_least(self, tokens: int, minimum: int) -> bool:
        """Whether text with at least ``tokens`` by sums reaches a minimum; False if that takes a count."""
        return self._is_additive and tokens - JOINT >= minimum

    def is_at_least(self, start: int, end: int, minimum: int) -> bool:
        """Whether a span has at least ``minimum`` tokens."""
        first, last = self._at_start.get(start), self._at_end.get(end)
        if first is not None and last is not None:
            size, slack = self._totals[last] - self._totals[first], self._loose[last] - self._loose[first] + JOINT
            if size - slack - (self._stops[last - 1] - end) >= minimum:
                return True
            if size + slack < minimum:
                return False
        return self.count(self._embedded(start, end)) >= minimum

    def embed_size(self, line: str, text: str, tokens: int) -> int:
        """The tokens of ``line + text``, where ``text`` alone has ``tokens``."""
        if not line:
            return tokens
        if self.counter.cuts_cleanly(line + text[:80], len(line)) and self._is_additive:
            return self._line_tokens(line) + tokens
        return self.count(line + text)

    def _line_tokens(self, line: str) -> int:
        return _counted(self.count, line)

    def _blank_tokens(self, start: int, end: int, stop: int) -> int:
        """How many tokens the blank lines from ``end`` to ``stop`` add; looks at the last line before them only.

        An encoding merges blank lines at most with the punctuation in front of them, never with a word.
        """
        if stop == end:
            return 0
        text = self.text
        last = text[end - 1]
        if stop - end <= 2 and last.isascii():
            tail = "" if last.isalnum() else last
            if not tail or (end - 2 >= start and (before := text[end - 2]).isascii() and before.isalnum()):
                return _counted(self.count, tail + text[end:stop]) - _counted(self.count, tail)
        line = text.rfind("\n", start, end) + 1
        if line <= start or not self.counter.cuts_cleanly(text, line):
            line = start
        return self.count(text[line:stop]) - self.count(text[line:end])


@lru_cache(maxsize=4096)
def _counted(count: Callable[[str], int], text: str) -> int:
    return count(text) if text else 0


def furthest(
    ends: Sequence[int], first: int, fits: Callable[[int], bool], guess: int, *, stop: int | None = None
) -> int:
    """The index of the last of ``ends``, from ``first`` to before ``stop``, that fits; ``first - 1`` if none does.

    Anything before an end that fits also fits. Looks at ``guess`` first, then in steps that grow: counting is dear.
    """
    low, high = first - 1, len(ends) if stop is None else stop  # fits, does not fit
    at, step = min(max(guess, first), high - 1), 1
    while low + 1 < high:
        if fits(ends[at]):
            low, at = at, at + step
        else:
            high, at = at, at - step
        step *= 2
        at = (low + high) // 2 if not low < at < high else at
    return low


def adds_up(counter: TokenCounter) -> bool:
    """Whether counts add up at the starts of lines, as with byte pair encodings: no text has more tokens than bytes."""
    return counter.cuts_cleanly("a\nb", 2)


def guess_index(ends: Sequence[int], first: int, position: int) -> int:
    """The index of the last of ``ends`` up to a position; at least ``first``."""
    return max(bisect_right(ends, position, lo=first) - 1, first)
