"""Units: the parts of a document that strategies put together into pieces. Made by flatten.py; plan.py has them all.

A unit is a section with its own text, a block, or a part of a block that is too large. A piece is a run of units: from
the start of the first to the end of the last it is the source as it stands, so parts of one block that meet again are
joined as they were. What a part needs to stand alone (a fence opened again, a table's header) is added only at the
edges of a piece.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

from quire.counter import TokenCounter, adds_up
from quire.model import Document, Kind
from quire.normalize import RegularText


class Wrap(NamedTuple):
    """What a part of a block needs around it, unless it has the block's own start or end."""

    before: str = ""
    """An opening fence, a table's header."""
    after: str = ""
    """A closing fence."""
    lead: str = ""
    """What stands before the part that has the block's own start."""
    inside: str = ""
    """What stands before a part that starts inside a line, behind ``before``."""
    first: int = -1
    """Where the block starts."""
    last: int = -1
    """Where the block ends."""

    def around(self, start: int, end: int, *, in_line: bool = False) -> tuple[str, str]:
        """What stands before and behind the part from ``start``, perhaps inside a line, to ``end``."""
        after = "" if end >= self.last else self.after
        if start <= self.first:
            return self.lead, after
        return f"{self.before}{self.inside}" if in_line else self.before, after


NO_WRAP = Wrap()

JOINT = 3
"""So far the sum of the tokens of two texts may be off from those of both together, where counts add up."""


class Unit(NamedTuple):
    """A part of a document that is not cut."""

    start: int
    """Its first character."""
    end: int
    """One past its last character."""
    kind: Kind
    """The kind of the block that it is, or is a part of; ``paragraph`` for a section."""
    tokens: int
    """Tokens of its text up to ``stop``."""
    stop: int
    """Where the blank lines behind it end."""
    before: str = ""
    """What a piece that starts here needs in front: an opening fence, a table's header."""
    after: str = ""
    """What a piece that ends here needs behind: a closing fence."""
    ends_sentence: bool = True
    """Whether it ends where a block or a sentence ends."""
    leads: bool = False
    """Whether it must not be the last of a piece: a heading, a section too short to stand without its first child, and
    the last text above headings that close the document."""
    section: int = -1
    """The section that it is, heading and all; none where it is a block, or a part of one."""
    wrap: Wrap | None = None
    """What parts of its block need around them, if it is one."""


def composed(text: str | RegularText, first: Unit, last: Unit) -> str:
    """The text of units in a row, with what they need around them."""
    return f"{first.before}{text[first.start : last.end]}{last.after}"


def is_clearly_above(size: int, limit: int) -> bool:
    """Whether a text whose beginning has so many tokens is above a limit, whatever the cut behind it has changed."""
    return size > limit * 9 // 8 + 4


def blank_behind(text: str, counter: TokenCounter, unit: Unit, stop: int) -> int:
    """How many tokens more a unit has with the blank lines behind it, up to ``stop``; looks at its last line only.

    Where counts add up, a word or a number is never merged with a sign behind it, and blank lines at most with a sign.
    """
    end = unit.end
    last = text[end - 1]
    if stop - end <= 2 and last.isascii():
        tail = "" if last.isalnum() else last
        if not tail or (end - 2 >= unit.start and (before := text[end - 2]).isascii() and before.isalnum()):
            return _blank_behind(counter.count, tail, text[end:stop])
    line = text.rfind("\n", unit.start, unit.end) + 1
    if line <= unit.start or not counter.cuts_cleanly(text, line):
        line = unit.start
    return counter.count(text[line:stop]) - counter.count(text[line : unit.end])


@lru_cache(maxsize=1024)
def _blank_behind(count: Callable[[str], int], tail: str, blank: str) -> int:
    return count(tail + blank) - count(tail)


