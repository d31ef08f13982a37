"""``quire stats``: what strategies make of documents, in figures side by side. Neighbours: measured.py, output.py.

measured.py gathers what is known of each strategy's chunks; ``figures`` turns it into the JSON that ``--json`` prints
and that the table shows, so the two cannot differ.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import count
from statistics import fmean, median
from typing import Any, NamedTuple

import click

from quire import options as run_options
from quire.cli.configured import configured
from quire.cli.documents import Tally, exit_code, to_read
from quire.cli.jobs import results, workers_for
from quire.cli.measured import Measured, Measuring
from quire.cli.options import cut_tokenizer_option, input_options, jobs_option
from quire.cli.output import Paint, count_of, echo, terminal_width, write_json
from quire.cli.shown import clip, width
from quire.counter import TokenCounter
from quire.model import Syntax
from quire.read.source import OnUndecodable

_WIDTH = 96
_LABEL = 15
_LEAST_COLUMN = 12
"""Narrower than this, strategies stand below one another instead of side by side."""
_MOST_COLUMN = 24
_FIRST_EDGE = 16
_BLOCKS = "▏▎▍▌▋▊▉█"
"""An eighth of a column to a whole one."""
_NONE = "–"
_LABELS = (
    "tokenizer", "chunks", "tokens, total", "  smallest", "  median", "  mean", "  95 % up to", "  largest",
    "range", "  within", "overlap", "breadcrumb", "added in all", "findings",
)  # fmt: skip
"""The rows of the table; ``_Table._cells`` fills them."""


@click.command()
@input_options
@click.option(
    "-s",
    "--strategy",
    "strategies",
    type=click.Choice(list(run_options.OWN)),
    multiple=True,
    help="A strategy to measure; may be given several times. [default: all]",
)
@cut_tokenizer_option
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON object, and nothing else.")
def command(
    *,
    paths: tuple[str, ...],
    syntax: Syntax | None,
    errors: OnUndecodable,
    follow: bool,
    hidden: bool,
    strategies: tuple[str, ...],
    tokenizer: TokenCounter | None,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Compare what strategies make of your documents.

    Shows how many chunks each strategy makes, how large they are with all that quire adds to them, how many are in
    the strategy's range (own text of at least its minimum, text to embed of at most its cap), and what was found. All
    sizes are tokens of the text to embed, all shares but the one in range are shares of its characters.
    Without PATH, the trees of quire.toml are measured.
    """
    tally = Tally()
    paths, trees, chunk = configured(paths)
    chosen = tuple(dict.fromkeys(strategies or run_options.OWN))
    measuring = Measuring(chosen, tokenizer.name if tokenizer else chunk.get("tokenizer"), syntax)
    documents = to_read(paths, tally, errors=errors, follow=follow, hidden=hidden, trees=trees)
    measured = measuring.begun()
    characters = 0
    with closing(results(documents, measuring, tally, workers_for(documents, jobs))) as parts:
        for length, later in parts:
            characters += length
            for each, more in zip(measured, later, strict=True):
                each.merge(more)
    result = figures(measured, tally, characters)
    if as_json:
        write_json(result)
    elif tally.documents:
        _Table(sys.stdout.encoding).show(result)
    tally.show(quiet=True)
    return exit_code(tally, paths)


def figures(measured: Sequence[Measured], tally: Tally, characters: int) -> dict[str, Any]:
    """All figures, as ``--json`` prints them; docs/strategies.md explains the names."""
    edges = list(_edges(max((most for each in measured for most in each.sizes), default=0)))
    return {
        "documents": tally.documents,
        "characters": characters,
        "skipped": len(tally.skipped),
        "strategies": {each.options.strategy: _figures(each, edges) for each in measured},
    }


def _figures(measured: Measured, edges: Sequence[int]) -> dict[str, Any]:
    chunks = len(measured.sizes)
    return {
        "tokenizer": measured.options.tokenizer,
        "chunks": chunks,
        "tokens": _spread(sorted(measured.sizes)),
        "range": measured.range
        and {"min": measured.range[0], "max": measured.range[1], "within": _share(measured.within, chunks)},
        "overlap": _share(measured.repeated, measured.embedded),
        "breadcrumb": _share(measured.above, measured.embedded),
        "added": _share(measured.added, measured.embedded),
        "findings": dict(sorted(measured.findings.items())),
        "histogram": _histogram(measured.sizes, edges),
    }


