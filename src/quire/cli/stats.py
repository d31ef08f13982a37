"""``quire stats``: compare the strategies on the user's documents.

``figures`` makes the JSON that ``--json`` prints; the table shows the same JSON.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean, median
from typing import Any

import click

from quire import options as run_options
from quire import pipeline
from quire.cli.cut_options import counter_for, cut_tokenizer_option, input_options, load_engine
from quire.cli.input_documents import Inputs, Summary, Text, cut_documents
from quire.cli.output import Paint, clip, count_of, echo, terminal_width, width, write_json
from quire.cli.parallel import results
from quire.cli.shared_options import json_option
from quire.counter import TokenCounter
from quire.model import Syntax
from quire.record import Chunks

_WIDTH = 96
_LABEL = 15
_LEAST_COLUMN = 12
"""In narrower columns, strategies are printed below each other."""
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
    help="A strategy to measure. Repeatable. [default: all]",
)
@cut_tokenizer_option
@json_option
def command(
    *, inputs: Inputs, syntax: Syntax | None, strategies: tuple[str, ...], tokenizer: str | None, as_json: bool
) -> int:
    """Compare the strategies on your documents.

    Shows for each strategy the number of chunks, their sizes with everything that quire adds, how many are in the
    strategy's range (own text of at least the minimum, text to embed of at most the cap), and the findings. Sizes are
    tokens of the text to embed; shares, except the share in range, are shares of its characters. Without PATH, quire
    measures the trees of quire.toml.
    """
    chosen = tuple(dict.fromkeys(strategies or run_options.OWN))
    measuring = _Measuring(chosen, tokenizer or inputs.chunk.get("tokenizer"), syntax)
    summary = Summary()
    totals = [Measurement() for _ in chosen]
    characters = 0
    with closing(results(inputs.documents(summary), measuring, summary, inputs.jobs)) as measured:
        for length, measurements in measured:
            characters += length
            for total, measurement in zip(totals, measurements, strict=True):
                total.add(measurement)
    result = {
        "documents": summary.documents,
        "characters": characters,
        "skipped": len(summary.skipped),
        "strategies": figures(measuring.options(), totals),
    }
    if as_json:
        write_json(result)
    elif summary.documents:
        _Table().show(result)
    summary.show(quiet=True)
    return summary.exit_code(inputs.paths)


@dataclass
class Measurement:
    """The chunks that one strategy makes, in numbers."""

    sizes: list[int] = field(default_factory=list)
    """The tokens of each text to embed."""
    sums: Counter[str] = field(default_factory=Counter)
    """``within``: chunks in the strategy's range. Characters of the texts to embed: ``embedded`` all, ``overlap``
    repeated from the previous chunk, ``breadcrumb`` breadcrumbs, ``added`` everything that quire added."""
    findings: Counter[str] = field(default_factory=Counter)

    def add(self, other: Measurement) -> None:
        """Add the numbers of other documents."""
        self.sizes += other.sizes
        self.sums.update(other.sums)
        self.findings.update(other.findings)


@dataclass(frozen=True)
class _Measuring:
    """Cuts documents by several strategies; the results are the length and the measurements of each document."""

    strategies: tuple[str, ...]
    tokenizer: str | None
    """A name or file; None for each strategy's own."""
    syntax: Syntax | None

    def __call__(self, documents: Iterable[Text], summary: Summary) -> Iterator[tuple[int, list[Measurement]]]:
        options, counters = self.options(), self._counters()
        for text, cut in cut_documents(documents, self._cut, summary):
            summary.documents += 1
            codes = [finding.code for finding in text.findings]
            yield (
                len(text.text),
                [
                    _measured(chunks, codes, own, counter)
                    for chunks, own, counter in zip(cut, options, counters, strict=True)
                ],
            )

    def _cut(self, text: Text) -> list[Chunks]:
        document = pipeline.parse(text.text, path=text.path, syntax=self.syntax)
        return [pipeline.chunk(document, strategy, tokenizer=self.tokenizer) for strategy in self.strategies]

    def options(self) -> list[run_options.Options]:
        """The options of each strategy."""
        names = [counter.name for counter in self._counters()]
        return [run_options.build(each, {"tokenizer": name}) for each, name in zip(self.strategies, names, strict=True)]

    def prepare(self) -> None:
        for counter in self._counters():
            load_engine(counter)

    def _counters(self) -> list[TokenCounter]:
        return [counter_for(strategy, self.tokenizer) for strategy in self.strategies]


def _measured(chunks: Chunks, codes: Sequence[str], options: run_options.Options, counter: TokenCounter) -> Measurement:
    sums: Counter[str] = Counter()
    for chunk in chunks:
        stats = chunk.token_stats
        own = counter.count(chunk.own_text) if chunk.overlap_chars else stats.tokens
        is_within = options.cap is not None and own >= options.min_tokens and stats.embed_tokens <= options.cap
        sums["within"] += is_within
        sums["embedded"] += len(chunk.embed_text)
        sums["overlap"] += chunk.overlap_chars
        sums["breadcrumb"] += len(chunk.embed_text) - len(chunk.original_text)
        sums["added"] += chunk.added_chars
    findings = Counter([*codes, *(finding.code for finding in chunks.findings)])
    return Measurement([chunk.token_stats.embed_tokens for chunk in chunks], sums, findings)


