"""Brings a store in step with documents, and embeds only what no row has a vector for.

Documents come in parts. This process, others or a cluster cut and embed them; this one alone writes. The order makes a
kill harmless at any moment, because the next sync repeats what is not recorded:

1. record the documents of a part as unfinished, so that their rows can be found even if they disappear;
2. write their rows, and record new documents as finished;
3. after the last part, record removed documents as unfinished too: they may come back;
4. delete rows that no document has any more, not earlier: moved and renamed texts use their vectors;
5. record changed and removed documents as finished;
6. make the generation the live one, if it is a new one.

A file of this machine whose size and times are those of the log is not read, by the rule of index/changed_files.py.
"""

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from quire import __version__, pipeline
from quire.embed.embedder import Embedder, resolve, vectors_of
from quire.errors import EmbedderError, InputError, QuireError, StoreError
from quire.index.changed_files import is_racy
from quire.links.auto_slugs import tree_options
from quire.model.operating_system import digest
from quire.model.options import DEFAULT_STRATEGY, within_window
from quire.model.trees import OnUndecodable
from quire.run.engines import engine_of, results
from quire.run.parts import Part, PartResult, Problem, is_shard, is_url, parts_of, read_texts
from quire.run.workers import WorkerDied
from quire.stores.chunk_rows import Row, rows
from quire.stores.store import batched, opened, parse_target
from quire.stores.sync_state import UNFINISHED, SyncState

_BATCH = 256  # how many rows are embedded and written at a time, unless the embedder says it
_MOST_REMOVED = 5  # a sync that removes more than one in so many documents needs permission

_AND_STAMP = " "  # between the recorded hash of a document and its stamp

OnProgress = Callable[[int, int, int], None]  # gets the number of parts done, of parts with changes, of rows so far
Permission = Callable[[str], bool]  # gets the question whether documents may be removed


@dataclass(frozen=True)
class SyncReport:
    """What a sync did, or what it would do."""

    added: int = 0  # documents that are new
    changed: int = 0  # documents that changed, or whose options did
    removed: int = 0  # documents that are gone
    unchanged: int = 0  # documents that were not cut again
    rows: int = 0  # rows of new and changed documents
    embedded: int = 0  # texts that were embedded
    tokens: int = 0  # the tokens of these texts, as the chunks count them
    cut: int = 0  # chunks that are longer than the model's window, and have a row for each passage
    generation: str = ""  # model, version and window
    window: int = 0  # how many tokens of a text the model reads; 0 for any number
    is_new_generation: bool = False  # whether model, version or layout of rows changed, so that all rows were made anew
    failed: tuple[tuple[str, str], ...] = ()  # documents that could not be read, with the reason; their rows stay


class Documents(NamedTuple):
    """The documents of a sync, if they are more than those of one path."""

    parts: Sequence[Part]
    root: str  # what a store remembers as their origin