def _spread(ordered: Sequence[int]) -> dict[str, Any]:
    """Total and typical sizes; no size is typical of nothing."""
    if not ordered:
        return {"total": 0, **dict.fromkeys(("min", "median", "mean", "p95", "max"))}
    rank = -(-95 * len(ordered) // 100)  # the nearest: at least 95 % are no larger
    return {
        "total": sum(ordered),
        "min": ordered[0],
        "median": median(ordered),
        "mean": round(fmean(ordered), 1),
        "p95": ordered[rank - 1],
        "max": ordered[-1],
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _edges(largest: int) -> Iterator[int]:
    """The upper edges of the bars, 16, 32, 48, 64, 96, 128, 192 and so on, up to the one that holds ``largest``."""
    edge = _FIRST_EDGE
    for power in count(5):
        for following in (2**power, 3 * 2 ** (power - 1)):
            yield edge
            if edge >= largest:
                return
            edge = following


def _histogram(sizes: Sequence[int], edges: Sequence[int]) -> list[dict[str, int]]:
    """How many chunks have ``from`` to ``to`` tokens, both included."""
    numbers = Counter(bisect_left(edges, each) for each in sizes)
    starts = [0, *(edge + 1 for edge in edges)]
    return [
        {"from": start, "to": edge, "chunks": numbers[index]}
        for index, (start, edge) in enumerate(zip(starts, edges, strict=False))
    ]


class _Marks(NamedTuple):
    """What bars are drawn with, and what stands where there is no figure."""

    blocks: str
    none: str


_UNICODE = _Marks(_BLOCKS, _NONE)
_ASCII = _Marks("#", "-")


def _marks(encoding: str | None) -> _Marks:
    try:
        f"{_BLOCKS}{_NONE}".encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return _ASCII
    return _UNICODE


def bar(share: float, room: int, blocks: str = _BLOCKS) -> str:
    """A bar as long as ``share`` of ``room`` columns; what is not nothing is seen."""
    steps = len(blocks)
    units = max(round(share * room * steps), 1 if share else 0)
    whole, rest = divmod(units, steps)
    return blocks[-1] * whole + (blocks[rest - 1] if rest else "")


class _Table:
    """Draws the figures: a column a strategy, as many side by side as fit."""

    def __init__(self, encoding: str | None) -> None:
        self._marks = _marks(encoding)
        self._paint = Paint(sys.stdout)
        self._room = terminal_width(_WIDTH) - _LABEL

    def show(self, result: dict[str, Any]) -> None:
        """All of it."""
        strategies: dict[str, dict[str, Any]] = result["strategies"]
        skipped = f", {result['skipped']:,} skipped" if result["skipped"] else ""
        echo(f"{count_of(result['documents'], 'document')}, {count_of(result['characters'], 'character')}{skipped}")
        names = list(strategies)
        beside = max(1, self._room // _LEAST_COLUMN)
        column = min(self._room // min(beside, len(names)), _MOST_COLUMN)
        most = max(each["chunks"] for one in strategies.values() for each in one["histogram"])
        for first in range(0, len(names), beside):
            shown = names[first : first + beside]
            self._block(shown, [strategies[name] for name in shown], column, most)

    def _block(self, names: Sequence[str], figures: Sequence[dict[str, Any]], column: int, most: int) -> None:
        echo()
        self._row("", names, column, self._paint.title)
        for label, *cells in zip(_LABELS, *map(self._cells, figures), strict=True):
            self._row(label, cells, column, self._paint.number)
        for code in sorted({code for each in figures for code in each["findings"]}):
            cells = [self._number(each["findings"].get(code)) for each in figures]
            self._row(f"  {code}", cells, column, self._paint.warning)
        if most:
            echo()
            self._bars(figures, column, most)

    def _cells(self, figures: dict[str, Any]) -> Iterator[str]:
        """What stands in a strategy's column, in the order of the labels."""
        limits = figures["range"]
        yield figures["tokenizer"]
        yield self._number(figures["chunks"])
        yield from (self._number(figures["tokens"][name]) for name in ("total", "min", "median", "mean", "p95", "max"))
        yield f"{limits['min']}-{limits['max']}" if limits else self._marks.none
        yield self._percent(limits and limits["within"])
        yield self._percent(figures["overlap"])
        yield self._percent(figures["breadcrumb"])
        yield self._percent(figures["added"])
        yield self._number(sum(figures["findings"].values()))

    def _row(self, label: str, cells: Sequence[str], column: int, style: Callable[[str], str]) -> None:
        """A line; a long label may take up what its first cell does not need."""
        cells = [clip(cell, column - 1) for cell in cells]
        label = clip(label, _LABEL + column - width(cells[0]) - 1).ljust(_LABEL)
        room = [_LABEL + column - width(label), *[column] * (len(cells) - 1)]
        shown = (" " * (most - width(cell)) + cell for cell, most in zip(cells, room, strict=True))
        echo(self._paint.faint(label) + "".join(map(style, shown)))

    def _bars(self, figures: Sequence[dict[str, Any]], column: int, most: int) -> None:
        """How many chunks there are of each size; one scale for all strategies."""
        echo(self._paint.faint(f"{'tokens'.rjust(_LABEL - 2)}  chunks"))
        room = column - len(f" {most:,}") - 1
        for rows in zip(*(each["histogram"] for each in figures), strict=True):
            label = f"{rows[0]['from']}-{rows[0]['to']}".rjust(_LABEL - 2)
            cells = "".join(self._bar(each["chunks"], most, room).ljust(column) for each in rows).rstrip()
            echo(self._paint.faint(label) + (f"  {self._paint.number(cells)}" if cells else ""))

    def _bar(self, chunks: int, most: int, room: int) -> str:
        return f"{bar(chunks / most, room, self._marks.blocks)} {chunks:,}" if chunks else ""

    def _number(self, value: float | None) -> str:
        return self._marks.none if value is None else f"{value:,}".removesuffix(".0")

    def _percent(self, value: float | None) -> str:
        return self._marks.none if value is None else f"{value:.1%}"
