"""Search by meaning: the nodes whose vectors are nearest to that of a query. Needs NumPy."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from quire.embed.embedder import NAMES, Embedder, passages, resolve, vectors_of
from quire.errors import StoreError
from quire.index.engine.snapshot import Location, Snapshot
from quire.index.file_records import FileRecord
from quire.output.atomic_file import replacing
from quire.run.workers import batches
from quire.search.ranking import VectorMatches
from quire.search.vector_files import CURRENT, TABLE, DocumentVectors, Table, current_folder, load_table, remove_vectors

_LIMIT = 100  # how many nodes are found by meaning
_PASSAGES = 4  # a node may have several vectors, so this many times as many are looked at
_TEXTS = 2_000  # about so many texts are embedded before what is done is committed

OnProgress = Callable[[int, int, str], None]
IsWanted = Callable[[FileRecord], bool]
Passages = list[tuple[int, bytes, str]]  # of a document: the position of a node, and one of its passages by its hash


class VectorUpdate(NamedTuple):
    """What an update of vectors has done."""

    embedded: int  # texts
    documents: int  # with new or changed vectors
    removed: int  # documents that are gone


class VectorSearch:
    """The vectors of an index."""

    def __init__(self, index: Path, embedder: object = None) -> None:
        self._index, self._configured = index, embedder
        self._embedder: Embedder | None = None
        self._last: tuple[Snapshot, int, _NodeVectors] | None = None

    def update(self, snapshot: Snapshot, embedder: object, on_progress: OnProgress | None = None) -> VectorUpdate:
        """Give every node its vector; None is the embedder of the last time, else the configured one."""
        # What is embedded is committed now and then, so an update that is interrupted continues where it was. Searches
        # use the vectors of another model until these are complete.
        is_known = embedder is None and current_folder(self._index) is not None
        model = self._embedder = self.embedder() if is_known else resolve(embedder or self._configured)
        self._last = None
        name = blake2b(f"{model.name}\0{model.version}".encode(), digest_size=6).hexdigest()
        path = self._index / f"vectors-{name}"
        path.mkdir(parents=True, exist_ok=True)
        named = embedder if isinstance(embedder, str) and embedder in NAMES else ""  # how ``resolve`` finds it again
        rows = _Rows(path, load_table(path) or Table(named, model.name, model.version))
        files = {key: record for key, record in snapshot.files.items() if not record.problem}
        documents = rows.table.usable(files)
        removed, embedded = len(rows.table.documents.keys() - files), 0
        stale = [key for key in files if key not in documents]
        read = ((key, _passages(snapshot, key, model)) for key in stale)
        for batch in batches((((key, owned), len(owned)) for key, owned in read), most=_TEXTS):
            if on_progress:
                on_progress(stale.index(batch.items[0][0]), len(stale), batch.items[0][0])
            embedded += rows.embed({digest: text for _, owned in batch.items for _, digest, text in owned}, model)
            for key, owned in batch.items:
                positions, hashes, _ = zip(*owned, strict=True) if owned else ((), (), ())
                documents[key] = DocumentVectors(files[key].digest, positions, hashes)
            rows.commit(documents)
        if removed and not stale:
            rows.commit(documents)
        if current_folder(self._index) != path:
            with replacing(self._index / CURRENT) as stream:
                stream.write(path.name.encode())
            remove_vectors(self._index, keep=path)
        return VectorUpdate(embedded, len(stale), removed)

    def finder(self, snapshot: Snapshot, weight: float, is_wanted: IsWanted) -> Callable[[str], VectorMatches]:
        """A function that finds the nodes nearest to a query."""
        folder = current_folder(self._index)
        changed = (folder / TABLE).stat().st_mtime_ns if folder and (folder / TABLE).exists() else 0
        if self._last is None or self._last[:2] != (snapshot, changed):
            self._last = snapshot, changed, _NodeVectors(self._vectors(), snapshot)
        vectors = self._last[2]
        return partial(vectors.nearest, self._known_embedder(vectors.table), weight=weight, is_wanted=is_wanted)

    def embedder(self) -> Embedder:
        """The embedder of the vectors."""
        return self._known_embedder(self._vectors().table)

    def _vectors(self) -> "_Rows":
        folder = current_folder(self._index)
        if folder is None or (table := load_table(folder)) is None:
            raise StoreError(str(self._index), "has no vectors", "run: quire index --vectors, or Index.embed")
        return _Rows(folder, table)

    def _known_embedder(self, table: Table) -> Embedder:
        """The embedder that was used last, else the one that the table names, else the configured one."""
        model, embedder = (table.model, table.version), self._embedder
        if embedder is None or (embedder.name, embedder.version) != model:
            is_named = table.embedder in NAMES  # not a folder or an endpoint: the index may be a stranger's
            configured = table.embedder if is_named else self._configured
            embedder = None if configured is None else resolve(configured)
            if embedder is None or not (is_named or (embedder.name, embedder.version) == model):
                problem = f"its vectors are those of {' '.join(filter(None, model))}"
                advice = "name this model: [embed] in your own quire.toml, or Index.open"
                raise StoreError(str(self._index), problem, advice)
            self._embedder = embedder
        return embedder


class _Rows:
    """The vectors of one model, to be read and appended to."""

    def __init__(self, path: Path, table: Table) -> None:
        self.path, self.table = path, table
        self.numbers = {digest: number for number, digest in enumerate(table.hashes)}  # the row of each text

    def embed(self, texts: Mapping[bytes, str], embedder: Embedder) -> int:
        """Append the vectors of texts that have none; return how many these are. They count once they are committed."""
        missing = {digest: text for digest, text in texts.items() if digest not in self.numbers}
        if not missing:
            return 0
        rows = _unit(vectors_of(embedder, list(missing.values())))
        table, dimension, first = self.table, rows.shape[1], len(self.table.hashes)
        if table.dimension not in (0, dimension):
            problem = f"the model returned {dimension} numbers per vector, and {table.dimension} before"
            raise StoreError(str(self.path), problem, "give the model another version, or embed again from the start")
        with (self.path / table.rows).open("r+b" if first else "wb") as stream:
            stream.truncate(first * 4 * dimension)  # rows of a killed run
            stream.seek(0, os.SEEK_END)
            stream.write(rows.tobytes())
            stream.flush()
            os.fsync(stream.fileno())
        self.numbers.update(zip(missing, range(first, first + len(rows)), strict=True))
        table.dimension = dimension
        table.hashes.extend(missing)
        return len(missing)

    def commit(self, documents: dict[str, DocumentVectors]) -> None:
        """Replace the table: from now on these documents have their vectors."""
        self.table.documents = documents
        with replacing(self.path / TABLE) as stream:
            stream.write(msgspec.msgpack.encode(self.table))


def _unit(vectors: Any) -> Any:
    """Vectors of length 1."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(lengths == 0, 1, lengths))