def figures(options: Sequence[run_options.Options], totals: Sequence[Measurement]) -> dict[str, Any]:
    """The figures of each strategy, as ``--json`` prints them; docs/strategies.md explains the names."""
    edges = list(_edges(max((size for each in totals for size in each.sizes), default=0)))
    return {own.strategy: _figures(own, total, edges) for own, total in zip(options, totals, strict=True)}


def _figures(options: run_options.Options, total: Measurement, edges: Sequence[int]) -> dict[str, Any]:
    chunks, sums, cap = len(total.sizes), total.sums, options.cap
    return {
        "tokenizer": options.tokenizer,
        "chunks": chunks,
        "tokens": _distribution(sorted(total.sizes)),
        "range": cap and {"min": options.min_tokens, "max": cap, "within": _share(sums["within"], chunks)},
        **{name: _share(sums[name], sums["embedded"]) for name in ("overlap", "breadcrumb", "added")},
        "findings": dict(sorted(total.findings.items())),
        "histogram": _histogram(total.sizes, edges),
    }


def _distribution(ordered: Sequence[int]) -> dict[str, Any]:
    if not ordered:
        return {"total": 0, **dict.fromkeys(("min", "median", "mean", "p95", "max"))}
    rank = -(-95 * len(ordered) // 100)  # at least 95 % are no larger
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
    """The number of chunks with ``from`` to ``to`` tokens, both included."""
    numbers = Counter(bisect_left(edges, each) for each in sizes)
    starts = [0, *(edge + 1 for edge in edges)]
    return [
        {"from": start, "to": edge, "chunks": numbers[index]}
        for index, (start, edge) in enumerate(zip(starts, edges, strict=False))
    ]


def bar(share: float, columns: int) -> str:
    """A bar as long as ``share`` of ``columns``; anything above zero is visible."""
    units = max(round(share * columns * 8), 1 if share else 0)
    return _BLOCKS[-1] * (units // 8) + (_BLOCKS[units % 8 - 1] if units % 8 else "")


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:,}".removesuffix(".0")


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1%}"


class _Table:
    """Prints the figures: a column per strategy, as many side by side as fit."""

    def __init__(self) -> None:
        self._paint = Paint(sys.stdout)
        self._columns = terminal_width(_WIDTH) - _LABEL

    def show(self, result: dict[str, Any]) -> None:
        """Print everything."""
        strategies: dict[str, dict[str, Any]] = result["strategies"]
        skipped = f", {result['skipped']:,} skipped" if result["skipped"] else ""
        echo(f"{count_of(result['documents'], 'document')}, {count_of(result['characters'], 'character')}{skipped}")
        names = list(strategies)
        beside = max(1, self._columns // _LEAST_COLUMN)
        column = min(self._columns // min(beside, len(names)), _MOST_COLUMN)
        most = max(each["chunks"] for one in strategies.values() for each in one["histogram"])
        for first in range(0, len(names), beside):
            shown = names[first : first + beside]
            self._block(shown, [strategies[name] for name in shown], column, most)

    def _block(self, names: Sequence[str], shown: Sequence[dict[str, Any]], column: int, most: int) -> None:
        echo()
        self._row("", names, column, self._paint.title)
        for label, *cells in zip(_LABELS, *map(self._cells, shown), strict=True):
            self._row(label, cells, column, self._paint.number)
        for code in sorted({code for each in shown for code in each["findings"]}):
            self._row(f"  {code}", [_number(each["findings"].get(code)) for each in shown], column, self._paint.warning)
        if most:
            echo()
            self._bars(shown, column, most)

    def _cells(self, strategy: dict[str, Any]) -> Iterator[str]:
        """A strategy's column, in the order of the labels."""
        limits = strategy["range"]
        yield strategy["tokenizer"]
        yield _number(strategy["chunks"])
        yield from map(_number, strategy["tokens"].values())
        yield f"{limits['min']}-{limits['max']}" if limits else _NONE
        yield _percent(limits and limits["within"])
        yield from (_percent(strategy[name]) for name in ("overlap", "breadcrumb", "added"))
        yield _number(sum(strategy["findings"].values()))

    def _row(self, label: str, cells: Sequence[str], column: int, style: Callable[[str], str]) -> None:
        """A line; a long label may use the space that its first cell does not need."""
        cells = [clip(cell, column - 1) for cell in cells]
        label = clip(label, _LABEL + column - width(cells[0]) - 1).ljust(_LABEL)
        columns = [_LABEL + column - width(label), *[column] * (len(cells) - 1)]
        shown = (" " * (most - width(cell)) + cell for cell, most in zip(cells, columns, strict=True))
        echo(self._paint.faint(label) + "".join(map(style, shown)))

    def _bars(self, shown: Sequence[dict[str, Any]], column: int, most: int) -> None:
        """The histograms, on one scale for all strategies."""
        echo(self._paint.faint(f"{'tokens'.rjust(_LABEL - 2)}  chunks"))
        columns = column - len(f" {most:,}") - 1
        for rows in zip(*(each["histogram"] for each in shown), strict=True):
            label = f"{rows[0]['from']}-{rows[0]['to']}".rjust(_LABEL - 2)
            numbers = [each["chunks"] for each in rows]
            cells = (f"{bar(number / most, columns)} {number:,}" if number else "" for number in numbers)
            line = "".join(cell.ljust(column) for cell in cells).rstrip()
            echo(self._paint.faint(label) + (f"  {self._paint.number(line)}" if line else ""))
