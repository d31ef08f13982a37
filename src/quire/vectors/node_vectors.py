"""The vectors of nodes by one model: read, appended to, and brought up to date with the index.

Only texts without a vector are embedded. ``vector_files`` says which files they are in.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from quire.embed import Embedder, passages, vectors_of
from quire.errors import StoreError
from quire.index.engine.snapshot import Snapshot
from quire.index.node import Node
from quire.vectors.vector_files import CURRENT, HASH, TABLE, DocumentVectors, Table, current_folder, load_table
from quire.write.atomic_file import replacing

_TEXTS = 2_000
"""About so many texts are embedded before what is done is committed."""


class VectorFolder:
    """The vectors of one model, to be read and appended to."""

    def __init__(self, path: Path, table: Table) -> None:
        self.path = path
        self.table = table
        data = table.hashes
        self._rows = {data[at : at + HASH]: at // HASH for at in range(0, len(data), HASH)}

    @classmethod
    def load(cls, path: Path) -> VectorFolder | None:
        """The vectors in a folder; None if there are none, or if they are damaged."""
        table = load_table(path)
        return None if table is None else cls(path, table)

    def row_of(self, digest: bytes) -> int | None:
        """The row of a text that has been embedded, by its hash."""
        return self._rows.get(digest)

    def append(self, digests: Sequence[bytes], vectors: Any) -> None:
        """Append vectors. They count once the table is committed."""
        rows = np.ascontiguousarray(_unit(np.asarray(vectors, dtype=np.float32)))
        table, dimension = self.table, rows.shape[1]
        if table.dimension not in (0, dimension):
            problem = f"the model returned {dimension} numbers per vector, and {table.dimension} before"
            raise StoreError(str(self.path), problem, "give the model another version, or embed again from the start")
        self.path.mkdir(parents=True, exist_ok=True)
        first = table.count
        with (self.path / table.rows).open("r+b" if first else "wb") as stream:
            stream.truncate(first * 4 * dimension)  # rows of a killed run
            stream.seek(0, os.SEEK_END)
            stream.write(rows.tobytes())
            stream.flush()
            os.fsync(stream.fileno())
        self._rows.update(zip(digests, range(first, first + len(rows)), strict=True))
        self.table = msgspec.structs.replace(table, dimension=dimension, hashes=table.hashes + b"".join(digests))

    def commit(self, documents: dict[str, DocumentVectors]) -> None:
        """Replace the table: from now on these documents have their vectors."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.table = msgspec.structs.replace(self.table, documents=documents)
        with replacing(self.path / TABLE) as stream:
            stream.write(msgspec.msgpack.encode(self.table))

    def compacted(self) -> VectorFolder:
        """The same vectors without rows that no document uses, if these are more than half."""
        table = self.table
        used = sorted({row for vectors in table.documents.values() for row in vectors.rows})
        if 2 * len(used) >= table.count:
            return self
        number = {row: index for index, row in enumerate(used)}
        name = f"rows-{int(table.rows.removeprefix('rows-').removesuffix('.f32')) + 1}.f32"
        with replacing(self.path / name) as stream:
            stream.write(np.ascontiguousarray(self.matrix()[used]).tobytes())
        documents = {
            key: DocumentVectors(vectors.digest, vectors.positions, tuple([number[row] for row in vectors.rows]))
            for key, vectors in table.documents.items()
        }
        hashes = b"".join([table.hashes[row * HASH : (row + 1) * HASH] for row in used])
        compacted = VectorFolder(self.path, msgspec.structs.replace(table, rows=name, hashes=hashes))
        compacted.commit(documents)
        (self.path / table.rows).unlink(missing_ok=True)
        return compacted

    def matrix(self) -> Any:
        """All rows, mapped into memory."""
        table = self.table
        if not table.count:
            return np.zeros((0, max(table.dimension, 1)), dtype=np.float32)
        return np.memmap(self.path / table.rows, np.float32, "r", shape=(table.count, table.dimension))


