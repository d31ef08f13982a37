"""Brings a store in step with documents, and embeds only what no row has a vector for.

Documents come in parts. This process, others or a cluster cut and embed them; this one alone writes. The order makes a
kill harmless at any moment, because the next sync repeats what is not recorded:

1. record the changed documents of a part as unfinished, so that their rows can be found even if they disappear;
2. write their rows, and record them as written;
3. after the last part, delete rows that no document has any more: moved and renamed texts use their vectors;
4. record the documents as finished;
5. make the generation the live one, if it is a new one.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from quire import __version__, pipeline, read
from quire.auto_slugs import tree_options
from quire.embed.embedder import Embedder, resolve, vectors_of
from quire.embed_settings import DEFAULT_EMBEDDER
from quire.errors import EmbedderError, InputError, QuireError, StoreError
from quire.options import DEFAULT_STRATEGY
from quire.run.arrow import embedder_of
from quire.run.documents import engine_of, results
from quire.run.parts import Cutting, Part, PartResult, Problem, digest, is_shard, is_url, parts_of, read_texts
from quire.run.process_pool import WorkerDied
from quire.stores.mirror import HAS_OLD_ROWS, UNFINISHED, Mirror, batched
from quire.stores.store import Row, Store, failed, opened, parse_target, rows
from quire.trees import OnUndecodable

_BATCH = 256
"""How many rows are embedded and written at a time, unless the embedder says it."""
_MOST_REMOVED = 5
"""A sync that removes more than one in so many documents needs permission."""

OnProgress = Callable[[int, int, int], None]
"""Called with the number of parts done, of all parts with changes, and of rows so far."""
Permission = Callable[[str], bool]
"""Asks whether documents may be removed; gets the question."""


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
    """Whether the model, its version or the layout of rows changed, so that all rows were made anew."""
    failed: tuple[tuple[str, str], ...] = field(default=())
    """Documents that could not be read, with the reason. Their rows stay."""


def sync(
    path: str | PathLike[str],
    to: str,
    *,
    embedder: object = DEFAULT_EMBEDDER,
    strategy: str = DEFAULT_STRATEGY,
    dry_run: bool = False,
    rebuild: bool = False,
    delete: bool | Permission = False,
    engine: str | None = None,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
    errors: OnUndecodable = "strict",
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    **options: Any,
) -> SyncReport:
    """Bring the store ``to`` in step with the documents of a folder, a URL or shards (``shards/*.parquet``).

    ``to`` is ``lancedb:DIR``, ``pgvector:URL``, ``chroma:DIR`` or ``qdrant:DIR``, with ``#NAME`` for another table than
    ``quire``. ``embedder`` is a name, an embedder or a function. ``rebuild`` removes quire's tables first. ``delete``
    allows a sync to remove more than a fifth of the documents. ``engine`` is ``local`` (all cores) or ``ray``; by
    default this process does the work. Other options are those of ``quire.chunk_dir``.
    """
    pipeline.chunk("", strategy, **options)
    source = fspath(path)
    read.decode(b"", source, errors)
    included, excluded = pipeline.patterns("include", include), pipeline.patterns("exclude", exclude)
    parts, problems = parts_of(source, include=included, exclude=excluded)
    if problems:
        raise InputError(*problems[0])
    if not parts:
        raise QuireError(f"{path}: no documents, so nothing is synced", "quire looks for Markdown and .txt files")
    if os.path.isdir(source):  # noqa: PTH112  no URL, no shards
        options = tree_options(options, (), Path(source))
    return sync_parts(
        [part._replace(errors=errors) for part in parts],
        to,
        Cutting({"": {"strategy": strategy, **options}}),
        root=root_of([source]),
        embedder=embedder,
        dry_run=dry_run,
        rebuild=rebuild,
        delete=delete,
        engine=engine,
        workers=workers,
        on_progress=on_progress,
    )


def root_of(paths: Sequence[str]) -> str:
    """What a store remembers as the origin of its documents: paths from the project's folder, else absolute ones."""
    return ", ".join(sorted(_root(path) for path in paths))


def _root(path: str) -> str:
    if is_url(path):
        return path
    folder = Path(path).resolve()
    marks = (".git", "quire.toml")
    top = next((each for each in (folder, *folder.parents) if any((each / mark).exists() for mark in marks)), None)
    return str(folder) if top is None else folder.relative_to(top).as_posix()


def sync_parts(
    parts: Sequence[Part],
    to: str,
    cutting: Cutting,
    *,
    root: str,
    embedder: object = DEFAULT_EMBEDDER,
    dry_run: bool = False,
    rebuild: bool = False,
    delete: bool | Permission = False,
    engine: str | None = None,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> SyncReport:
    """Bring a store in step with the documents of parts; ``root`` says where these come from."""
    parse_target(to)  # before a model is loaded
    model = resolve(embedder)
    with opened(to, dry_run=dry_run, rebuild=rebuild) as (store, name), _explained(store):
        work = _Work(cutting, embedder, model, engine, workers)
        mirror = Mirror(store, name, model)
        return _Sync(store.target, mirror, work, dry_run=dry_run, on_progress=on_progress).run(parts, root, delete)


@contextmanager
def _explained(store: Store) -> Iterator[None]:
    """Make an exception of the store's package a StoreError."""
    try:
        yield
    except QuireError:
        raise
    except store.errors as error:
        raise failed(store.target, "", error) from error


class _Work(NamedTuple):
    """Who cuts and embeds."""

    cutting: Cutting
    embedder: Any
    """The name or the settings of the model, if it has any; other processes load it by them."""
    model: Embedder
    engine: str | None
    workers: int | None

    def hashes(self, parts: Sequence[Part]) -> Iterator[PartResult]:
        """The hashes of each part's documents, by name."""
        return results(parts, partial(_hashes, self.cutting), engine=self.engine, workers=self.workers)

    def rows(self, parts: Sequence[Part]) -> Iterator[PartResult]:
        """The hashes of each part's documents, and their rows without vectors."""
        work = partial(_rows, self.cutting, self.embedder if self.engine else self.model)
        return results(parts, work, engine=self.engine, workers=self.workers)

    def vectors(self, texts: Iterable[list[str]]) -> Iterator[Any]:
        """The vectors of each list of texts, in order."""
        is_named = isinstance(self.embedder, str)  # an endpoint has its limits: one process calls it
        run = engine_of(self.engine if is_named else None)
        with closing(run(texts, partial(_embed, self.embedder if is_named else self.model), self.workers)) as running:
            for some, vectors in running:
                if isinstance(vectors, WorkerDied):
                    raise EmbedderError(f"{self.model.name}: the process that embedded {len(some)} texts died")
                yield vectors


def _hashes(cutting: Cutting, part: Part) -> PartResult:
    pairs, problems = read_texts(part)
    return PartResult(_hashed(cutting, part, pairs), tuple(problems))


def _hashed(cutting: Cutting, part: Part, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The names of documents with a hash of all that their rows depend on, besides the model."""
    kind, settings = cutting.content_type(part), cutting.settings(part)
    names = ((f"{kind}:{path}", text) for path, text in pairs)
    return {name: digest(name, settings, __version__, text) for name, text in names}


def _rows(cutting: Cutting, embedder: Any, part: Part) -> PartResult:
    pairs, problems = read_texts(part)
    model = embedder_of(embedder)
    hashes: dict[str, str] = {}
    all_rows: list[Row] = []
    for path, text in pairs:
        ((name, hash_),) = _hashed(cutting, part, [(path, text)]).items()
        try:
            all_rows += rows(cutting.cut(part, path, text), name, hash_, model)
            hashes[name] = hash_
        except QuireError as error:
            problems.append(Problem(path, error.reason))
    return PartResult((hashes, all_rows), tuple(problems))


def _embed(embedder: Any, texts: list[str]) -> Any:
    """The vectors of texts, in any process."""
    return vectors_of(embedder_of(embedder), texts) if texts else []


class _Batch(NamedTuple):
    """Rows to embed and write together."""

    rows: list[Row]
    vectors: dict[tuple[str, int], Any]
    """Those that the store has."""
    missing: dict[tuple[str, int], Row]
    """Those to embed."""
    begins: Mapping[str, str]
    """The hashes of the documents of a part, in its first batch."""
    ends: Mapping[str, str]
    """The same, in its last batch."""


class _Sync:
    """One sync."""

    def __init__(
        self, target: str, mirror: Mirror, work: _Work, *, dry_run: bool, on_progress: OnProgress | None
    ) -> None:
        self._target, self._mirror, self._work = target, mirror, work
        self._is_dry = dry_run
        self._on_progress = on_progress
        self._batch = getattr(work.model, "batch", _BATCH)
        self._seen: set[int] = set()
        """The texts that this sync embeds, as short hashes."""
        self._waiting: deque[_Batch] = deque()
        """The batches whose texts are being embedded."""
        self._stale: dict[str, str | None] = {}
        """The documents that may have rows to delete, with their hashes; None if they are gone."""
        self._failed: list[tuple[str, str]] = []
        self._report = SyncReport(generation=mirror.generation)

    def run(self, parts: Sequence[Part], root: str, delete: bool | Permission) -> SyncReport:
        mirror = self._mirror
        types = {self._work.cutting.content_type(part) for part in parts}
        changed = list(self._compare(parts, types)) if mirror.documents or mirror.replaced else parts
        removed = [name for name, hash_ in self._stale.items() if hash_ is None]
        self._count(removed=len(removed))
        if removed and not self._is_dry:
            self._check_removal(len(removed), types, root, delete)
        cut = self._cut(changed)
        if self._is_dry:
            for _ in cut:
                self._waiting.clear()
        else:
            for vectors in self._work.vectors(cut):
                self._write(self._waiting.popleft(), vectors)
            self._finish(dict.fromkeys(types, root))
        is_new = mirror.live not in (None, mirror.generation)
        return replace(self._report, is_new_generation=is_new, failed=tuple(self._failed))

    def _compare(self, parts: Sequence[Part], types: set[str]) -> Iterator[Part]:
        """The parts that have changed documents, with these alone."""
        recorded, kinds = self._mirror.documents, tuple(f"{each}:" for each in types)
        gone = {name for name in recorded or self._mirror.replaced if name.startswith(kinds)}
        is_complete = True
        for part, done in zip(parts, self._work.hashes(parts), strict=True):
            kind = self._work.cutting.content_type(part)
            gone -= {f"{kind}:{problem.path}" for problem in done.problems}
            is_complete &= not (done.problems and is_shard(part.source))  # it may be any document that cannot be read
            self._fail(part, done)
            hashes = done.value or {}
            gone -= hashes.keys()
            changed = []
            for name, hash_ in hashes.items():
                if recorded.get(name, "").rstrip(HAS_OLD_ROWS) != hash_:
                    changed.append(name.removeprefix(f"{kind}:"))
                elif recorded[name] != hash_:
                    self._stale[name] = hash_
            self._count(unchanged=len(hashes) - len(changed))
            if changed:
                yield part._replace(paths=tuple(changed))
        if is_complete:
            self._stale |= dict.fromkeys(sorted(gone))

    def _check_removal(self, count: int, types: set[str], root: str, delete: bool | Permission) -> None:
        """Raise a StoreError if more documents would disappear than a user is likely to mean."""
        kinds = tuple(f"{each}:" for each in types)
        total = sum(name.startswith(kinds) for name in self._mirror.documents or self._mirror.replaced)
        roots = {self._mirror.roots[each] for each in types if each in self._mirror.roots}
        origin = f", which are those of {' and '.join(sorted(roots))}" if roots else ""
        if delete is True or (_MOST_REMOVED * count <= total and roots <= {root}):
            return
        problem = f"a sync of {root} would delete {count:,} of its {total:,} documents{origin}"
        if delete is False or not delete(f"{self._target}: {problem}. Delete them?"):
            advice = "allow it with --delete (in Python delete=True), or sync to another table: add #NAME to the target"
            raise StoreError(self._target, problem, advice)

    def _fail(self, part: Part, done: PartResult) -> None:
        self._failed += [(part.name(path), reason) for path, reason in done.problems]

    def _cut(self, changed: Sequence[Part]) -> Iterator[list[str]]:
        """The texts to embed; their batches are added to those that wait for vectors."""
        for number, (part, done) in enumerate(zip(changed, self._work.rows(changed), strict=True)):
            self._fail(part, done)
            hashes, made = done.value or ({}, [])
            known = sum(name in self._mirror.documents for name in hashes)
            self._count(added=len(hashes) - known, changed=known)
            groups = list(batched(made, self._batch)) or ([[]] if hashes else [])
            for index, some in enumerate(groups):
                is_last = index == len(groups) - 1
                batch = self._plan(some, begins={} if index else hashes, ends=hashes if is_last else {})
                self._waiting.append(batch)
                yield [row.columns["text"] for row in batch.missing.values()]
                if self._on_progress:
                    self._on_progress(number, len(changed), self._report.rows)

    def _plan(self, some: list[Row], begins: Mapping[str, str], ends: Mapping[str, str]) -> _Batch:
        """A batch with the vectors that the store has, and those that nothing has."""
        hashes = sorted({row.columns["content_hash"] for row in some}) if self._mirror.has_vectors else []
        vectors = self._mirror.vectors(hashes)
        missing = {row.key: row for row in some if row.key not in vectors and hash(row.key) not in self._seen}
        self._seen |= {hash(key) for key in missing}
        self._count(rows=len(some), embedded=len(missing), tokens=sum(row.tokens for row in missing.values()))
        return _Batch(some, vectors, missing, begins, ends)

    def _write(self, batch: _Batch, embedded: Any) -> None:
        mirror = self._mirror
        if batch.begins:
            mirror.record(dict.fromkeys(batch.begins, UNFINISHED))
        vectors = batch.vectors | dict(zip(batch.missing, embedded, strict=True))
        if lacking := {row.key: row for row in batch.rows if row.key not in vectors}:  # an earlier batch has them
            vectors |= mirror.vectors(sorted({content for content, _ in lacking}))
            lacking = {key: row for key, row in lacking.items() if key not in vectors}  # two texts of one short hash
            embedded = _embed(self._work.model, [row.columns["text"] for row in lacking.values()])
            vectors |= dict(zip(lacking, embedded, strict=True))
        if batch.rows:
            mirror.write([row.with_vector(vectors[row.key]) for row in batch.rows])
        if batch.ends and mirror.is_first:
            mirror.record(batch.ends)
        elif batch.ends:
            mirror.record({name: hash_ + HAS_OLD_ROWS for name, hash_ in batch.ends.items()})
            self._stale.update(batch.ends)

    def _finish(self, roots: Mapping[str, str]) -> None:
        """Delete rows that no document has any more, record what is done, and make the generation the live one."""
        mirror = self._mirror
        mirror.delete(self._stale)
        if self._stale or {**mirror.roots, **roots} != mirror.roots:
            mirror.record(self._stale, roots)
        if not self._failed or mirror.live in (None, mirror.generation):
            mirror.publish()

    def _count(self, **numbers: int) -> None:
        sums = {name: getattr(self._report, name) + number for name, number in numbers.items()}
        self._report = replace(self._report, **sums)
