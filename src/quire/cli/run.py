"""``quire run``: cut the documents of a folder or URL, on all cores or on a cluster, to Parquet files or a store."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
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
from quire.run.documents import ENGINES, write_parts
from quire.run.parts import Part, parts_of
from quire.stores.run_sync import sync_parts
from quire.stores.target import parts as target


@click.command()
@click.argument("source")
@cut_options
@click.option("-o", "--output", callback=not_empty, metavar="DIR|URL", help="Where the Parquet files go.")
@click.option("--to", "store", callback=not_empty, metavar="STORE", help="A store as in quire sync, instead of files.")
@click.option("--engine", type=click.Choice(list(ENGINES)), default="local", show_default=True, help="What runs it.")
@click.option("--vectors", type=click.Choice(NAMES), help=f"Embed the chunks. [default with --to: {NAMES[0]}]")
@click.option("-j", "--jobs", type=click.IntRange(1), metavar="N", help="How many parts at once. [default: every core]")
@quiet_option
def command(
    *,
    source: str,
    output: str | None,
    store: str | None,
    engine: str,
    vectors: str | None,
    jobs: int | None,
    quiet: bool,
    strategy: str | None,
    **options: Any,
) -> int:
    """Cut the documents of a folder or URL into Parquet files, or sync them to a store.

    SOURCE and the output are folders or URLs such as s3://bucket/docs. Each file holds the chunks of some megabytes of
    documents, in the order of their paths, so every engine writes the same rows, and a run that is repeated replaces
    them. Nothing else in the output is touched. A store gets the rows of quire sync: only changed documents are cut and
    embedded, and those that are no longer in SOURCE are deleted. The engine ray uses the cluster that RAY_ADDRESS
    names, or starts one on this machine.
    """
    if bool(output) == bool(store):
        raise click.UsageError("name either -o DIR|URL or --to STORE")
    cut = Cutter.of(strategy=strategy or DEFAULT_STRATEGY, **options)
    cut_options = {"strategy": cut.strategy, "tokenizer": cut.tokenizer, **cut.options}
    if store:
        target(store)
    if store or vectors:
        resolve(vectors or NAMES[0])  # in another process, a missing package would look like the fault of a document
    parts, problems = parts_of(source)
    if store:
        embedder, is_complete = vectors or NAMES[0], not problems
        made = sync_parts(parts, store, embedder, cut_options, engine=engine, workers=jobs, is_complete=is_complete)
    else:
        made = write_parts(parts, partial(_rows, cut_options, vectors), output or "", engine=engine, workers=jobs)
    summary = Summary()
    with out.Progress() as progress, closing(made):
        for number, done in enumerate(made if parts else ()):
            progress.step(number, len(parts), _name(parts[number]))
            problems += done.problems
            summary.documents += len(parts[number].paths) - len(done.problems)
            chunks, tokens = done.value or (0, 0)
            summary.chunks += chunks
            summary.tokens += tokens
    for path, reason in problems:
        summary.skip(path, reason)
    summary.show(only_errors=quiet)
    return summary.exit_code((source,))


def _rows(cut_options: Mapping[str, Any], embedder: str | None, documents: Any) -> Any:
    chunks = chunk_batch(documents, **cut_options)
    return embed_batch(chunks, embedder) if embedder else chunks


def _name(part: Part) -> str:
    return f"{part.paths[0]} … {part.paths[-1]}" if len(part.paths) > 1 else part.paths[0]
