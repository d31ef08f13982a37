"""``quire stats``: compare the strategies on the user's documents; the table shows the figures of the JSON."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from statistics import fmean, median
from typing import Any

from quire import pipeline
from quire.cli.command_options import JSON, option, quire_command
from quire.cli.cut_options import CUT_TOKENIZER, JOBS, READING, STRATEGY, counter_for, load_tokenizers
from quire.cli.input_documents import InputDocument, Inputs, Summary, results
from quire.cli.output import Paint, clip, count_of, echo, print_table, terminal_size, write_json
from quire.model.document import Syntax
from quire.model.options import STRATEGIES, build

_LABEL = 22
_COLUMN = 12
_BLOCKS = "▏▎▍▌▋▊▉█"  # an eighth of a column to a whole one
_SIZES = {
    "total": "tokens, total", "min": "  smallest", "median": "  median", "mean": "  mean", "p95": "  95 % up to",
    "max": "  largest",
}  # fmt: skip
_SHARES = ("overlap", "breadcrumb", "added")
MeasuredChunk = tuple[int, ...]
"""The tokens of a text to embed, whether they are in the strategy's range, its length, and those of ``_SHARES``."""
Measurement = tuple[list[MeasuredChunk], Counter[str]]  # the chunks of a strategy, and the codes of its findings


@quire_command("quire stats docs", "quire stats docs -s packed -s flow")
def command(
    *,
    inputs: Inputs = READING,
    jobs: int | None = JOBS,
    strategies: tuple[str, ...] = option("Repeatable. [default: all]", "-s", "--strategy", type=STRATEGY),
    tokenizer: str | None = CUT_TOKENIZER,
    as_json: bool = JSON,
) -> int:
    """Shows for each strategy the number of chunks, their sizes with everything that quire adds, how many are in the
    strategy's range (own text of at least the minimum, text to embed of at most the cap), and the findings. Sizes are
    tokens of the text to embed. The share in range is one of chunks, other shares are of characters. Without PATH,
    quire measures the trees of quire.toml.
    """
    chosen = list(dict.fromkeys(strategies or STRATEGIES))
    tokenizer = tokenizer or inputs.tokenizer()
    measure, prepare = partial(_measure, chosen, tokenizer, inputs.syntax), partial(load_tokenizers, chosen, tokenizer)
    summary = Summary()
    totals: dict[str, Measurement] = {strategy: ([], Counter()) for strategy in chosen}
    with closing(results(inputs.documents(summary), measure, summary, jobs=jobs, prepare=prepare)) as measured:
        for measurements in measured:
            for (chunks, findings), (more_chunks, more_findings) in zip(totals.values(), measurements, strict=True):
                chunks.extend(more_chunks)
                findings.update(more_findings)
    largest = max((chunk[0] for chunks, _ in totals.values() for chunk in chunks), default=0)
    edges = [16 << power for power in range(max(0, (largest - 1).bit_length() - 4) + 1)]  # 16, 32, 64 and so on
    result: dict[str, Any] = {name: summary.counts[name] for name in ("documents", "characters")}
    result["skipped"] = len(summary.skipped)
    result["strategies"] = {name: _figures(name, tokenizer, *total, edges) for name, total in totals.items()}
    if as_json:
        write_json(result)
    elif summary.counts["documents"]:
        _show(result)
    summary.show(only_errors=True)
    return summary.exit_code(inputs.paths)


def _measure(
    strategies: Sequence[str], tokenizer: str | None, syntax: Syntax | None, text: InputDocument
) -> tuple[Summary, list[Measurement]]:
    document = pipeline.parse(text.text, path=text.path, syntax=syntax)
    cuts = [pipeline.chunk(document, strategy, tokenizer=tokenizer) for strategy in strategies]
    measurements = []
    for chunks in cuts:
        measured: list[MeasuredChunk] = []
        options = chunks.options
        for chunk in chunks:
            own, size, overlap = chunk.token_stats.tokens, chunk.token_stats.embed_tokens, chunk.overlap_chars
            if overlap:
                own = counter_for(options.strategy, tokenizer).count(chunk.original_text[overlap:])
            within = options.cap is not None and own >= options.minimum and size <= options.cap
            measured.append((size, within, len(chunk.embed_text), overlap, len(chunk.embed_prefix), chunk.added_chars))
        measurements.append((measured, Counter(finding.code for finding in (*text.findings, *chunks.findings))))
    summary = Summary.of(text, cuts[0])
    summary.counts["characters"] = len(text.text)
    return summary, measurements


