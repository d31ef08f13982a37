"""How many tokens a span of a document has, and whether it fits the cap. The only place that knows if counts add up.

The strategies ask ``fits`` and ``size``; the answers are always exact. With a byte pair encoding the counts of whole
lines add up, so ``measure`` counts the document once, in stretches of a few lines, and a size is a difference of two
sums and the count of what is left at the edges. With a counter that does not add up there are no sums: every text is
counted as it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise

from quire.breadcrumbs import Breadcrumbs
from quire.counter import TokenCounter
from quire.model import Document
from quire.options import Options

SLACK = 8
"""A span that is cut inside a word may have this many tokens more than the lines that it is in."""
_STRETCH = 240
"""About this many characters are counted at once."""
_MOST_KNOWN = 10_000
"""The memory of a document with a million sections stays bounded."""
_NO_CAP = 1 << 62


class Sizer:
    """The sizes of spans of one document.

    ``section_of`` names the section whose breadcrumb goes above a span. ``text_of`` gives the text of a span as it is
    embedded, where one of the positions ``irregular`` is in it.
    """

    def __init__(
        self,
        document: Document,
        counter: TokenCounter,
        options: Options,
        section_of: Callable[[int, int], int],
        *,
        text_of: Callable[[int, int], str] = lambda _start, _end: "",
        irregular: Sequence[int] = (),
    ) -> None:
        self.text = document.text
        self.counter = counter
        self.count = counter.count
        self.cap = options.cap or _NO_CAP
        self.section_of = section_of
        self.breadcrumbs = Breadcrumbs(document, counter, options)
        self._text_of = text_of
        self._irregular = irregular
        self._adds_up = counter.cuts_cleanly("a\nb", 2)
        self._sure = self.cap - self.breadcrumbs.most_tokens - SLACK if self._adds_up else -1
        self._marks: Sequence[int] = ()  # clean cuts of the text, ascending
        self._totals: Sequence[int] = ()  # the tokens from the first mark up to each
        self._sizes: dict[tuple[int, int], int] = {}
        self._normalized_texts: dict[tuple[int, int], tuple[str, int]] = {}
        self._prefix_tokens: dict[str, int] = {}

    def measure(self, starts: Iterable[int], end: int, stretch: int = _STRETCH) -> None:
        """Count the text from the first of ``starts`` to ``end`` once, so that sizes can be sums from then on."""
        if not self._adds_up:
            return
        text, is_clean = self.text, self.counter.cuts_cleanly
        marks = [start for start in starts if is_clean(text, start)]
        finer: list[int] = []
        for start, stop in pairwise([*marks, end]):
            finer.append(start)
            while stop - start > 2 * stretch and 0 < (start := text.find("\n", start + stretch, stop) + 1) < stop:
                if is_clean(text, start):
                    finer.append(start)
        finer.append(end)
        self._marks = finer
        self._totals = [0, *accumulate([self.count(text[start:stop]) for start, stop in pairwise(finer)])]

    def size(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """The tokens of ``prefix + text[start:end] + suffix``."""
        if suffix or (prefix and not self._joins(prefix, start)):
            return self._summed(start, end, prefix, suffix)
        known = self._sizes.get((start, end))
        if known is None:
            if len(self._sizes) >= _MOST_KNOWN:
                self._sizes.clear()
            known = self._sizes[start, end] = self._summed(start, end)
        return known + self._tokens_of(prefix) if prefix else known

    def _summed(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """The tokens between the first and the last mark inside, and those of the text at the edges."""
        marks, text = self._marks, self.text
        first = bisect_right(marks, start) if prefix else bisect_left(marks, start)
        last = (bisect_left(marks, end) if suffix else bisect_right(marks, end)) - 1
        if first >= last:
            return self.count(f"{prefix}{text[start:end]}{suffix}")
        tokens = self._totals[last] - self._totals[first]
        if prefix or start < marks[first]:
            tokens += self.count(prefix + text[start : marks[first]])
        if suffix or marks[last] < end:
            tokens += self.count(text[marks[last] : end] + suffix)
        return tokens

    def _bounds(self, start: int, end: int) -> tuple[int, int]:
        """At least and at most how many tokens a span has, without counting."""
        marks, totals = self._marks, self._totals
        if not marks or not marks[0] <= start <= end <= marks[-1]:
            return 0, _NO_CAP
        first, after = bisect_left(marks, start), bisect_left(marks, end)
        before = first if marks[first] == start else first - 1
        last = after if marks[after] == end else after - 1
        return totals[last] - totals[first], totals[after] - totals[before]

    def embedded_size(self, start: int, end: int, prefix: str = "", suffix: str = "") -> int:
        """The tokens of the span as it is embedded, with what is added around it."""
        if not self._is_irregular(start, end):
            return self.size(start, end, prefix, suffix)
        text, tokens = self._normalized(start, end)
        if suffix or (prefix and not self._joins(prefix, start)):
            return self.count(f"{prefix}{text}{suffix}")
        return tokens + self._tokens_of(prefix) if prefix else tokens

    def embedded_text(self, start: int, end: int) -> str:
        """The text of the span as it is embedded: with regular white space, if the strategy makes it so."""
        return self._normalized(start, end)[0] if self._is_irregular(start, end) else self.text[start:end]

    def _normalized(self, start: int, end: int) -> tuple[str, int]:
        known = self._normalized_texts.get((start, end))
        if known is None:
            if len(self._normalized_texts) >= _MOST_KNOWN:
                self._normalized_texts.clear()
            text = self._text_of(start, end)
            known = self._normalized_texts[start, end] = text, self.count(text)
        return known

    def _is_irregular(self, start: int, end: int) -> bool:
        place = bisect_left(self._irregular, start)
        return place < len(self._irregular) and self._irregular[place] < end

    def fits(self, start: int, end: int, prefix: str = "", suffix: str = "", *, section: int = -1) -> bool:
        """Whether the span, with what is added around it and its breadcrumb above it, keeps the cap."""
        low, high = self._bounds(start, end)
        high += 4 * (len(prefix) + len(suffix))
        if high <= self._sure:
            return True
        section = section if section >= 0 else self.section_of(start, end)
        if self._adds_up:
            tokens = self.breadcrumbs.tokens(section)
            if high + tokens + SLACK <= self.cap:
                return True
            if low + tokens - SLACK > self.cap and not self._irregular:
                return False
        line = self.breadcrumbs.prefix(section)
        return self.embedded_size(start, end, line + prefix, suffix) <= self.cap

    def surely_fits(self, tokens: int, start: int, end: int) -> bool:
        """Whether a span of this many tokens fits below its breadcrumb; False if that takes a count."""
        if tokens <= self._sure:
            return True
        return self._adds_up and tokens + self.breadcrumbs.tokens(self.section_of(start, end)) + SLACK <= self.cap

    def is_at_least(self, minimum: int, start: int, end: int, prefix: str = "", suffix: str = "") -> bool:
        """Whether a span, as it is embedded, has at least ``minimum`` tokens with what is added around it."""
        low, high = self._bounds(start, end)
        if high + 4 * (len(prefix) + len(suffix)) + SLACK < minimum:
            return False
        if low - SLACK >= minimum and not self._is_irregular(start, end):
            return True
        return self.embedded_size(start, end, prefix, suffix) >= minimum

    def reach(self, start: int, tokens: int) -> int:
        """About where text of ``tokens`` tokens ends that begins at ``start``."""
        marks, totals = self._marks, self._totals
        first = bisect_left(marks, start)
        if first >= len(marks) - 1:
            return start + 4 * tokens
        wanted = totals[first] + tokens - (marks[first] - start) // 4
        last = bisect_right(totals, wanted) - 1
        return marks[last] + 4 * (wanted - totals[last]) if last >= first else start + 4 * tokens

    def _joins(self, prefix: str, start: int) -> bool:
        """Whether the tokens of a prefix and of the text from ``start`` on add up."""
        return self._adds_up and self.counter.cuts_cleanly(prefix[-1] + self.text[start : start + 80], 1)

    def _tokens_of(self, prefix: str) -> int:
        known = self._prefix_tokens.get(prefix)
        if known is None:
            if len(self._prefix_tokens) >= _MOST_KNOWN:
                self._prefix_tokens.clear()
            known = self._prefix_tokens[prefix] = self.count(prefix)
        return known


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
