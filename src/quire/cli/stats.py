"""``quire stats``: compare the strategies on the user's documents.

The table shows the figures of the JSON that ``--json`` prints.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import click

from quire import pipeline
from quire.cli.cut_options import STRATEGY, counter_for, cut_tokenizer_option, input_options, load_tokenizers
from quire.cli.input_documents import Inputs, Summary, Text, results
from quire.cli.output import Paint, clip, count_of, echo, note, terminal_width, visible, width, write_json
from quire.cli.shared_options import html_option, json_option, quire_command
from quire.model import Syntax
from quire.options import STRATEGIES, Options, build
from quire.record import Chunk, Chunks
from quire.web.html_pages import stats_page
from quire.write.atomic_file import new_file

_WIDTH = 96
_LABEL = 15
_COLUMN = 16
_BLOCKS = "▏▎▍▌▋▊▉█"
"""An eighth of a column to a whole one."""
_LABELS = (
    "tokenizer", "chunks", "tokens, total", "  smallest", "  median", "  mean", "  95 % up to", "  largest",
    "range", "  within", "overlap", "breadcrumb", "added in all", "findings",
)  # fmt: skip
"""The rows of the table; ``_cells`` fills them."""


@quire_command("quire stats docs", "quire stats docs -s packed -s flow")
@input_options
@click.option("-s", "--strategy", "strategies", type=STRATEGY, multiple=True, help="Repeatable. [default: all]")
@cut_tokenizer_option
@json_option
@html_option
def command(
    *,
    inputs: Inputs,
    syntax: Syntax | None,
    strategies: tuple[str, ...],
    tokenizer: str | None,
    as_json: bool,
    html: str | None,
) -> int:
    """Compare the strategies on your documents.

    Shows for each strategy the number of chunks, their sizes with everything that quire adds, how many are in the
    strategy's range (own text of at least the minimum, text to embed of at most the cap), and the findings. Sizes are
    tokens of the text to embed; shares, except the share in range, are shares of its characters. Without PATH, quire
    measures the trees of quire.toml.
    """
    chosen = list(dict.fromkeys(strategies or STRATEGIES))
    tokenizer = tokenizer or inputs.tokenizer()
    measure, prepare = partial(_measure, chosen, tokenizer, syntax), partial(load_tokenizers, chosen, tokenizer)
    summary = Summary()
    totals = {strategy: Measurement([], Counter()) for strategy in chosen}
    characters = 0
    documents = inputs.documents(summary)
    with closing(results(documents, measure, summary, jobs=inputs.jobs, prepare=prepare)) as measured:
        for length, measurements in measured:
            characters += length
            for total, measurement in zip(totals.values(), measurements, strict=True):
                total.chunks.extend(measurement.chunks)
                total.findings.update(measurement.findings)
    edges = list(_edges(max((chunk.size for total in totals.values() for chunk in total.chunks), default=0)))
    result: dict[str, Any] = {
        "documents": summary.documents,
        "characters": characters,
        "skipped": len(summary.skipped),
        "strategies": {name: _figures(name, tokenizer, total, edges) for name, total in totals.items()},
    }
    if html is not None and summary.documents:
        with new_file(Path(html)) as stream:
            stream.write(stats_page(result, _rows(result["strategies"])))
        note(visible(f"wrote {html}"))
    if as_json:
        write_json(result)
    elif summary.documents and html is None:
        _show(result)
    summary.show(only_errors=True)
    return summary.exit_code(inputs.paths)


class MeasuredChunk(NamedTuple):
    """The tokens of a text to embed, whether it is in the strategy's range, and the lengths of its parts."""

    size: int
    within: bool
    embedded: int
    overlap: int
    breadcrumb: int
    added: int


class Measurement(NamedTuple):
    """The chunks that a strategy makes, and the codes of its findings."""

    chunks: list[MeasuredChunk]
    findings: Counter[str]


def _measure(
    strategies: Sequence[str], tokenizer: str | None, syntax: Syntax | None, text: Text
) -> tuple[Chunks, tuple[int, list[Measurement]]]:
    """The length of a document and a measurement of each strategy."""
    document = pipeline.parse(text.text, path=text.path, syntax=syntax)
    cuts = [pipeline.chunk(document, strategy, tokenizer=tokenizer) for strategy in strategies]
    codes = [[finding.code for finding in (*text.findings, *chunks.findings)] for chunks in cuts]
    measured = [[_measured(chunk, chunks.options, tokenizer) for chunk in chunks] for chunks in cuts]
    return cuts[0], (
        len(text.text),
        [Measurement(*figures) for figures in zip(measured, map(Counter, codes), strict=True)],
    )


def _measured(chunk: Chunk, options: Options, tokenizer: str | None) -> MeasuredChunk:
    stats, embedded = chunk.token_stats, len(chunk.embed_text)
    own = stats.tokens
    if chunk.overlap_chars:
        own = counter_for(options.strategy, tokenizer).count(chunk.own_text)
    within = options.cap is not None and own >= options.minimum and stats.embed_tokens <= options.cap
    breadcrumb = len(chunk.embed_prefix)
    return MeasuredChunk(stats.embed_tokens, within, embedded, chunk.overlap_chars, breadcrumb, chunk.added_chars)


