"""``quire run``: cut the documents of a folder or URL into Parquet files, on all cores or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from quire.cli import output as out
from quire.cli.cut_options import Cutter, cut_options
from quire.cli.input_documents import Summary
from quire.cli.shared_options import not_empty, quiet_option
from quire.embed.embedder import NAMES, resolve
from quire.options import DEFAULT_STRATEGY
from quire.run.arrow import chunk_batch, embed_batch
from quire.run.documents import ENGINES, results, write_parts
from quire.run.parts import Part, parts_of, remove_other_parts


@click.command()
@click.argument("source")
@cut_options
@click.option("-o", "--output", required=True, callback=not_empty, metavar="DIR|URL", help="Where the files go.")
@click.option("--engine", type=click.Choice(list(ENGINES)), default="local", show_default=True, help="What runs it.")
@click.option("--vectors", type=click.Choice(NAMES), help="Embed the chunks, in the column vector.")
@click.option("-j", "--jobs", type=click.IntRange(1), metavar="N", help="How many parts at once. [default: every core]")
@quiet_option
def command(
    *,
    source: str,
    output: str,
    engine: str,
    vectors: str | None,
    jobs: int | None,
    quiet: bool,
    strategy: str | None,
    **options: Any,
) -> int:
    """Cut the documents of a folder or URL into Parquet files.

    SOURCE and the output are folders or URLs such as s3://bucket/docs. Each file holds the chunks of some megabytes of
    documents, in the order of their paths, so every engine writes the same rows, and a run that is repeated replaces
    them. The engine ray uses the cluster that RAY_ADDRESS names, or starts one on this machine. Nothing else in the
    output is touched.
    """
    cut = Cutter.of(strategy=strategy or DEFAULT_STRATEGY, **options)
    function: Callable[[Any], Any] = partial(chunk_batch, strategy=cut.strategy, tokenizer=cut.tokenizer, **cut.options)
    if vectors:
        resolve(vectors)  # in another process, a missing package would look like the fault of a document
        function = partial(_chunk_and_embed, function, vectors)
    parts, problems = parts_of(source)
    summary = Summary()
    with out.Progress() as progress:
        for number, done in enumerate(
            results(parts, partial(write_parts, function, output), engine=engine, workers=jobs)
        ):
            progress.step(number, len(parts), _name(parts[number]))
            problems += done.problems
            summary.documents += len(parts[number].paths) - len(done.problems)
            chunks, tokens = done.value or (0, 0)
            summary.chunks += chunks
            summary.tokens += tokens
    if parts:
        remove_other_parts(output, len(parts))
    for path, reason in problems:
        summary.skip(path, reason)
    summary.show(quiet=quiet)
    return summary.exit_code((source,))


def _chunk_and_embed(chunk: Callable[[Any], Any], embedder: str, documents: Any) -> Any:
    return embed_batch(chunk(documents), embedder)


def _name(part: Part) -> str:
    return f"{part.paths[0]} … {part.paths[-1]}" if len(part.paths) > 1 else part.paths[0]
