"""The documents of a command in parts, and ``quire chunk --engine``, which writes them as a dataset."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import Any

from quire.cli.cut_options import TreeCutter
from quire.cli.input_documents import InputDocument, Inputs, Summary
from quire.cli.output import Progress, count_of, note
from quire.embed.embedder import resolve
from quire.run.dataset import write_parts
from quire.run.parts import Part, document_parts, is_shard, is_url, listed, parts_of


def is_source(path: str) -> bool:
    """Whether a path is read in parts only: a URL or shards."""
    return is_url(path) or is_shard(path)


def input_parts(inputs: Inputs, cut: TreeCutter, summary: Summary) -> list[Part]:
    """The parts of all documents of a command; ``summary`` lists files that cannot be taken."""
    shared = [part for path in inputs.paths if is_source(path) for part in parts_of(path)[0]]
    local = tuple(path for path in inputs.paths if not is_source(path))
    documents = replace(inputs, paths=local).documents(summary) if local else []
    options = cut.with_documents(documents).options
    shared = [part._replace(options=options[""], errors=inputs.errors) for part in shared]
    return [*shared, *_local_parts(documents, options)]


def _local_parts(documents: Sequence[InputDocument], options: Mapping[str, Mapping[str, Any]]) -> Iterator[Part]:
    files = [(document.found, document.errors, document.encoding) for document in documents if document.found]
    key = lambda file: (str(file[0].file)[: -len(file[0].path)] or ".", file[0].root, *file[1:])  # noqa: E731
    for (folder, root, errors, encoding), some in groupby(files, key):
        for part in document_parts(folder, (listed(found.path, found.file) for found, *_ in some)):
            chosen = options.get(root) or options[""]
            yield part._replace(options=chosen, errors=errors, encoding=encoding)


def write_dataset(inputs: Inputs, cut: TreeCutter, output: str, *, engine: str, embedder: Any, jobs: int | None) -> int:
    """Write the chunks of all documents as Parquet files; return the exit code."""
    if embedder is not None:
        resolve(embedder)  # in another process, a missing package would look like the fault of a document
    summary = Summary()
    parts = input_parts(inputs, cut, summary)
    finished = 0
    written = write_parts(parts, output, embedder=embedder, engine=engine, workers=jobs)
    with Progress() as progress, closing(written):
        for number, done in enumerate(written if parts else ()):
            part = parts[number]
            progress.step(number, len(parts), part.name(part.paths[0]) if part.paths else part.source)
            for path, reason in done.problems:
                summary.skip(part.name(path), reason)
            if done.value:
                value = done.value
                summary.counts.update(documents=value.documents, chunks=value.rows, tokens=value.tokens)
                finished += value.is_old
    summary.show()
    if finished:
        note(f"{count_of(finished, 'part')} of {len(parts):,} had been written before")
    return summary.exit_code(inputs.paths)
