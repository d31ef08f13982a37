"""``quire stats``: compare the strategies on the user's documents; the table shows the figures of the JSON."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from statistics import fmean, median
from typing import Any

from quire import pipeline
from quire.cli.command_options import JSON, option, quire_command
from quire.cli.cut_options import CUT_TOKENIZER, JOBS, READING, STRATEGY, counter_for, load_tokenizers
from quire.cli.input_documents import InputDocument, Inputs, Summary, results
from quire.cli.output import Paint, clip, count_of, echo, print_table, write_json
from quire.model.document import Syntax
from quire.model.options import STRATEGIES, build

_LABEL = 22
_COLUMN = 12
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
    tokenizer = tokenizer or inputs.settings.chunk.get("tokenizer")
    measure, prepare = partial(_measure, chosen, tokenizer, inputs.syntax), partial(load_tokenizers, chosen, tokenizer)
    summary = Summary()
    totals: dict[str, Measurement] = {strategy: ([], Counter()) for strategy in chosen}
    with closing(results(inputs.documents(summary), measure, summary, jobs=jobs, prepare=prepare)) as measured:
        for measurements in measured:
            for (chunks, findings), (more_chunks, more_findings) in zip(totals.values(), measurements, strict=True):
                chunks.extend(more_chunks)
                findings.update(more_findings)
    result: dict[str, Any] = {name: summary.counts[name] for name in ("documents", "characters")}
    result["skipped"] = len(summary.skipped)
    result["strategies"] = {name: _figures(name, tokenizer, *total) for name, total in totals.items()}
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
    strategy: str, tokenizer: str | None, chunks: Sequence[MeasuredChunk], findings: Counter[str]
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
    return {
        "tokenizer": options.tokenizer,
        "chunks": len(sizes),
        "tokens": tokens,
        "range": limits if options.cap else None,
        **dict(zip(_SHARES, (_share(lengths, sum(embedded)) for lengths in added), strict=True)),
        "findings": dict(sorted(findings.items())),
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
    """Print the figures in a column per strategy."""
    strategies: dict[str, dict[str, Any]] = result["strategies"]
    skipped = f", {result['skipped']:,} skipped" if result["skipped"] else ""
    echo(f"{count_of(result['documents'], 'document')}, {count_of(result['characters'], 'character')}{skipped}\n")
    paint = Paint(sys.stdout)
    rows = [(" " * _LABEL, *(paint.title(name.rjust(_COLUMN)) for name in strategies))]
    for label, *cells in _rows(strategies):
        rows.append((paint.faint(label), *(paint.number(clip(cell, _COLUMN)) for cell in cells)))
    print_table(rows, right=range(1, len(strategies) + 1))
