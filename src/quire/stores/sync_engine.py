"""Brings a store in step with documents, and embeds only what no row has a vector for.

The order makes a kill harmless at any moment. Every step can be repeated, and the next run repeats those that are not
recorded:

1. record the changed documents as unfinished, so that their rows can be found even if the documents disappear;
2. write rows. Their ids are made of document and content, so no row replaces another one's vector;
3. delete rows that no document has any more: at the end, because moved and renamed texts use their vectors;
4. record the documents as finished;
5. make the generation the live one, if it is a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from os import PathLike
from typing import Any

from quire.embed.embedder import Embedder, resolve
from quire.errors import EmbedderError, QuireError
from quire.options import DEFAULT_STRATEGY
from quire.stores.documents import SyncDocument, documents
from quire.stores.row import LAYOUT, Row, rows
from quire.stores.target import Known, Store, failed, opened, parts

_BATCH = 256
"""How many rows are embedded and written at a time, unless the embedder says it."""
UNFINISHED = ""
"""The recorded hash of a document while its rows are written."""

OnProgress = Callable[[int, int, int], None]
"""Called with the number of documents done, of all changed documents, and of rows so far."""


@dataclass(frozen=True)
class SyncReport:
    """What a sync did, or what it would do."""

    added: int = 0
    """Documents that are new."""
    changed: int = 0
    """Documents that changed, or whose options did."""
    removed: int = 0
    """Documents that are gone."""
    unchanged: int = 0
    """Documents that were not cut again."""
    rows: int = 0
    """Rows of new and changed documents."""
    embedded: int = 0
    """Texts that were embedded."""
    tokens: int = 0
    """The tokens of these texts, as the chunks count them."""
    generation: str = ""
    """Model, version and window."""
    is_new_generation: bool = False
    """Whether the model or its version changed, so that everything was embedded."""
    failed: tuple[tuple[str, str], ...] = field(default=())
    """Documents that could not be read, with the reason. Their rows stay."""


def sync(
    path: str | PathLike[str],
    to: str,
    *,
    embedder: object = "wordllama",
    strategy: str = DEFAULT_STRATEGY,
    dry_run: bool = False,
    rebuild: bool = False,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> SyncReport:
    """Bring the store ``to`` in step with the documents of a folder.

    ``to`` is ``lancedb:DIR``, ``pgvector:URL``, ``chroma:DIR`` or ``qdrant:DIR``, with ``#NAME`` for another table than
    ``quire``. ``embedder`` is a name, an embedder or a function. ``rebuild`` removes quire's tables first. Other
    options are those of ``quire.chunk_dir``.
    """
    found = documents(path, strategy, **options)
    return sync_documents(found, to, embedder=embedder, dry_run=dry_run, rebuild=rebuild, on_progress=on_progress)


def sync_documents(
    documents: Sequence[SyncDocument],
    to: str,
    *,
    embedder: object = "wordllama",
    dry_run: bool = False,
    rebuild: bool = False,
    on_progress: OnProgress | None = None,
) -> SyncReport:
    """Bring a store in step with documents; ``rebuild`` removes quire's tables first."""
    parts(to)  # before a model is loaded
    model = resolve(embedder)
    with opened(to, dry_run=dry_run, rebuild=rebuild) as store, explained(store):
        return _Sync(store, model, dry_run=dry_run, on_progress=on_progress).run(documents)


def generation_of(embedder: Embedder) -> str:
    """What vectors depend on, besides the text."""
    version = f" {embedder.version}" if embedder.version else ""
    return f"{embedder.name}{version}, window {embedder.window}, rows {LAYOUT}"


@contextmanager
def explained(store: Store) -> Iterator[None]:
    """Make an exception of the store's package a StoreError."""
    try:
        yield
    except QuireError:
        raise
    except store.errors as error:
        raise failed(store.target, "", error) from error


