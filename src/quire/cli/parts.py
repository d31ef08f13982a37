"""The documents of a command in parts, and ``quire chunk --engine``, which writes them as a dataset."""

from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import Any

from quire.cli.cut_options import TreeCutter
from quire.cli.input_documents import Inputs, Summary
from quire.cli.output import Progress, count_of, note
from quire.embed.embedder import resolve
from quire.run.dataset import write_parts
from quire.run.parts import Part, document_parts, is_shard, is_url, listed, parts_of


def input_parts(inputs: Inputs, cut: TreeCutter, summary: Summary) -> list[Part]:
    """The parts of all documents of a command; ``summary`` lists files that cannot be taken."""
    local = tuple(path for path in inputs.paths if not (is_url(path) or is_shard(path)))
    shared = [part for path in inputs.paths if path not in local for part in parts_of(path)[0]]
    documents = replace(inputs, paths=local).documents(summary) if local else []
    options = cut.with_documents(documents).options
    parts = [part._replace(options=options[""], errors=inputs.errors) for part in shared]
    files = [(document.found, document.errors, document.encoding) for document in documents if document.found]
    key = lambda file: (str(file[0].file)[: -len(file[0].path)] or ".", file[0].root, *file[1:])  # noqa: E731
    for (folder, root, errors, encoding), some in groupby(files, key):
        read: dict[str, Any] = {"options": options.get(root) or options[""], "errors": errors, "encoding": encoding}
        some_parts = document_parts(folder, (listed(found.path, found.file) for found, *_ in some))
        parts += [part._replace(**read) for part in some_parts]
    return parts


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
