"""The files of vectors, as far as they can be read without NumPy.

.quire/vectors-3fa2.../rows-1.f32   unit vectors, one after the other; only ever appended to
.quire/vectors-3fa2.../table        whose they are; replaced atomically, and with that everything is committed
.quire/vectors.current              the folder that searches use, replaced when a model's vectors are complete
"""

from pathlib import Path

import msgspec

from quire.index.file_records import FileTable
from quire.model.operating_system import remove_folder

CURRENT = "vectors.current"
TABLE = "table"


class DocumentVectors(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The passages of one document that have vectors: the position of the node of each, and the hash of its text."""

    digest: bytes  # of the file
    positions: tuple[int, ...]
    hashes: tuple[bytes, ...]


class Table(msgspec.Struct):
    """Whose the rows are."""

    embedder: str  # how to load it again: a name, or empty for a function
    model: str
    version: str
    dimension: int = 0
    rows: str = "rows-1.f32"
    hashes: list[bytes] = []  # of the text of each row
    documents: dict[str, DocumentVectors] = {}

    def usable(self, files: FileTable) -> dict[str, DocumentVectors]:
        """The vectors of documents that have not changed since they were embedded."""
        documents = self.documents.items()
        return {key: own for key, own in documents if (record := files.get(key)) and record.digest == own.digest}

    def missing(self, files: FileTable) -> int:
        """How many nodes search by meaning does not find."""
        usable = self.usable(files)
        return sum(record.nodes for key, record in files.items() if key not in usable and not record.problem)


def load_table(path: Path) -> Table | None:
    """The table in a folder; None if there is none, or if it is damaged."""
    try:
        table = msgspec.msgpack.decode((path / TABLE).read_bytes(), type=Table)
        size = (path / table.rows).stat().st_size if table.hashes else 0
    except (OSError, msgspec.DecodeError):
        return None
    return table if size >= 4 * table.dimension * len(table.hashes) else None


def current_folder(index: Path) -> Path | None:
    """The folder of the vectors that searches use; None if there is none."""
    try:
        name = (index / CURRENT).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return index / name if name.startswith("vectors-") and "/" not in name and "\\" not in name else None


def remove_vectors(index: Path, keep: Path | None = None) -> None:
    """Remove all vectors, or those of other models than the current one."""
    if keep is None:
        (index / CURRENT).unlink(missing_ok=True)
    for folder in index.glob("vectors-*"):
        if folder != keep:
            remove_folder(folder)
