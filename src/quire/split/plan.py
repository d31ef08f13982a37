"""A document ready to be packed: its units, its nodes among them (nodes.py), what breadcrumbs cost.

Before: flatten.py. After: packed.py, flow.py and sections.py, which choose runs of units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from quire.config import Options
from quire.counter import TokenCounter
from quire.crumbs import Breadcrumbs
from quire.model import Document, Finding, Section, findings_at
from quire.normalize import embedded_text
from quire.offsets import line_start
from quire.pieces import Piece
from quire.split.flatten import Flattening, Grain, holder, own_text
from quire.split.nodes import Nodes
from quire.split.units import JOINT, Unit, Units, blank_behind, composed

SectionOf: TypeAlias = Callable[[int, int], int]
"""Which section has the text from a start to an end: its breadcrumb stands above it."""

CLOSE = 16
"""So far a sum may be above the tokens of the text: the blank lines at its end, and what joints take."""


class Plan:
    """Units, sections and breadcrumbs together."""

    def __init__(self, document: Document, units: Units, crumbs: Breadcrumbs, cap: int, flattening: Flattening) -> None:
        self.document = document
        self.units = units
        self.crumbs = crumbs
        self.cap = cap
        self.notes = flattening.notes
        self.are_exact = units.are_exact
        """Whether sums are exact for every run, of units and of the blocks that were made of some."""
        self.torn: set[int] = set()
        """Where units start inside a sentence that are none of the document's, but parts of one."""
        self._flattening = flattening
        self.nodes = Nodes(document, flattening.firsts, len(units))
        self._clear = units.clear(cap, crumbs.most)

    def blocks_of(self, unit: Unit) -> list[Unit]:
        """The blocks of a unit that is a section."""
        made = self._flattening.blocks_of(unit)
        if self.are_exact:
            self.are_exact = self.units.are_clean(made)
        return made

    def piece(self, first: int, last: int, section: int | None = None) -> Piece:
        """The units ``first`` to before ``last`` as a piece of the deepest section that holds them all."""
        head, tail = self.units.items[first], self.units.items[last - 1]
        whose = self.holder(first, last) if section is None else section
        size = partial(self.units.exact, first, last)
        return Piece(head.start, tail.end, whose, size, head.before, tail.after)

    def fits(self, first: int, last: int, section: int | None = None) -> bool:
        """Whether these units stay within the cap below the breadcrumb of the section that holds them."""
        size = self.units.about(first, last)
        fits, does_not = self._clear
        if size <= fits:
            return True
        if size > does_not:
            return False
        whose = self.holder(first, last) if section is None else section
        return self.units.fits(first, last, self.cap, self.crumbs.prefix(whose), self.crumbs.tokens(whose))

    def run_fits(self, run: Sequence[Unit]) -> bool:
        """Whether units in a row stay within the cap below the breadcrumb of the section that they start in."""
        head, tail = run[0], run[-1]
        if sum([unit[3] for unit in run]) <= self._clear[0] and not (head.before or tail.after):
            return True
        section = self.document.section_at(head.start)
        if not (head.before or tail.after) and self.add_up(run):
            size = self.crumbs.tokens(section) + self.sum_of(run)
            if abs(size - self.cap) > JOINT:
                return size <= self.cap
        text = composed(self.units.embedded, head, tail)
        return self.units.counter.count(self.crumbs.prefix(section) + text) <= self.cap

    def within_cap(self, run: Sequence[Unit], section_of: SectionOf) -> Iterator[Sequence[Unit]]:
        """A run in as many parts as it takes to keep within the cap: one, unless sums have misled.

        They may, where counts do not add up. ``section_of`` says whose breadcrumb stands above.
        """
        if self.units.adds_up:
            yield run
            return
        waiting = [run]
        while waiting:
            run = waiting.pop()
            if len(run) == 1:
                yield run
                continue
            ends = [end for end in range(1, len(run)) if not run[end - 1].leads]
            above = self.crumbs.prefix(section_of(run[0].start, run[-1].end))
            text, count = composed(self.units.embedded, run[0], run[-1]), self.units.counter.count
            if count(above + text) <= self.cap:
                yield run
                continue
            if not ends and above and count(text) <= self.cap:
                message = "a heading and what is below it leave no room for the breadcrumb within the cap"
                self.notes.append((run[0].start, "breadcrumb-left-out", message))
                yield run
                continue
            middle = min(ends or range(1, len(run)), key=partial(_from_middle, len(run)))
            if run[middle - 1].leads and run[middle - 1].kind == "heading":
                message = "a heading is parted from what is below it, for both together are not within the cap"
                self.notes.append((run[middle - 1].start, "heading-too-long", message))
            waiting += (run[middle:], run[:middle])

    def add_up(self, run: Sequence[Unit]) -> bool:
        """Whether the units of a run follow each other, and their sizes add up there."""
        cuts_cleanly, text = self.units.counter.cuts_cleanly, self.units.text
        return self.units.adds_up and all(
            before.stop == unit.start and cuts_cleanly(text, unit.start) for before, unit in pairwise(run)
        )

    def sum_of(self, run: Sequence[Unit]) -> int:
        """How many tokens the text of units in a row has, if they add up."""
        tail = run[-1]
        return sum([unit[3] for unit in run]) - blank_behind(self.units.text, self.units.counter, tail, tail.stop)

    def in_blocks(self, run: Sequence[Unit]) -> Sequence[Unit]:
        """The run, with the blocks of each unit that is a section."""
        if all(unit.section < 0 for unit in run):
            return run
        return [part for unit in run for part in (self.blocks_of(unit) if unit.section >= 0 else (unit,))]

    def holder(self, first: int, last: int) -> int:
        """The deepest section that holds all of these units."""
        return holder(self.document, self.units.items[first].start, self.units.items[last - 1].end)

    def section_of(self, unit: int) -> int:
        """The section in which a unit stands; a heading stands in its own."""
        return self.document.section_at(self.units.items[unit].start)

    def item_starts(self, start: int, end: int) -> list[int]:
        """Where the items of the list at ``start`` start, on their lines, but the first."""
        text = self.units.text
        block = self.document.blocks_between(start, start + 1)[0]
        inner = [item.start for item in block.children if start < item.start < end]
        lines = {line_start(text, each, start) for each in inner}
        return sorted(line for line in lines if start < line < end)

    def starts_sentence(self, position: int) -> bool:
        """Whether a unit that starts here starts a sentence: the one before it was not cut inside one."""
        if position in self.torn:
            return False
        unit = self.units.at(position)
        is_known = unit < len(self.units) and self.units.starts[unit] == position
        return not is_known or unit == 0 or self.units.items[unit - 1].ends_sentence

    def findings(self, pieces: Sequence[Piece]) -> list[Finding]:
        """What could not be had in making ``pieces``, in document order."""
        closing = self._flattening.closing
        message = "a heading that closes the document does not fit below its last text within the cap"
        alone = [piece.start for piece in pieces if piece.start >= closing] if closing >= 0 else ()
        if not (self.notes or alone):
            return []
        told = {note[:2]: note for note in [*((start, "heading-too-long", message) for start in alone), *self.notes]}
        return findings_at(self.document.source, sorted(told.values()))

    def filled(self, first: int, last: int, target: int, section: int | None = None) -> list[tuple[int, int]]:
        """Runs of these units, as long as ``target`` allows; a heading is never the last of one."""
        runs: list[tuple[int, int]] = []
        start = first
        while (end := self._full(start, last, target, section)) < last:
            ends = [cut for cut in range(end, start, -1) if self.may_end(cut)]
            # The section that holds fewer units may be a smaller one, with a longer breadcrumb.
            cut = next((cut for cut in ends if cut == end or self.fits(start, cut, section)), max(ends, default=start))
            if cut == start:
                cut = next((later for later in range(end + 1, last) if self.may_end(later)), last)
                if cut == last:
                    break
            runs.append((start, cut))
            start = cut
        return [*runs, (start, last)]

    def _full(self, start: int, last: int, target: int, section: int | None) -> int:
        """One past the last unit that a run may take; it takes one at least."""
        room = target + CLOSE - self.units.added(self.units.items[start].before)
        end = min(max(self.units.furthest(start, room), start + 1), last)

        def fits(end: int) -> bool:
            return self.units.fits(start, end, target) and self.fits(start, end, section)

        return end if end == start + 1 or fits(end) else largest(start + 1, end - 1, fits)

    def has_text(self, first: int, last: int) -> bool:
        """Whether there is something besides headings among these units."""
        units = self.units.items[first:last]
        if units and units[-1].kind != "heading":
            return True  # the usual case
        return any(unit.kind != "heading" for unit in units)

    def may_end(self, end: int) -> bool:
        """Whether a piece may end before the unit ``end``."""
        return not self.units.items[end - 1].leads

    def is_short(self, section: Section, least: int) -> bool:
        """Whether the text below a section's heading has fewer than so many tokens."""
        following = self.document.sections[section.number + 1].start
        start, end = own_text(self.document, section, following)
        return self.units.counter.count(self.units.embedded[start:end]) < least


def largest(least: int, most: int, fits: Callable[[int], bool]) -> int:
    """The largest number from ``least`` to ``most`` that fits; ``least``, if no other does.

    What is below one that fits does so, too. Looks near ``most`` first, and in steps that grow: there may be thousands
    of units that count nothing.
    """
    above, step = most + 1, 1
    while (below := above - step) > least and not fits(below):
        above, step = below, 2 * step
    below = max(below, least)
    while below + 1 < above:
        middle = (below + above) // 2
        below, above = (middle, above) if fits(middle) else (below, middle)
    return below


def _from_middle(length: int, end: int) -> int:
    return abs(2 * end - length)


def plan_of(document: Document, counter: TokenCounter, options: Options, grain: Grain) -> Plan:
    """Flatten a document, and put everything together for packing."""
    crumbs = Breadcrumbs(document, counter, options)
    embedded = embedded_text(document, counter, options)
    flattening = Flattening(document, counter, crumbs, grain, embedded)
    return Plan(document, Units(document, counter, flattening.units(), embedded), crumbs, grain.cap, flattening)