def _figures(strategy: str, tokenizer: str | None, total: Measurement, edges: Sequence[int]) -> dict[str, Any]:
    """The figures of a strategy, as ``--json`` prints them; docs/strategies.md explains the names."""
    options = build(strategy, {"tokenizer": counter_for(strategy, tokenizer).name})
    sizes, within, embedded, *added = zip(*total.chunks, strict=True) if total.chunks else [()] * 6
    limits = {"min": options.minimum, "max": options.cap, "within": _share(within, len(sizes))}
    shares = zip(("overlap", "breadcrumb", "added"), added, strict=True)
    return {
        "tokenizer": options.tokenizer,
        "chunks": len(sizes),
        "tokens": _distribution(sorted(sizes)),
        "range": limits if options.cap else None,
        **{name: _share(lengths, sum(embedded)) for name, lengths in shares},
        "findings": dict(sorted(total.findings.items())),
        "histogram": _histogram(sizes, edges),
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


def _share(parts: Iterable[int], whole: int) -> float | None:
    return round(sum(parts) / whole, 4) if whole else None


def _edges(largest: int) -> Iterator[int]:
    """The upper edges of the bars: 16, 32, 64 and so on, up to the one that holds ``largest``."""
    edge = 16
    while edge < largest:
        yield edge
        edge *= 2
    yield edge


def _histogram(sizes: Sequence[int], edges: Sequence[int]) -> list[dict[str, int]]:
    """The number of chunks with ``from`` to ``to`` tokens, both included."""
    numbers = Counter(bisect_left(edges, size) for size in sizes)
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
    return "–" if value is None else f"{value:,}".removesuffix(".0")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _show(result: dict[str, Any]) -> None:
    """Print the figures: a column per strategy, as many side by side as fit."""
    strategies: dict[str, dict[str, Any]] = result["strategies"]
    skipped = f", {result['skipped']:,} skipped" if result["skipped"] else ""
    echo(f"{count_of(result['documents'], 'document')}, {count_of(result['characters'], 'character')}{skipped}")
    beside = max(1, (terminal_width(sys.stdout, _WIDTH) - _LABEL) // _COLUMN)
    most = max(bar["chunks"] for one in strategies.values() for bar in one["histogram"])
    for first in range(0, len(strategies), beside):
        _show_columns(dict(islice(strategies.items(), first, first + beside)), most)


def _show_columns(strategies: Mapping[str, dict[str, Any]], most: int) -> None:
    paint, shown = Paint(sys.stdout), strategies.values()
    echo()
    _show_row("", list(strategies), paint.title)
    for number, (label, *cells) in enumerate(_rows(strategies)):
        _show_row(label, cells, paint.number if number < len(_LABELS) else paint.warning)
    if most:
        echo()
        echo(paint.faint(f"{'tokens'.rjust(_LABEL - 2)}  chunks"))
    for rows in zip(*(strategy["histogram"] for strategy in shown), strict=True) if most else ():
        label = f"{rows[0]['from']}-{rows[0]['to']}".rjust(_LABEL - 2)
        columns = _COLUMN - len(f" {most:,}") - 1
        cells = [f"{bar(row['chunks'] / most, columns)} {row['chunks']:,}" if row["chunks"] else "" for row in rows]
        line = "".join(cell.ljust(_COLUMN) for cell in cells).rstrip()
        echo(paint.faint(label) + (f"  {paint.number(line)}" if line else ""))


def _rows(strategies: Mapping[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    """The lines of the table: a label and a cell per strategy; the findings last."""
    columns = strategies.values()
    codes = sorted({code for strategy in columns for code in strategy["findings"]})
    findings = ((f"  {code}", *(_number(strategy["findings"].get(code)) for strategy in columns)) for code in codes)
    return [*zip(_LABELS, *map(_cells, columns), strict=True), *findings]


def _cells(strategy: dict[str, Any]) -> Iterator[str]:
    """A strategy's column, in the order of the labels."""
    limits = strategy["range"]
    yield strategy["tokenizer"]
    yield _number(strategy["chunks"])
    yield from map(_number, strategy["tokens"].values())
    yield f"{limits['min']}-{limits['max']}" if limits else "–"
    yield _percent(limits and limits["within"])
    yield from (_percent(strategy[name]) for name in ("overlap", "breadcrumb", "added"))
    yield _number(sum(strategy["findings"].values()))


def _show_row(label: str, cells: Sequence[str], style: Callable[[str], str]) -> None:
    """Print a line; a long label may use the space that its first cell does not need."""
    cells = [clip(cell, _COLUMN - 1) for cell in cells]
    label = clip(label, _LABEL + _COLUMN - width(cells[0]) - 1).ljust(_LABEL)
    columns = [_LABEL + _COLUMN - width(label), *[_COLUMN] * (len(cells) - 1)]
    shown = (style(" " * (most - width(cell)) + cell) for cell, most in zip(cells, columns, strict=True))
    echo(Paint(sys.stdout).faint(label) + "".join(shown))
