"""Brings a store in step with documents that other processes or machines cut and embed; only this one writes.

Each part is finished before the next one is written, so a run that is killed continues with the part that it was at:
its documents are recorded as unfinished, their rows written, their old rows deleted, and the documents recorded.
Rows and records are those of ``sync``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from quire import pipeline
from quire.errors import QuireError
from quire.record import Chunks
from quire.run.arrow import embedder_of
from quire.run.documents import results
from quire.run.parts import Done, Part, Problem, read_documents
from quire.stores.documents import document
from quire.stores.row import Row, rows
from quire.stores.sync_engine import UNFINISHED, embed, explained, generation_of
from quire.stores.target import Store, opened


def sync_parts(
    parts: Sequence[Part],
    target: str,
    embedder: str,
    options: Mapping[str, Any],
    *,
    engine: str,
    workers: int | None = None,
    is_complete: bool = True,
) -> Generator[Done, None, None]:
    """Yield the numbers of rows and tokens that were written for each part, in order.

    ``options`` are those of ``quire.chunk``. Documents that are in no part are deleted at the end if ``is_complete``.
    """
    generation = generation_of(embedder_of(embedder))
    prefix = f"{options.get('content_type') or 'doc'}:"
    with opened(target, dry_run=False) as store, explained(store):
        live, recorded, has_failed = store.generation(), store.documents(generation), not is_complete
        known = [_with_hashes(part, recorded, prefix) for part in parts]
        with closing(results(known, partial(_rows, embedder, options), engine=engine, workers=workers)) as running:
            for done in running:
                has_failed |= bool(done.problems)
                hashes, made = done.value or ({}, [])
                if hashes:
                    _write(store, generation, hashes, made, is_first=not recorded)
                yield Done((len(made), sum(row.tokens for row in made)), done.problems)
        present = {prefix + path for part in parts for path in part.paths}
        gone = [name for name in recorded if name.startswith(prefix) and name not in present]
        if is_complete and gone:
            store.delete(generation, gone, [])
            store.record(generation, dict.fromkeys(gone))
        if not has_failed or live in (None, generation):
            store.publish(generation)


def _with_hashes(part: Part, recorded: Mapping[str, str], prefix: str) -> Part:
    known = [(path, recorded[prefix + path]) for path in part.paths if prefix + path in recorded]
    return part._replace(hashes=tuple(known))


def _rows(embedder: str, options: Mapping[str, Any], part: Part) -> Done:
    """The hashes of a part's documents that are new or changed, and their rows with vectors."""
    model, recorded = embedder_of(embedder), dict(part.hashes)
    documents, problems = read_documents(part.source, part.paths)
    hashes: dict[str, str] = {}
    made: list[Row] = []
    for path, text in zip(*(documents.column(name).to_pylist() for name in ("path", "text")), strict=True):
        each = document(Path(path), path, partial(_cut, options), options)
        digest = each.hash_of(text.encode())
        if recorded.get(path) != digest:
            try:
                made += rows(each.cut(text, path), each.name, digest, model)
                hashes[each.name] = digest
            except QuireError as error:
                problems.append(Problem(path, error.reason))
    vectors = embed(model, [row.columns["text"] for row in made])
    return Done((hashes, [row.with_vector(vector) for row, vector in zip(made, vectors, strict=True)]), tuple(problems))


def _cut(options: Mapping[str, Any], text: str, path: str) -> Chunks:
    return pipeline.chunk(text, path=path, **options)


def _write(store: Store, generation: str, hashes: Mapping[str, str], made: Sequence[Row], *, is_first: bool) -> None:
    """Replace the rows of some documents."""
    store.record(generation, dict.fromkeys(hashes, UNFINISHED))
    contents = sorted({row.columns["content_hash"] for row in made})
    found = () if is_first or not contents else store.known(generation, contents)
    known = {each.id: each.document_hash for each in found}
    new = [row for row in made if row.id not in known]
    changed = [row for row in made if row.id in known and known[row.id] != row.columns["document_hash"]]
    if new or changed:
        store.write(generation, new, changed)
    if not is_first:
        store.delete(generation, [*hashes], [*hashes.values()])
    store.record(generation, hashes)
