"""The ``sections`` strategy: a piece for each section down to a depth; small ones join, large ones are cut."""

from itertools import accumulate
from typing import TypeAlias

from quire.cut.units import Units, make_units
from quire.model.chunk_record import Piece
from quire.model.document import Document, Finding, findings_at
from quire.model.offsets import trimmed
from quire.model.options import SectionsOptions
from quire.tokens.sizer import Sizer

_Group: TypeAlias = tuple[int, int, int, int]
"""First unit, one past the last, the section that gives the heading path, the section that it starts with."""


def sections(document: Document, sizer: Sizer, options: SectionsOptions) -> tuple[list[Piece], list[Finding]]:
    """Pieces of at most ``max_tokens``, where single blocks allow it."""
    units = make_units(document, sizer)
    groups = _Joining(units, options).groups if units.ends else []
    pieces = [units.piece(first, last, section) for first, last, section, _ in groups]
    return pieces, [*units.findings(pieces), *_over_cap(units, pieces)]


class _Joining:
    """Joins and cuts the sections of a document; the text above the first heading is section 0."""

    def __init__(self, units: Units, options: SectionsOptions) -> None:
        lists, firsts = units.document.section_columns, units.node_firsts()
        depths = lists.depths
        numbers = [at for at, node in enumerate(lists.positions) if node > 0 and depths[at] <= options.max_depth]
        starts = [*[firsts[lists.positions[number]] for number in numbers], len(units.ends)]
        if starts[0]:
            numbers, starts = [0, *numbers], [0, *starts]
        self._units, self._options, self._lists = units, options, lists
        self._numbers, self._starts = numbers, starts
        self._texts = [*accumulate([kind != "heading" for kind in units.kinds], initial=0)]  # up to each unit
        self.groups: list[_Group] = []
        at = 0
        while at < len(numbers):
            at = self._add(at)

    def _add(self, at: int) -> int:
        """Add the section at an index, a small one to the group before it or else with its own first child.

        One that does not fit is cut; a small first piece joins the group before it. Returns the next index.
        """
        units, starts, numbers, groups = self._units, self._starts, self._numbers, self.groups
        first, last, number = starts[at], starts[at + 1], numbers[at]
        section, following = number, at + 1
        if self._is_small(first, last, number):
            after = self._after_text(at)
            if self._has_text(first, starts[after]) and self._joins(starts[after], number):
                return after
            if following < len(numbers):
                after = self._after_text(following)
                if not self._has_text(first, last):  # a heading is not left alone
                    last, section, following = starts[after], numbers[following], after
                elif self._lists.parents[numbers[following]] == number and units.fits(first, starts[after], number):
                    last, following = starts[after], after
        if units.fits(first, last, section):
            groups.append((first, last, section, number))
            return following
        ranges = units.filled(first, last, units.sizer.cap, section)
        pieces = [(start, end, self._deepest(start, end), number) for start, end in ranges]
        if self._has_text(*ranges[0]):
            pieces[0] = (*ranges[0], section, number)
        if len(pieces) > 1 and self._is_small(*ranges[0], number) and self._joins(ranges[0][1], number):
            del pieces[0]
        groups += pieces
        return following

    def _has_text(self, first: int, last: int) -> bool:
        """Whether these units are not only headings."""
        return self._texts[last] > self._texts[first]

    def _after_text(self, at: int) -> int:
        """The index behind the first section from ``at`` on that has text."""
        starts, last = self._starts, len(self._numbers) - 1
        while at < last and not self._has_text(starts[at], starts[at + 1]):
            at += 1
        return at + 1

    def _is_small(self, first: int, last: int, number: int) -> bool:
        if not number:
            return False  # text above the first heading joins nothing
        units, lists, least = self._units, self._lists, self._options.min_tokens
        heading, below, text = lists.starts[number], lists.body_starts[number], units.document.text
        most_tokens = (below - heading) * (1 if units.sizer.adds_up and text.isascii() else 4)
        if not self._has_text(first, last):
            return True
        low, high = units.bounds(first, last)
        if high < least or low >= least + most_tokens:
            return high < least
        end = units.ends[last - 1]
        start, _ = trimmed(text, max(below, units.starts[first]), end)
        return units.sizer.size(start, end) < least  # the line of its own heading does not count

    def _joins(self, last: int, number: int) -> bool:
        """Add the units up to ``last`` to the last group, if that is a sibling's and both fit."""
        if not self.groups:
            return False
        first, _, section, sibling = self.groups[-1]
        depths, parents = self._lists.depths, self._lists.parents
        if depths[sibling] != depths[number] or parents[sibling] != parents[number]:
            return False
        if not self._units.fits(first, last, section):
            return False
        self.groups[-1] = first, last, section, sibling
        return True

    def _deepest(self, first: int, last: int) -> int:
        """The deepest section, not below ``max_depth``, that contains these units."""
        units = self._units
        section = units.document.enclosing_section(units.starts[first], units.ends[last - 1])
        while self._lists.depths[section] > self._options.max_depth:
            section = self._lists.parents[section]
        return section


def _over_cap(units: Units, pieces: list[Piece]) -> list[Finding]:
    """A finding for each block that exceeds the cap, or leaves no room for its breadcrumb."""
    sizer, notes = units.sizer, []
    for piece in pieces:
        if piece.tokens <= sizer.sure or sizer.fits(piece.start, piece.end, piece.section):
            continue
        if piece.tokens > sizer.cap:
            blocks = units.document.blocks_between(piece.start, piece.end)
            parts = [(max(block.start, piece.start), min(block.end, piece.end)) for block in blocks]
            start, end = max(parts, key=lambda part: part[1] - part[0])
            lines = len(units.document.text[start:end].splitlines())
            what = f"block of {sizer.size(start, end):,} tokens in {lines:,} {'line' if lines == 1 else 'lines'}"
            message = f"{what} exceeds the cap of {sizer.cap:,}, alone or with its heading; it stays whole"
            notes.append((start, "block-over-cap", message))
        else:
            message = f"block that stays whole leaves no room for its breadcrumb within the cap of {sizer.cap:,}"
            notes.append((piece.start, "breadcrumb-left-out", message))
    return findings_at(units.document.source, sorted(notes))