def folder_for(index: Path, model: str, version: str) -> Path:
    """The folder of a model's vectors."""
    name = blake2b(f"{model}\0{version}".encode(), digest_size=6).hexdigest()
    return index / f"vectors-{name}"


def text_hash(text: str) -> bytes:
    """The key of a text's vector."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH).digest()


def make_current(index: Path, folder: VectorFolder) -> None:
    """Let searches use these vectors, and remove those of other models."""
    with replacing(index / CURRENT) as stream:
        stream.write(folder.path.name.encode())
    for other in index.glob("vectors-*"):
        if other != folder.path and other.is_dir():
            shutil.rmtree(other, ignore_errors=True)


def _unit(vectors: Any) -> Any:
    """Vectors of length 1; a vector of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


class VectorUpdate(NamedTuple):
    """What an update of vectors has done."""

    embedded: int  # texts
    documents: int  # with new or changed vectors
    removed: int  # documents that are gone


def update_vectors(
    index: Path,
    snapshot: Snapshot,
    embedder: Embedder,
    *,
    name: str = "",
    on_progress: Callable[[int, int, str], None] | None = None,
) -> VectorUpdate:
    """Give every node of ``snapshot`` its vector. ``name`` is how ``embed.resolve`` finds the embedder again.

    What is embedded is committed now and then, so an update that is interrupted continues where it was. Searches use
    the vectors of another model until these are complete.
    """
    path = folder_for(index, embedder.name, embedder.version)
    folder = VectorFolder.load(path) or VectorFolder(path, Table(name, embedder.name, embedder.version))
    files = {key: record for key, record in snapshot.files.items() if not record.failed}
    documents = {key: vectors for key, vectors in folder.table.documents.items() if key in files}
    removed = len(folder.table.documents) - len(documents)
    stale = [key for key, record in files.items() if key not in documents or documents[key].digest != record.digest]
    embedded = 0
    for number, (batch, texts) in enumerate(_batches(snapshot, stale, embedder)):
        if on_progress:
            on_progress(number, len(stale), batch[0][0])
        embedded += _embed(folder, embedder, texts)
        for key, owned in batch:
            rows = [folder.row_of(text_hash(text)) for _, text in owned]
            documents[key] = DocumentVectors(
                files[key].digest,
                tuple([position for position, _ in owned]),
                tuple([row for row in rows if row is not None]),
            )
        folder.commit(documents)
    if removed and not stale:
        folder.commit(documents)
    folder = folder.compacted()
    if current_folder(index) != folder.path:
        make_current(index, folder)
    return VectorUpdate(embedded, len(stale), removed)


Owned = tuple[int, str]
"""The position of a node, and one of its passages."""


def _batches(
    snapshot: Snapshot, documents: Sequence[str], embedder: Embedder
) -> Iterator[tuple[list[tuple[str, list[Owned]]], list[str]]]:
    """Some documents with the passages of their nodes, and all these passages."""
    batch: list[tuple[str, list[Owned]]] = []
    texts: list[str] = []
    for key in documents:
        owned = [
            (node.position, text)
            for node in snapshot.nodes_of(key)
            if node.body_text.strip()  # else it would be found by its title, before those that say something
            for text in passages(node_text(node), embedder)
        ]
        batch.append((key, owned))
        texts += [text for _, text in owned]
        if len(texts) >= _TEXTS:
            yield batch, texts
            batch, texts = [], []
    if batch:
        yield batch, texts


def node_text(node: Node) -> str:
    """The text of a node that is embedded: where it is in the document, and what it says."""
    return f"{' > '.join(node.breadcrumb)}\n\n{node.body_text}".strip()


def _embed(folder: VectorFolder, embedder: Embedder, texts: Sequence[str]) -> int:
    """Embed those texts that have no vector yet; return how many these were."""
    missing = {digest: text for text in texts if folder.row_of(digest := text_hash(text)) is None}
    if not missing:
        return 0
    folder.append(list(missing), vectors_of(embedder, list(missing.values())))
    return len(missing)
