"""The minimum of `flow`: a run that is too small joins a neighbour, or the cut between them moves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from quire.model import Block, Finding, Piece, between, findings_at
from quire.offsets import line_start, text_end
from quire.parsing import inner_blocks
from quire.split.cut import line_ends
from quire.split.overlap import Run
from quire.split.reopen import NOTHING, QuoteMarks
from quire.split.sentences import sentence_ends
from quire.split.units import Unit, Units
from quire.split.words import word_ends

_Pair: TypeAlias = tuple[Run, Run]


class _Place(NamedTuple):
    """Where a run may be cut in two."""

    number: int
    """The number of a unit."""
    position: int
    """Its start, or a position inside it."""
    is_in_sentence: bool = False
    """Whether that tears a sentence."""


class Minimum:
    """Brings runs up to the minimum, as far as permitted cuts allow."""

    def __init__(self, units: Units, minimum: int) -> None:
        self._units = units
        self._sizer = units.sizer
        self._text = units.text
        self._minimum = minimum
        self._quotes = QuoteMarks(units.text)
        self._inner: dict[Block, tuple[Block, ...]] = {}
        self._has_torn = not all(unit.ends_sentence for unit in units.items)
        self.torn = {unit.stop for unit in units.items if not unit.ends_sentence}
        """Where units start inside a sentence."""

    def applied(self, runs: Sequence[Run]) -> list[Run]:
        """The runs, with as few below the minimum as possible. Every step takes one run from those that wait."""
        done: list[Run] = []
        waiting = list(reversed(runs))
        while waiting:
            run = waiting.pop()
            if self._is_large(run) or not (done or waiting):
                done.append(run)
            elif done and self._fits([*done[-1], *run]):
                done[-1] = [*done[-1], *run]
            elif waiting and self._fits([*run, *waiting[-1]]):
                waiting[-1] = [*run, *waiting[-1]]
            elif done and (moved := self._moved_back(done[-1], run)):
                done[-1:] = moved
            elif waiting and (moved := self._moved_on(run, waiting[-1])):
                done.append(moved[0])
                waiting[-1] = moved[1]
            else:
                done.append(run)
        return done

    def findings(self, pieces: Sequence[Piece]) -> list[Finding]:
        """A finding for each piece that is still below the minimum, unless it is the only one."""
        if len(pieces) < 2:
            return []
        message = f"no permitted cut gives a chunk of {self._minimum} tokens or more here; the chunk stays small"
        small = [piece for piece in pieces if not self._sizer.is_at_least(self._minimum, piece.start, piece.end)]
        notes = [(piece.start, "below-minimum", message) for piece in small]
        return findings_at(self._units.document.source, notes)

    def _is_large(self, run: Run) -> bool:
        return self._sizer.is_at_least(self._minimum, run[0].start, run[-1].end)

    def _fits(self, run: Run) -> bool:
        head, tail = run[0], run[-1]
        return self._sizer.fits(head.start, tail.end, head.prefix, tail.suffix)

    def _moved_back(self, before: Run, run: Run) -> _Pair | None:
        """The cut moved back into the run before, as little as needed."""
        end = run[-1].end

        def cut(place: _Place) -> _Pair:
            kept, given = self._in_two(before, place)
            return kept, [*given, *run]

        def is_large(place: _Place) -> bool:
            return self._sizer.is_at_least(self._minimum, place.position, end)

        return self._first_sound((each[::-1] for each in self._places(before)), is_large, cut)

    def _moved_on(self, run: Run, after: Run) -> _Pair | None:
        """The cut moved on into the run after, as little as needed."""
        text, start = self._text, run[0].start

        def cut(place: _Place) -> _Pair:
            given, kept = self._in_two(after, place)
            return [*run, *given], kept

        def is_large(place: _Place) -> bool:
            return self._sizer.is_at_least(self._minimum, start, text_end(text, start, place.position))

        return self._first_sound(self._places(after), is_large, cut)

    def _first_sound(
        self,
        levels: Iterable[Sequence[_Place]],
        is_large: Callable[[_Place], bool],
        cut: Callable[[_Place], _Pair],
    ) -> _Pair | None:
        """The first pair of runs, on the first level that has one, that reach the minimum and keep the cap.

        The further the cut moves, the larger the small run and the smaller the other one.
        """
        for places in levels:
            at, step = bisect_left(places, True, key=is_large), 1
            while at < len(places) and all(map(self._is_large, pair := cut(places[at]))):
                if all(map(self._fits, pair)):
                    return pair
                at, step = at + step, 2 * step  # what the other run repeats in front may take room
        return None

    def _places(self, run: Run) -> Iterator[list[_Place]]:
        """Where a run may be cut in two, the best places first: between blocks, inside one, between words."""
        yield [_Place(number, run[number].start) for number in range(1, len(run)) if not run[number - 1].leads]
        yield [_Place(number, at) for number, unit in enumerate(run) for at in self._inside(unit)]
        if self._has_torn:
            torn = [(number, at) for number, unit in enumerate(run) for at in self._between_words(unit)]
            yield [_Place(number, at, is_in_sentence=True) for number, at in torn]

    def _in_two(self, run: Run, place: _Place) -> _Pair:
        number = place.number
        if place.position == run[number].start:
            return run[:number], run[number:]
        first, second = self._halves(run[number], place)
        return [*run[:number], first], [second, *run[number + 1 :]]

    def _halves(self, unit: Unit, place: _Place) -> tuple[Unit, Unit]:
        """A unit cut in two at a place inside it."""
        text, reopening, at = self._text, unit.reopening or NOTHING, place.position
        if place.is_in_sentence:
            self.torn.add(at)
        end = text_end(text, unit.start, at)
        _, suffix = reopening.around(unit.start, end)
        prefix, _ = reopening.around(at, unit.end)
        first = unit._replace(end=end, stop=at, suffix=suffix, leads=False, ends_sentence=not place.is_in_sentence)
        return first, unit._replace(start=at, prefix=prefix or self._quotes.at(at))

    def _inside(self, unit: Unit) -> Sequence[int]:
        """Where a unit may be cut in two: paragraphs at sentences, lists at items, cut code and tables at lines."""
        reopening = unit.reopening
        if unit.kind in ("code", "table") and reopening is not None and reopening.prefix:
            opening = reopening.prefix
            header = len(line_ends(opening, 0, len(opening))) if unit.start <= reopening.start else 0
            is_closing = unit.kind == "code" and unit.end >= reopening.end
            return line_ends(self._text, unit.start, unit.end)[header : -2 if is_closing else -1]
        if unit.prefix or unit.suffix:
            return []
        if unit.kind == "paragraph":
            return sentence_ends(self._text, unit.start, unit.end)[:-1]
        return self._item_starts(unit) if unit.kind == "list" else []

    def _item_starts(self, unit: Unit) -> list[int]:
        """Where the items of a list start, on their lines, but the first."""
        start, end = unit.start, unit.end
        block = self._units.document.blocks_between(start, start + 1)[0]
        items = self._children(block)
        lines = {line_start(self._text, item.start, start) for item in items if start < item.start < end}
        return sorted(line for line in lines if start < line < end)

    def _between_words(self, unit: Unit) -> list[int]:
        """Where a sentence or line may be cut that is cut between words anyway: the first of a unit, the last."""
        is_torn = unit.start in self.torn
        if not self._is_prose(unit) or (unit.ends_sentence and not is_torn):
            return []
        text = self._text
        first = self._innermost(unit.start) if is_torn else ()
        last = self._innermost(unit.end - 1) if not unit.ends_sentence else ()
        spans = [(unit.start, min(_ends(text, unit, block)[0], block.end)) for block in first]
        spans += [(max([unit.start, *_ends(text, unit, block)][-2], block.start), unit.end) for block in last]
        return [at for start, end in dict.fromkeys(spans) for at in word_ends(text, start, end)[:-1]]

    def _is_prose(self, unit: Unit) -> bool:
        """Whether nothing is added around a unit but quote marks and what opens and closes its container."""
        container = unit.reopening if unit.kind == "directive" and unit.reopening is not None else NOTHING
        return unit.suffix in ("", container.suffix) and unit.prefix in (self._quotes.at(unit.start), container.prefix)

    def _innermost(self, position: int) -> Sequence[Block]:
        """The innermost block at a position, unless it is cut at lines or not at all."""
        found = self._units.document.blocks_between(position, position + 1)
        children = self._children(found[0]) if found else ()
        while children:  # each is inside the one before
            found = between(children, position, position + 1)
            children = found[0].children if found else ()
        return [block for block in found if block.kind not in ("code", "row", "heading")]

    def _children(self, block: Block) -> tuple[Block, ...]:
        """The blocks inside a block at document level."""
        if block not in self._inner:
            self._inner[block] = inner_blocks(self._text, block)
        return self._inner[block]


def _ends(text: str, unit: Unit, block: Block) -> Sequence[int]:
    """The ends of the sentences of a unit; of its lines if the block is HTML or math."""
    return (line_ends if block.kind in ("html", "math") else sentence_ends)(text, unit.start, unit.end)