def sync(
    path: str | PathLike[str] | Documents,
    to: str,
    *,
    embedder: object = None,
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
    ``quire``. ``embedder`` is what ``quire.embed.resolve`` takes, and must be given; its window is the cap of chunks
    unless a size is. ``rebuild`` removes quire's tables first. ``delete`` allows a sync to remove more than a fifth of
    the documents. ``engine`` is ``local`` (all cores) or ``ray``; by default this process does the work. Other options
    are those of ``quire.chunk_dir``.
    """
    if not isinstance(path, Documents):
        pipeline.check_options(strategy, options, errors)
        patterns = {"include": pipeline.patterns("include", include), "exclude": pipeline.patterns("exclude", exclude)}
        path = _documents(fspath(path), {"strategy": strategy, **options}, errors, patterns)
    *_, label = parse_target(to)  # before a model is loaded
    model = resolve(embedder)
    parts = [part._replace(options=within_window(part.options, model.window)) for part in path.parts]
    with opened(to, dry_run=dry_run, rebuild=rebuild) as (store, name):
        state = SyncState(store, name, model)
        work = _Sync(state, embedder, model, engine, workers, _stamps(parts))
        changed = list(work.compare(parts)) if work.recorded(parts) else parts
        batches = work.batches(changed, on_progress, is_dry=dry_run)
        if dry_run:
            deque(batches, maxlen=0)
        else:
            work.check_removal(label, parts, path.root, delete)
            for batch, vectors in work.embed(batches):
                work.write(batch, vectors)
            work.finish({part.content_type: path.root for part in parts})
        is_new = state.live not in (None, state.generation)
        known: Any = {**work.counts, "generation": state.generation, "window": model.window}
        return SyncReport(**known, is_new_generation=is_new, failed=tuple(work.failed))


def _documents(source: str, options: dict[str, Any], errors: OnUndecodable, patterns: Mapping[str, Any]) -> Documents:
    parts, problems = parts_of(source, **patterns)
    if problems:
        raise InputError(*problems[0])
    if not parts:
        raise QuireError(f"{source}: no documents, so nothing is synced", "quire looks for Markdown and .txt files")
    if os.path.isdir(source):  # noqa: PTH112  no URL, no shards
        options = tree_options(options, (), Path(source))
    return Documents([part._replace(options=options, errors=errors) for part in parts], root_of([source]))


def root_of(paths: Sequence[str]) -> str:
    """What a store remembers as the origin of its documents: paths from the project's folder, else absolute ones."""

    def root(folder: Path) -> str:
        for project in (folder, *folder.parents):
            if (project / ".git").exists() or (project / "quire.toml").exists():
                return folder.relative_to(project).as_posix()
        return str(folder)

    return ", ".join(sorted(path if is_url(path) else root(Path(path).resolve()) for path in paths))


def _stamps(parts: Sequence[Part]) -> dict[str, str]:
    """For each document in a local file a text that changes with its size, times and options; none if it is racy."""
    now, stamps = time.time_ns(), dict[str, str]()
    for part in parts:
        settings = digest([__version__, part.settings, part.errors, part.encoding])
        for path in () if is_url(part.source) else part.paths:
            with suppress(OSError, ValueError):
                status = os.stat(os.path.join(part.source, path))  # noqa: PTH116, PTH118  there may be thousands
                times = status.st_mtime_ns, status.st_ctime_ns
                if not is_racy(max(times), now):
                    stamps[f"{part.content_type}:{path}"] = digest([settings, f"{status.st_size} {times}"])
    return stamps


def _rows(embedder: Any, part: Part) -> PartResult:
    """The hashes of all that the rows of documents depend on, besides the model; their rows if there is an embedder."""
    texts, problems = read_texts(part)
    settings, hashes, all_rows = part.settings, dict[str, str](), list[Row]()
    documents = ((*each, None) for each in texts) if embedder is None else part.cut(texts, problems)
    for path, text, chunks in documents:
        name = f"{part.content_type}:{path}"
        hashes[name] = digest([name, settings, __version__, text])
        if chunks:
            all_rows += rows(chunks, name, hashes[name], resolve(embedder), part.options.get("tokenizer"))
    return PartResult((hashes, all_rows), problems)


def _embed(embedder: Any, batch: "_Batch") -> Any:
    """The vectors of a batch's texts, in any process."""
    return vectors_of(resolve(embedder), [*batch.texts.values()]) if batch.texts else []


class _Batch(NamedTuple):
    """Rows to embed and write together."""

    rows: list[Row]
    vectors: dict[tuple[str, int], Any]  # those that the store has
    texts: dict[tuple[str, int], str]  # the texts to embed, by the keys of their rows
    finished: Mapping[str, str]  # the hashes of the new documents of a part, in its last batch

    def __reduce__(self) -> tuple[Any, ...]:
        return _Batch, ([], {}, self.texts, {})  # other processes embed the texts, and need nothing else


class _Sync(msgspec.Struct):
    """One sync: how it works, and what it has found so far."""

    state: SyncState
    embedder: Any  # the name or the settings of the model, if it has any; other processes load it by them
    model: Embedder
    engine: str | None
    workers: int | None
    stamps: Mapping[str, str]
    stale: dict[str, str | None] = {}
    """The documents that may have rows to delete, with their hashes; None if they are gone."""
    touched: dict[str, str] = {}  # unchanged documents that have other stamps, with their hashes
    failed: list[tuple[str, str]] = []
    counts: Counter[str] = msgspec.field(default_factory=Counter)

    def compare(self, parts: Sequence[Part]) -> Iterator[Part]:
        """The parts that have changed documents, with these alone."""
        known = {name: text.partition(_AND_STAMP) for name, text in self.state.documents.items() if text}
        same = {name for name, stamp in self.stamps.items() if name in known and known[name][2] == stamp}
        gone, is_complete = self.recorded(parts) - same, True
        self.counts["unchanged"] = len(same)
        unread = []
        for part in parts:
            paths = tuple(path for path in part.paths if f"{part.content_type}:{path}" not in same)
            unread += [part._replace(paths=paths)] if paths or is_shard(part.source) else []
        for part, (hashes, _), problems in self._results(unread, None):
            kind = part.content_type
            is_complete &= not (problems and is_shard(part.source))  # it may be any document that cannot be read
            gone -= {*hashes, *(f"{kind}:{problem.path}" for problem in problems)}
            unchanged = {name: hash_ for name, hash_ in hashes.items() if name in known and known[name][0] == hash_}
            self.touched |= {name: hash_ for name, hash_ in unchanged.items() if name in self.stamps}
            self.counts["unchanged"] += len(unchanged)
            if changed := tuple(name.removeprefix(f"{kind}:") for name in hashes if name not in unchanged):
                yield part._replace(paths=changed)
        if is_complete:
            self.stale |= dict.fromkeys(sorted(gone))
            self.counts["removed"] = len(gone)

    def _record(self, hashes: Mapping[str, str | None], roots: Mapping[str, str] | None = None) -> None:
        """Record documents as finished; None forgets one."""
        stamped = {name: hash_ and f"{hash_}{_AND_STAMP}{self.stamps.get(name, '')}" for name, hash_ in hashes.items()}
        self.state.record(stamped, roots)

    def check_removal(self, label: str, parts: Sequence[Part], root: str, delete: bool | Permission) -> None:
        """Raise a StoreError if more documents would disappear than a user is likely to mean."""
        count, total, known = self.counts["removed"], len(self.recorded(parts)), self.state.roots
        roots = {known[part.content_type] for part in parts if part.content_type in known}
        if not count or delete is True or (_MOST_REMOVED * count <= total and roots <= {root}):
            return
        origin = f", which are those of {' and '.join(sorted(roots))}" if roots else ""
        problem = f"a sync of {root} would delete {count:,} of its {total:,} documents{origin}"
        if delete is False or not delete(f"{label}: {problem}. Delete them?"):
            advice = "allow it with --delete (in Python delete=True), or sync to another table: add #NAME to the target"
            raise StoreError(label, problem, advice)

    def recorded(self, parts: Sequence[Part]) -> set[str]:
        """The documents in the store that have the content types of these parts."""
        kinds = tuple({f"{part.content_type}:" for part in parts})
        return {name for name in self.state.documents or self.state.replaced if name.startswith(kinds)}

    def _results(self, parts: Sequence[Part], embedder: Any) -> Iterator[tuple[Part, Any, Sequence[Problem]]]:
        """Each part with what ``_rows`` returns, and its problems, which are reported."""
        done = results(parts, partial(_rows, embedder), engine=self.engine, workers=self.workers)
        for part, (value, problems) in zip(parts, done, strict=True):
            self.failed += [(part.name(path), reason) for path, reason in problems]
            yield part, value or ({}, []), problems

    def batches(self, changed: Sequence[Part], on_progress: OnProgress | None, *, is_dry: bool) -> Iterator[_Batch]:
        """The rows of changed documents; each text is in one batch only."""
        state, embedder = self.state, self.embedder if self.engine else self.model
        seen: set[int] = set()  # short hashes
        for number, (_, (hashes, all_rows), _) in enumerate(self._results(changed, embedder)):
            new = {name: hash_ for name, hash_ in hashes.items() if name not in state.documents}
            self.stale |= {name: hash_ for name, hash_ in hashes.items() if name not in new}
            self.counts.update(added=len(new), changed=len(hashes) - len(new))
            if hashes and not is_dry:
                state.record(dict.fromkeys(hashes, UNFINISHED))
            groups = list(batched(all_rows, getattr(self.model, "batch", _BATCH))) or [[]]
            for some in groups:
                content_hashes = {row.columns["content_hash"] for row in some} if state.has_vectors else ()
                vectors = state.vectors(sorted(content_hashes))
                missing = {row.key: row for row in some if row.key not in vectors and hash(row.key) not in seen}
                seen |= {hash(key) for key in missing}
                tokens, cut = sum(row.tokens for row in missing.values()), sum(row.key[1] == 1 for row in some)
                self.counts.update(rows=len(some), embedded=len(missing), tokens=tokens, cut=cut)
                texts = {key: row.columns["text"] for key, row in missing.items()}
                yield _Batch(some, vectors, texts, new if some is groups[-1] else {})
                if on_progress:
                    on_progress(number, len(changed), self.counts["rows"])

    def embed(self, batches: Iterable[_Batch]) -> Iterator[tuple[_Batch, Any]]:
        """Each batch with the vectors of its texts."""
        is_named = isinstance(self.embedder, str)  # an endpoint has its limits: one process calls it
        run = engine_of(self.engine if is_named else None)
        with closing(run(batches, partial(_embed, self.embedder if is_named else self.model), self.workers)) as running:
            for batch, vectors in running:
                if isinstance(vectors, WorkerDied):
                    raise EmbedderError(f"{self.model.name}: the process that embedded {len(batch.texts)} texts died")
                yield batch, vectors

    def write(self, batch: _Batch, embedded: Any) -> None:
        """Write the rows of a batch, and record its documents if all their rows are written."""
        state = self.state
        vectors = batch.vectors | dict(zip(batch.texts, embedded, strict=True))
        lacking = {row.key: row.columns["text"] for row in batch.rows if row.key not in vectors}
        if lacking:  # an earlier batch has them
            vectors |= state.vectors(sorted({content for content, _ in lacking}))
            lacking = {key: text for key, text in lacking.items() if key not in vectors}  # two texts of one short hash
            vectors |= dict(zip(lacking, _embed(self.model, batch._replace(texts=lacking)), strict=True))
        if batch.rows:
            state.write([row._replace(vector=vectors[row.key]) for row in batch.rows])
        if batch.finished:
            self._record(batch.finished)

    def finish(self, roots: Mapping[str, str]) -> None:
        """Delete rows that no document has any more, record what is done, and make the generation the live one."""
        state = self.state
        if removed := [name for name, hash_ in self.stale.items() if hash_ is None]:
            state.record(dict.fromkeys(removed, UNFINISHED))
        if not state.has_table and state.documents:  # all are empty; a log without a table does not count
            state.create(len(vectors_of(self.model, [self.model.name])[0]))
        state.delete(self.stale)
        if self.stale or self.touched or {**state.roots, **roots} != state.roots:
            self._record(self.stale | self.touched, roots)
        if not self.failed or state.live in (None, state.generation):
            state.publish()