def embed(embedder: Embedder, texts: list[str]) -> Any:
    """An array with one vector per text; an EmbedderError if the embedder returns something else."""
    if not texts:
        return []
    np = import_module("numpy")  # every store needs it
    vectors = np.asarray(embedder.embed(texts), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.size or not np.isfinite(vectors).all():
        problem = f"{embedder.name} did not return one vector of numbers for each of {len(texts)} texts"
        raise EmbedderError(problem, "embed(texts) must return an array with one row per text")
    return vectors


class _Sync:
    """One sync."""

    def __init__(self, store: Store, embedder: Embedder, *, dry_run: bool, on_progress: OnProgress | None) -> None:
        self._store = store
        self._embedder = embedder
        self._is_dry = dry_run
        self._on_progress = on_progress
        self._batch = getattr(embedder, "batch", _BATCH)
        self._generation = generation_of(embedder)
        self._recorded = store.documents(self._generation)
        self._is_first = not self._recorded
        self._seen: set[str] = set()
        """The content hashes of this run."""
        self._planned: set[tuple[str, int]] = set()
        """The texts that a dry run would embed."""
        self._failed: list[tuple[str, str]] = []
        self._report = SyncReport(generation=self._generation)

    def run(self, documents: Sequence[SyncDocument]) -> SyncReport:
        live = self._store.generation()
        changed = self._changed(documents)
        removed = self._removed(documents)
        known = [each for each in changed if each.name in self._recorded]
        self._count(
            added=len(changed) - len(known),
            changed=len(known),
            removed=len(removed),
            unchanged=len(documents) - len(changed) - len(self._failed),
        )
        if changed and not self._is_dry:
            self._store.record(self._generation, dict.fromkeys((each.name for each in changed), UNFINISHED))
        finished = self._write(changed)
        if not self._is_dry:
            self._finish(finished, removed)
            if not self._failed or live in (None, self._generation):
                self._store.publish(self._generation)
        is_new = live not in (None, self._generation)
        return replace(self._report, is_new_generation=is_new, failed=tuple(self._failed))

    def _changed(self, documents: Iterable[SyncDocument]) -> list[SyncDocument]:
        changed = []
        for each in documents:
            try:
                if self._recorded.get(each.name) != each.hash_of(each.read()):
                    changed.append(each)
            except QuireError as error:
                self._failed.append((str(each.file), error.reason))
        return changed

    def _removed(self, documents: Sequence[SyncDocument]) -> list[str]:
        """The recorded documents of the same content types that are gone."""
        names = {each.name for each in documents}
        types = tuple({f"{name.partition(':')[0]}:" for name in names})
        return [name for name in self._recorded if name.startswith(types) and name not in names]

    def _write(self, documents: Sequence[SyncDocument]) -> dict[str, str]:
        """Write the rows of documents, a batch at a time; return the hashes of those that could be cut."""
        finished: dict[str, str] = {}
        waiting: list[Row] = []
        for done, each in enumerate(documents, start=1):
            try:
                data = each.read()
                hash_ = each.hash_of(data)
                waiting += rows(each.chunks(data), each.name, hash_, self._embedder)
            except QuireError as error:
                self._failed.append((str(each.file), error.reason))
                continue
            finished[each.name] = hash_
            while len(waiting) >= self._batch:
                self._write_batch(waiting[: self._batch])
                del waiting[: self._batch]
                if self._on_progress:
                    self._on_progress(done, len(documents), self._report.rows)
        if waiting:
            self._write_batch(waiting)
        return finished

    def _write_batch(self, batch: Sequence[Row]) -> None:
        known = {each.id: each for each in self._known(batch)}
        vectors = {(each.content_hash, each.passage): each.vector for each in known.values()}
        missing = {row.key: row for row in batch if row.key not in vectors and row.key not in self._planned}
        self._count(rows=len(batch), embedded=len(missing), tokens=sum(row.tokens for row in missing.values()))
        if self._is_dry:
            self._planned |= missing.keys()
            return
        made = embed(self._embedder, [row.columns["text"] for row in missing.values()])
        vectors |= zip(missing, made, strict=True)
        filled = [row.with_vector(vectors[row.key]) for row in batch]
        new = [row for row in filled if row.id not in known]
        outdated = [
            row for row in filled if row.id in known and known[row.id].document_hash != row.columns["document_hash"]
        ]
        if new or outdated:
            self._store.write(self._generation, new, outdated)

    def _known(self, batch: Sequence[Row]) -> Iterable[Known]:
        """What the store has of these contents. In a first run it has only what this run wrote."""
        hashes = {row.columns["content_hash"] for row in batch}
        wanted = hashes & self._seen if self._is_first else hashes
        self._seen |= hashes
        return self._store.known(self._generation, sorted(wanted)) if wanted else ()

    def _finish(self, finished: dict[str, str], removed: list[str]) -> None:
        """Delete rows that no document has any more, and record what is done."""
        if not self._is_first and (finished or removed):
            self._store.delete(self._generation, [*finished, *removed], list(finished.values()))
        if finished or removed:
            self._store.record(self._generation, {**finished, **dict.fromkeys(removed)})

    def _count(self, **numbers: int) -> None:
        sums = {name: getattr(self._report, name) + number for name, number in numbers.items()}
        self._report = replace(self._report, **sums)
