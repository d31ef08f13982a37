"""What an update has read and not written yet.

Nodes are written with the words of links that lead to them, which are known when all files are read. They wait in
memory, or in a temporary file if they are many. The files of a large new index are read into
``index.reading``, from which a killed build goes on. It has the settings, and then for each file three lengths and a
checksum, its record, its links and its nodes.
"""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from tempfile import SpooledTemporaryFile
from typing import IO

import msgspec

from quire.index.changed_files import Task
from quire.index.engine.index_schema import NodeFields
from quire.index.file_records import VERSION, FileRecord, IndexSettings
from quire.index.folder import READING
from quire.index.read_files import IndexedFile

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


class BuildJournal:
    """The files that an update has read."""

    def __init__(self, stream: IO[bytes], settings: bytes) -> None:
        self.records: dict[str, FileRecord] = {}  # by document id
        self.links: dict[str, bytes] = {}  # encoded link records by document id
        self._spans: dict[str, tuple[int, int]] = {}  # where the nodes of a document are
        self._stream, self._settings, self._end = stream, settings, 0

    def resume(self, tasks: Sequence[Task]) -> list[Task]:
        """Take what a killed build with the same settings has read, and return the tasks that are left."""
        wanted = {task.record.id: task for task in tasks}
        if self._settings and self._stream.read(len(self._settings)) == self._settings:
            self._end = self._stream.tell()
            for file in self._entries():
                self._end, record, task = self._stream.tell(), file.record, wanted.get(file.record.id)
                if task and task.record.times == record.times and not (record.racy or record.failed):
                    del wanted[record.id]
                    self._take(file)
        self._stream.truncate(self._end)
        if not self._end:
            self._append(self._settings)
        return list(wanted.values())

    def _entries(self) -> Iterator[IndexedFile]:
        """The entries of the file up to one that is not whole."""
        while len(head := self._stream.read(_HEAD.size)) == _HEAD.size:
            record, links, nodes, checksum = _HEAD.unpack(head)
            data = self._stream.read(record + links + nodes)
            if zlib.crc32(data) != checksum:
                return
            yield IndexedFile(_decode_record(data[:record]), data[record + links :], data[record : record + links])

    def add(self, file: IndexedFile) -> None:
        """Add a file that was read."""
        if self._settings:
            file = msgspec.structs.replace(file, nodes=zlib.compress(file.nodes, 1))
        record = msgspec.msgpack.encode(file.record)
        data = b"".join((record, file.links, file.nodes))
        self._append(_HEAD.pack(len(record), len(file.links), len(file.nodes), zlib.crc32(data)) + data)
        self._take(file)

    def _append(self, data: bytes) -> None:
        self._stream.seek(self._end)
        self._end += self._stream.write(data)

    def _take(self, file: IndexedFile) -> None:
        document_id = file.record.id  # one text for all, as there may be many
        self.records[document_id] = file.record
        self.links[document_id] = file.links
        self._spans[document_id] = self._end - len(file.nodes), self._end

    def numbered_nodes(self, document_id: str) -> tuple[int, NodeFields]:
        """The number and the nodes of a document."""
        start, end = self._spans[document_id]
        self._stream.seek(start)
        data = self._stream.read(end - start)
        return self.records[document_id].number, _decode_nodes(zlib.decompress(data) if self._settings else data)