class Units:
    """The units of a document with their sizes: each text is counted once, and exactly where it matters."""

    def __init__(
        self, document: Document, counter: TokenCounter, units: Sequence[Unit], embedded: str | RegularText
    ) -> None:
        self.text = document.text
        self.embedded = embedded
        """The text as it is embedded: its slices are counted."""
        self.counter = counter
        self.items = units
        self.adds_up = adds_up(counter)
        self._total = [0, *accumulate([unit[3] for unit in units])]
        clean, text = counter.cuts_cleanly, self.text
        loose = [not clean(text, unit[0]) for unit in units] if self.adds_up else []
        self._loose = [0, *accumulate(loose)]
        self._known: dict[str, int] = {"": 0}
        self._is_plain = self.adds_up and not any(unit[5] or unit[6] for unit in units)

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def starts(self) -> list[int]:
        """Where each unit starts."""
        return [unit.start for unit in self.items]

    def at(self, position: int) -> int:
        """The number of the first unit that starts at or after ``position``."""
        return bisect_left(self.starts, position)

    def about(self, first: int, last: int) -> int:
        """About how many tokens the units ``first`` to before ``last`` have together."""
        return self._total[last] - self._total[first]

    def furthest(self, first: int, tokens: int) -> int:
        """One past the last unit up to which those from ``first`` on have about so many tokens at most."""
        return bisect_right(self._total, self._total[first] + tokens) - 1

    @cached_property
    def are_exact(self) -> bool:
        """Whether sums are exact, wherever a run of units starts and ends."""
        return self._is_plain and not self._loose[-1]

    def are_clean(self, units: Sequence[Unit]) -> bool:
        """Whether sums with these units, which are none of the document's, are exact too."""
        clean, text = self.counter.cuts_cleanly, self.text
        return all(clean(text, unit[0]) and not (unit[5] or unit[6]) for unit in units)

    def clear(self, limit: int, most: int) -> tuple[int, int]:
        """Two sums: units up to the one fit below any prefix of at most ``most`` tokens, those above the other do not.

        Between them it must be looked at more closely, as it must everywhere if something stands around units.
        """
        if not self._is_plain:
            return -1, 1 << 62
        slack = JOINT + self._loose[-1]
        gap = max([unit[4] - unit[1] for unit in self.items], default=0)
        return limit - slack - most, limit + slack + gap

    def is_at_least(self, first: int, last: int, least: int) -> bool:
        """Whether these units have at least so many tokens; counted only where the sum is close."""
        size, slack = self.about(first, last), self._slack(first, last)
        return size - slack >= least or (size + slack >= least and self.exact(first, last) >= least)

    def fits(self, first: int, last: int, limit: int, prefix: str = "", above: int = 0) -> bool:
        """Whether these units, below ``prefix`` with so many tokens, have at most ``limit`` tokens.

        The sum decides where it is clear; where it is close, the text is counted.
        """
        size = self.about(first, last) + self.added(*self._around_of(first, last)) + above
        slack = self._slack(first, last)
        if size + slack <= limit:
            return True
        return size - slack - self._gap(last - 1) <= limit and self.exact(first, last, prefix) <= limit

    def _gap(self, number: int) -> int:
        """How many tokens the blank lines behind a unit may have, beyond the usual one."""
        unit = self.items[number]
        return max(unit.stop - unit.end - 2, 0)

    def exact(self, first: int, last: int, prefix: str = "") -> int:
        """How many tokens these units have together, below ``prefix``."""
        head, tail = self.items[first], self.items[last - 1]
        if self.adds_up and not (head.before or tail.after or prefix or self._loose[last] - self._loose[first + 1]):
            return self.about(first, last) - blank_behind(self.text, self.counter, tail, tail.stop)
        return self.counter.count(prefix + composed(self.embedded, head, tail))

    def _around_of(self, first: int, last: int) -> tuple[str, str]:
        head, tail = self.items[first], self.items[last - 1]
        return head.before, tail.after

    def added(self, *texts: str) -> int:
        """How many tokens these texts have, each by itself; the same ones are added again and again."""
        total, known = 0, self._known
        for text in texts:
            if text not in known:
                known[text] = self.counter.count(text)
            total += known[text]
        return total

    def _slack(self, first: int, last: int) -> int:
        """How far a sum may be off: where counts add up, by one at each joint that is not clean, and at both ends."""
        if self.adds_up:
            return JOINT + self._loose[last] - self._loose[first]
        return 4 + 2 * (last - first) + self.about(first, last) // 8
