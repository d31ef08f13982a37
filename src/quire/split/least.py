"""The minimum of `flow`: a run that is too small joins a neighbour, or the cut between them moves. Used by flow.py.

Before: the runs as they were packed. After: overlap.py, which makes pieces of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from quire.blank import text_end
from quire.model import Block, Finding, between, findings_at
from quire.pieces import Piece
from quire.split.levels import IN_LINES, lines
from quire.split.overlap import Run
from quire.split.plan import Plan
from quire.split.quoted import Quoted
from quire.split.sentences import sentence_ends
from quire.split.units import NO_WRAP, Unit
from quire.split.words import word_ends


class _Place(NamedTuple):
    """Where a run may be cut in two."""

    number: int
    """The number of a unit."""
    position: int
    """Its start, or a position inside it."""
    is_in_sentence: bool = False
    """Whether a sentence is torn there."""


_Pair: TypeAlias = tuple[Run, Run]


class Least:
    """Brings runs up to the minimum: a small one joins a neighbour, or the cut between them moves."""

    def __init__(self, plan: Plan, least: int) -> None:
        self._plan = plan
        self._least = least
        self._quoted = Quoted(plan.units.text)
        self.has_halved = False
        """Whether a unit was cut in two."""

    @cached_property
    def _has_torn(self) -> bool:
        """Whether a sentence of the document is cut between words."""
        return not all(unit.ends_sentence for unit in self._plan.units.items)

    def applied(self, runs: list[Run]) -> list[Run]:
        """The runs, with as few below the minimum as permitted cuts allow."""
        done: list[Run] = []
        waiting = list(reversed(runs))
        while waiting:
            run = waiting.pop()
            if self._is_large(run) or not (done or waiting):
                done.append(run)
            elif done and self._plan.run_fits([*done[-1], *run]):
                done[-1] = [*done[-1], *run]
            elif waiting and self._plan.run_fits([*run, *waiting[-1]]):
                waiting[-1] = [*run, *waiting[-1]]
            elif done and (moved := self._moved_back(done[-1], run)):
                done[-1:] = moved
            elif waiting and (moved := self._moved_on(run, waiting[-1])):
                done.append(moved[0])
                waiting[-1] = moved[1]
            else:
                done.append(run)
        return done

    def _is_large(self, run: Run) -> bool:
        """Whether a run's own text reaches the minimum; counted only where the sum is close."""
        about = sum([unit.tokens for unit in run])
        if self._plan.units.adds_up and about - len(run) - 2 >= self._least:
            return True
        return self._plan.units.counter.count(self._plan.units.embedded[run[0].start : run[-1].end]) >= self._least

    def _moved_back(self, before: Run, run: Run) -> _Pair | None:
        """The cut moved back into the run before, as little as is needed."""
        units, text, end = self._plan.in_blocks(before), self._plan.units.embedded, run[-1].end

        def cut(place: _Place) -> _Pair:
            kept, given = self._in_two(units, place)
            return kept, [*given, *run]

        def size(place: _Place) -> int:
            return self._plan.units.counter.count(text[place.position : end])

        return self._first_sound((each[::-1] for each in self._places(units)), size, cut)

    def _moved_on(self, run: Run, after: Run) -> _Pair | None:
        """The cut moved on into the run after, as little as is needed."""
        units, text, start = self._plan.in_blocks(after), self._plan.units.text, run[0].start

        def cut(place: _Place) -> _Pair:
            given, kept = self._in_two(units, place)
            return [*run, *given], kept

        def size(place: _Place) -> int:
            end = text_end(text, start, place.position)
            return self._plan.units.counter.count(self._plan.units.embedded[start:end])

        return self._first_sound(self._places(units), size, cut)

    def _first_sound(
        self, levels: Iterable[Sequence[_Place]], size: Callable[[_Place], int], cut: Callable[[_Place], _Pair]
    ) -> _Pair | None:
        """The first pair of runs, on the first level that has one, which reach the minimum and keep within the cap.

        The further the cut moves, the larger the small run is, by ``size``, and the smaller the other one: where it is
        large enough is found by halving what is left.
        """
        for places in levels:
            at, step = bisect_left(places, self._least, key=size), 1
            while at < len(places) and all(map(self._is_large, pair := cut(places[at]))):
                if all(map(self._plan.run_fits, pair)):
                    return pair
                at, step = at + step, 2 * step  # what is repeated in front of the other run may take room
        return None

    def _places(self, units: Run) -> Iterator[list[_Place]]:
        """Where a run may be cut in two, the best places first: between blocks, inside one, between words."""
        yield [_Place(number, units[number].start) for number in range(1, len(units)) if not units[number - 1].leads]
        yield [_Place(number, at) for number, unit in enumerate(units) for at in self._inside(unit)]
        if self._has_torn:
            torn = [(number, at) for number, unit in enumerate(units) for at in self._between_words(unit)]
            yield [_Place(number, at, is_in_sentence=True) for number, at in torn]

    def _in_two(self, units: Run, place: _Place) -> _Pair:
        """A run cut in two at a place."""
        number = place.number
        if place.position == units[number].start:
            return units[:number], units[number:]
        first, second = self._halves(units[number], place)
        return [*units[:number], first], [second, *units[number + 1 :]]

    def _halves(self, unit: Unit, place: _Place) -> tuple[Unit, Unit]:
        """A unit cut in two at a place inside it."""
        self.has_halved = True
        text, wrap, at = self._plan.units.text, unit.wrap or NO_WRAP, place.position
        if place.is_in_sentence:
            self._plan.torn.add(at)
        end = text_end(text, unit.start, at)
        _, after = wrap.around(unit.start, end)
        before, _ = wrap.around(at, unit.end)
        first = unit._replace(end=end, stop=at, after=after, leads=False, ends_sentence=not place.is_in_sentence)
        second = unit._replace(start=at, before=before or self._quoted.marks(at))
        return self._recounted(first), self._recounted(second)

    def _recounted(self, unit: Unit) -> Unit:
        return unit._replace(tokens=self._plan.units.counter.count(self._plan.units.embedded[unit.start : unit.stop]))

    def _inside(self, unit: Unit) -> Sequence[int]:
        """Where a unit may be cut in two: a paragraph after each of its sentences, a list after each of its items.

        Code and tables are cut at lines if they are cut anyway.
        """
        text = self._plan.units.text
        if unit.kind in ("code", "table") and unit.wrap is not None and unit.wrap.before:
            opening = unit.wrap.before
            header = len(lines(opening, 0, len(opening))) if unit.start <= unit.wrap.first else 0
            closing = unit.kind == "code" and unit.end >= unit.wrap.last
            return lines(text, unit.start, unit.end)[header : -2 if closing else -1]
        if unit.before or unit.after:
            return []
        if unit.kind == "paragraph":
            return sentence_ends(text, unit.start, unit.end)[:-1]
        return self._plan.item_starts(unit.start, unit.end) if unit.kind == "list" else []

    def _between_words(self, unit: Unit) -> list[int]:
        """Where a sentence or a line may be cut that is cut between words anyway: the first of a unit, the last.

        Only in its block: a unit may hold others, behind the one and above the other.
        """
        is_torn = not self._plan.starts_sentence(unit.start)
        if unit.after or unit.before != self._quoted.marks(unit.start) or (unit.ends_sentence and not is_torn):
            return []
        text = self._plan.units.text
        first = self._innermost(unit.start) if is_torn else ()
        last = self._innermost(unit.end - 1) if not unit.ends_sentence else ()
        spans = [(unit.start, min(_ends(text, unit, block)[0], block.end)) for block in first]
        spans += [(max([unit.start, *_ends(text, unit, block)][-2], block.start), unit.end) for block in last]
        return [at for start, end in dict.fromkeys(spans) for at in word_ends(text, start, end)[:-1]]

    def _innermost(self, position: int) -> Sequence[Block]:
        """The block without children that a position stands in, unless it is cut between lines or not at all."""
        found = self._plan.document.blocks_between(position, position + 1)
        while found and found[0].children:  # each is inside the one before
            found = between(found[0].children, position, position + 1)
        return [block for block in found if block.kind not in ("code", "row", "heading")]

    def findings(self, pieces: Sequence[Piece]) -> list[Finding]:
        """One for each of ``pieces`` that is below the minimum all the same, unless it is the only one."""
        if len(pieces) < 2:
            return []
        text, count, least = self._plan.units.embedded, self._plan.units.counter.count, self._least
        small = [piece for piece in pieces if piece.own_tokens(text, count) < least]
        message = f"no cut that is permitted here gives a chunk of {least} tokens or more; it stays small"
        return findings_at(self._plan.document.source, [(piece.start, "below-minimum", message) for piece in small])


def _ends(text: str, unit: Unit, block: Block) -> Sequence[int]:
    """Where the sentences of a unit end, for a block of prose in it, or the lines for one of HTML or math."""
    return (lines if block.kind in IN_LINES else sentence_ends)(text, unit.start, unit.end)
