"""What an update has read and not written yet.

Nodes are written with the words of links that lead to them, which are known when all files are read. They wait in
memory, or in a temporary file if they are many. The files of a large new index are read into
``index.reading``, from which a killed build goes on. It has the settings, then for each file three lengths and a
checksum, its record, its links and its nodes, and then where links lead. Memory has the places of files only.
"""

import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import SEEK_END
from pathlib import Path
from struct import Struct
from tempfile import SpooledTemporaryFile
from typing import IO, TypeVar

import msgspec

from quire.index.changed_files import Task
from quire.index.engine.node_fields import NodeFields
from quire.index.file_records import VERSION, FileRecord, IndexSettings
from quire.index.folder import READING
from quire.index.read_files import IndexedFile

Value = TypeVar("Value")

_MAX_IN_MEMORY = 64 * 1024 * 1024  # in bytes, of nodes
_HEAD = Struct("<4I")
_decode_record = msgspec.msgpack.Decoder(FileRecord).decode
_decode_nodes = msgspec.msgpack.Decoder(NodeFields).decode


@contextmanager
def open_journal(folder: Path, settings: IndexSettings | None) -> Iterator["BuildJournal"]:
    """A journal; with settings in a file, which stays if there is an error."""
    file = folder / READING
    if settings is None:
        file.unlink(missing_ok=True)  # of a build that was given up
        with SpooledTemporaryFile(_MAX_IN_MEMORY, dir=str(folder)) as stream:
            yield BuildJournal(stream, b"")
    else:
        file.touch()
        with file.open("r+b") as stream:
            yield BuildJournal(stream, msgspec.msgpack.encode((VERSION, settings)))
        file.unlink()


class ReadValues(Mapping[str, Value]):
    """Values that are read each time they are asked for."""

    def __init__(self, names: Collection[str], read: Callable[[str], Value]) -> None:
        self._names, self._read = names, read

    def __getitem__(self, name: str) -> Value:
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class BuildJournal:
    """The files that an update has read."""

    def __init__(self, stream: IO[bytes], settings: bytes) -> None:
        self.stream, self._settings, self._end = stream, settings, 0
        self._starts: dict[str, int] = {}  # where the entry of a document is
        self.records = ReadValues(self._starts, lambda document_id: _decode_record(self._part(document_id, 0)))
        """The records of files by document id."""

    def resume(self, tasks: Sequence[Task]) -> list[Task]:
        """Take what a killed build with the same settings has read, and return the tasks that are left."""
        wanted = {task.record.id: task for task in tasks}
        if self._settings and self.stream.read(len(self._settings)) == self._settings:
            self._end = self.stream.tell()
            for data in self._whole_records():
                record = _decode_record(data)
                task = wanted.get(record.id)
                if task and task.record.times == record.times and not (record.racy or record.problem):
                    del wanted[record.id]
                    self._starts[record.id] = self._end
                self._end = self.stream.tell()
        self.stream.truncate(self._end)
        if not self._end:
            self._append(self._settings)
        return list(wanted.values())

    def _whole_records(self) -> Iterator[bytes]:
        """The records in the file up to an entry that is not whole, or to the links that were followed."""
        size = self.stream.seek(0, SEEK_END)
        self.stream.seek(self._end)
        while len(head := self.stream.read(_HEAD.size)) == _HEAD.size:
            *lengths, checksum = _HEAD.unpack(head)
            if sum(lengths) > size or zlib.crc32(data := self.stream.read(sum(lengths))) != checksum:
                return
            yield data[: lengths[0]]

    def add(self, file: IndexedFile) -> None:
        """Add a file that was read."""
        nodes = zlib.compress(file.nodes, 1) if self._settings else file.nodes
        record = msgspec.msgpack.encode(file.record)
        data = b"".join((record, file.links, nodes))
        self._starts[file.record.id] = self._end
        self._append(_HEAD.pack(len(record), len(file.links), len(nodes), zlib.crc32(data)) + data)

    def _append(self, data: bytes) -> None:
        self.stream.seek(self._end)
        self._end += self.stream.write(data)

    def _part(self, document_id: str, number: int) -> bytes:
        """The record, the links or the nodes of a document."""
        self.stream.seek(self._starts[document_id])
        lengths = _HEAD.unpack(self.stream.read(_HEAD.size))
        self.stream.seek(sum(lengths[:number]), 1)
        return self.stream.read(lengths[number])

    def links_of(self, prefix: str, paths: Collection[str]) -> Mapping[str, bytes]:
        """The encoded link records of a tree's documents by path; empty for those without nodes."""
        return ReadValues(paths, lambda path: self._part(prefix + path, 1) if prefix + path in self._starts else b"")

    def numbered_nodes(self, document_id: str) -> tuple[int, NodeFields]:
        """The number and the nodes of a document."""
        data = self._part(document_id, 2)
        return self.records[document_id].number, _decode_nodes(zlib.decompress(data) if self._settings else data)