def _passages(snapshot: Snapshot, key: str, embedder: Embedder) -> Passages:
    return [
        (node.position, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), text)
        for node in snapshot.nodes_of(key)
        if node.body_text.strip()  # else it would be found by its title, before those that say something
        for text in passages(f"{' > '.join(node.breadcrumb)}\n\n{node.body_text}".strip(), embedder)
    ]


class _NodeVectors:
    """The vectors of a snapshot's nodes. A document that has changed since it was embedded has none."""

    def __init__(self, rows: _Rows, snapshot: Snapshot) -> None:
        usable = rows.table.usable(snapshot.files)
        self.table, documents = rows.table, usable.values()
        self._records = [snapshot.files[key] for key in usable]
        hashes = (digest for vectors in documents for digest in vectors.hashes)
        self._rows = np.fromiter(map(rows.numbers.__getitem__, hashes), dtype=np.int64)
        self._positions = [position for vectors in documents for position in vectors.positions]
        self._documents: Any = np.repeat(np.arange(len(usable)), [len(vectors.hashes) for vectors in documents])
        shape, path = (len(self.table.hashes), self.table.dimension), rows.path / self.table.rows
        self._matrix = np.memmap(path, np.float32, "r", shape=shape) if shape[0] else np.zeros((0, 1))

    def nearest(self, embedder: Embedder, query: str, *, weight: float, is_wanted: IsWanted) -> VectorMatches:
        """The nodes nearest to ``query``, of documents that are wanted."""
        wanted = np.array([is_wanted(record) for record in self._records], dtype=bool)
        candidates = np.flatnonzero(wanted[self._documents])
        if not len(candidates):
            return VectorMatches({}, 0.0, weight)
        embed_query = getattr(embedder, "embed_query", None)  # some models embed queries in another way than passages
        vector = _unit(embed_query(query) if embed_query else embedder.embed([query])[0])
        scores = (self._matrix @ vector)[self._rows[candidates]]
        count = min(_PASSAGES * _LIMIT, len(scores))
        first = np.argpartition(-scores, count - 1)[:count]
        best: dict[Location, float] = {}
        for index in first[np.argsort(-scores[first], kind="stable")]:
            if len(best) < _LIMIT:
                at = candidates[index]
                best.setdefault((self._records[self._documents[at]].id, self._positions[at]), float(scores[index]))
        return VectorMatches(best, float(np.median(scores)), weight)
