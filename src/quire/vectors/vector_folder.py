"""The vectors of one model on disk: rows of numbers, and a table that says which nodes they belong to.

    .quire/vectors-3fa2.../rows-1.f32   unit vectors, one after the other; only ever appended to
    .quire/vectors-3fa2.../table        whose they are; replaced atomically, and with that everything is committed
    .quire/vectors.current              the folder that searches use, replaced when a model's vectors are complete

A vector is found by the hash of its text, so text that moves keeps its vector, and changed text never does. A document
in the table has the digest of the file that it was embedded from: a search ignores it once the index has another one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from quire.errors import StoreError
from quire.write.atomic_file import replacing

CURRENT = "vectors.current"
_HASH = 16
_TABLE = "table"


class DocumentVectors(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The vectors of one document: its nodes by position, and the row of each of their passages."""

    digest: bytes  # of the file
    positions: tuple[int, ...]
    rows: tuple[int, ...]


class Table(msgspec.Struct, frozen=True):
    """Whose the rows are."""

    embedder: str  # how to load it again: a name, or empty for a function
    model: str
    version: str
    dimension: int = 0
    rows: str = "rows-1.f32"
    hashes: bytes = b""  # of the text of each row
    documents: dict[str, DocumentVectors] = {}

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.hashes) // _HASH


_DECODER = msgspec.msgpack.Decoder(Table)


class VectorFolder:
    """The vectors of one model, to be read and appended to."""

    def __init__(self, path: Path, table: Table) -> None:
        self.path = path
        self.table = table
        data = table.hashes
        self._known = {data[at : at + _HASH]: at // _HASH for at in range(0, len(data), _HASH)}

    @classmethod
    def load(cls, path: Path) -> VectorFolder | None:
        """The vectors in a folder; None if there are none, or if they are damaged."""
        try:
            table = _DECODER.decode((path / _TABLE).read_bytes())
            size = (path / table.rows).stat().st_size if table.count else 0
        except (OSError, msgspec.DecodeError):
            return None
        return cls(path, table) if size >= 4 * table.dimension * table.count else None

    def row_of(self, digest: bytes) -> int | None:
        """The row of a text that has been embedded, by its hash."""
        return self._known.get(digest)

    def append(self, digests: Sequence[bytes], vectors: Any) -> list[int]:
        """Append vectors, and return their rows. They count once the table is committed."""
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
        numbers = list(range(first, first + len(rows)))
        self._known.update(zip(digests, numbers, strict=True))
        self.table = msgspec.structs.replace(table, dimension=dimension, hashes=table.hashes + b"".join(digests))
        return numbers

    def commit(self, documents: dict[str, DocumentVectors]) -> None:
        """Replace the table: from now on these documents have their vectors."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.table = msgspec.structs.replace(self.table, documents=documents)
        with replacing(self.path / _TABLE) as stream:
            stream.write(msgspec.msgpack.encode(self.table))

    def compacted(self) -> VectorFolder:
        """The same vectors without rows that no document uses, if these are more than half."""
        table = self.table
        used = sorted({row for each in table.documents.values() for row in each.rows})
        if 2 * len(used) >= table.count:
            return self
        number = {row: index for index, row in enumerate(used)}
        name = f"rows-{int(table.rows.removeprefix('rows-').removesuffix('.f32')) + 1}.f32"
        with replacing(self.path / name) as stream:
            stream.write(np.ascontiguousarray(self.matrix()[used]).tobytes())
        documents = {
            key: DocumentVectors(each.digest, each.positions, tuple([number[row] for row in each.rows]))
            for key, each in table.documents.items()
        }
        hashes = b"".join([table.hashes[row * _HASH : (row + 1) * _HASH] for row in used])
        made = VectorFolder(self.path, msgspec.structs.replace(table, rows=name, hashes=hashes))
        made.commit(documents)
        (self.path / table.rows).unlink(missing_ok=True)
        return made

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
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH).digest()


def current_vectors(index: Path) -> VectorFolder | None:
    """The vectors that searches use; None if there are none."""
    try:
        name = (index / CURRENT).read_text("utf-8").strip()
    except OSError:
        return None
    return VectorFolder.load(index / name) if name.startswith("vectors-") and "/" not in name else None


def make_current(index: Path, folder: VectorFolder) -> None:
    """Let searches use these vectors, and remove those of other models."""
    with replacing(index / CURRENT) as stream:
        stream.write(folder.path.name.encode())
    for other in index.glob("vectors-*"):
        if other != folder.path and other.is_dir():
            shutil.rmtree(other, ignore_errors=True)


def remove_vectors(index: Path) -> None:
    """Remove all vectors."""
    (index / CURRENT).unlink(missing_ok=True)
    for folder in index.glob("vectors-*"):
        shutil.rmtree(folder, ignore_errors=True)


def _unit(vectors: Any) -> Any:
    """Vectors of length 1; a vector of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)