def _figures(
    strategy: str, tokenizer: str | None, chunks: Sequence[MeasuredChunk], findings: Counter[str], edges: Sequence[int]
) -> dict[str, Any]:
    """The figures of a strategy, as ``--json`` prints them; docs/strategies.md explains the names."""
    options = build(strategy, {"tokenizer": counter_for(strategy, tokenizer).name})
    sizes, within, embedded, *added = zip(*chunks, strict=True) if chunks else [()] * 6
    limits = {"min": options.minimum, "max": options.cap, "within": _share(within, len(sizes))}
    tokens: dict[str, Any] = {"total": sum(sizes), **dict.fromkeys([*_SIZES][1:])}
    if ordered := sorted(sizes):
        p95 = ordered[-(-95 * len(ordered) // 100) - 1]  # at least 95 % are no larger
        tokens |= {"min": ordered[0], "median": median(ordered), "mean": round(fmean(ordered), 1), "p95": p95}
        tokens["max"] = ordered[-1]
    bars = [(edge // 2 + 1 if edge > edges[0] else 0, edge) for edge in edges]
    return {
        "tokenizer": options.tokenizer,
        "chunks": len(sizes),
        "tokens": tokens,
        "range": limits if options.cap else None,
        **dict(zip(_SHARES, (_share(lengths, sum(embedded)) for lengths in added), strict=True)),
        "findings": dict(sorted(findings.items())),
        "histogram": [
            {"from": least, "to": most, "chunks": sum(least <= size <= most for size in sizes)} for least, most in bars
        ],
    }


def _share(parts: Iterable[int], whole: int) -> float | None:
    return round(sum(parts) / whole, 4) if whole else None


def _rows(strategies: Mapping[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    """The lines of the table: a label and a cell per strategy; the findings last."""
    columns = []
    for strategy in strategies.values():
        limits, findings = strategy["range"], strategy["findings"]
        columns.append(
            {
                "tokenizer": strategy["tokenizer"],
                "chunks": _number(strategy["chunks"]),
                **{label: _number(strategy["tokens"][name]) for name, label in _SIZES.items()},
                "range": f"{limits['min']}-{limits['max']}" if limits else "–",
                "  within": _number(limits and limits["within"], ".1%"),
                **{"added in all" if name == "added" else name: _number(strategy[name], ".1%") for name in _SHARES},
                "findings": _number(sum(findings.values())),
                **{f"  {code}": _number(count) for code, count in findings.items()},
            }
        )
    labels = dict.fromkeys(label for column in columns for label in column)
    return [(label, *(column.get(label, "–") for column in columns)) for label in labels]


def _number(value: float | None, form: str = ",") -> str:
    return "–" if value is None else f"{value:{form}}".removesuffix(".0")


def _show(result: dict[str, Any]) -> None:
    """Print the figures: a column per strategy, as many side by side as fit."""
    strategies: dict[str, dict[str, Any]] = result["strategies"]
    skipped = f", {result['skipped']:,} skipped" if result["skipped"] else ""
    echo(f"{count_of(result['documents'], 'document')}, {count_of(result['characters'], 'character')}{skipped}")
    beside = max(1, (terminal_size(sys.stdout, "columns", 80) - _LABEL) // (_COLUMN + 2))
    most = max(bar["chunks"] for strategy in strategies.values() for bar in strategy["histogram"])
    paint = Paint(sys.stdout)
    for first in range(0, len(strategies), beside):
        shown = {name: strategies[name] for name in list(strategies)[first : first + beside]}
        histogram = [*_histogram_rows([strategy["histogram"] for strategy in shown.values()], most)] if most else []
        rows = [(" " * _LABEL, *(paint.title(name.rjust(_COLUMN)) for name in shown))]
        for label, *cells in (*_rows(shown), *histogram):
            rows.append((paint.faint(label), *(paint.number(clip(cell, _COLUMN)) for cell in cells)))
        echo()
        print_table(rows, right=range(1, len(shown) + 1))


def _histogram_rows(histograms: Sequence[Sequence[Mapping[str, int]]], most: int) -> Iterator[tuple[str, ...]]:
    columns = _COLUMN - len(f" {most:,}")
    blank = [""] * len(histograms)
    yield ("", *blank)
    yield ("tokens".rjust(_LABEL), "chunks".ljust(_COLUMN), *blank[1:])
    for bars in zip(*histograms, strict=True):
        cells = (f"{bar(one['chunks'] / most, columns)} {one['chunks']:,}" if one["chunks"] else "" for one in bars)
        yield (f"{bars[0]['from']}-{bars[0]['to']}".rjust(_LABEL), *(cell.ljust(_COLUMN) for cell in cells))


def bar(share: float, columns: int) -> str:
    """A bar as long as ``share`` of ``columns``; anything above zero is visible."""
    units = max(round(share * columns * 8), 1 if share else 0)
    return _BLOCKS[-1] * (units // 8) + (_BLOCKS[units % 8 - 1] if units % 8 else "")
