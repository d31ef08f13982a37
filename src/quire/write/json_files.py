"""One JSON file per chunk: ``{out}/{folder of the source}/{contentType}_{docName}__ch{n}.json``.

A run writes new files to a stage and puts all of them in place at its end (atomic_folder.py). It replaces only a
document's own files, by the record in them: names can clash.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from quire.errors import QuireError
from quire.record import Chunks
from quire.wire.chunk_json import encode, parse
from quire.wire.forms import check_documents, not_chunks
from quire.write.atomic_file import explanation, os_errors_as_quire_errors, replacing
from quire.write.atomic_folder import Change, put_in_place, remove_leftovers
from quire.write.file_names import LOCK, README, STAGE, STATE, FileNames, case_folded, file_names, split_name
from quire.write.lock import OnWait, held

PATIENCE = 600.0
"""How many seconds to wait for another run that writes to the same folder."""

_STATE_FILES = (STAGE, LOCK, README)
_INDENT = 2
_README = """\
The folder above holds chunk files of quire. When documents change, quire replaces the folder (or folders in it) as a
whole, in one step, so that no document is ever half old and half new. Other files in it are kept.

Delete this file to have chunk files replaced one by one instead.
"""


class DocumentFiles(NamedTuple):
    """The files of a document, without their names."""

    path: str | None
    content_type: str
    files: Mapping[int, bytes]
    """The content by chunk number."""


@dataclass(frozen=True)
class Refused:
    """A document that was not written."""

    path: str
    """Its path; ``<text>`` for text without one."""
    reason: str
    """Why, and what to do."""


@dataclass(frozen=True)
class Written:
    """The result of a run."""

    documents: int = 0
    """The number of documents that are in the folder as given."""
    chunks: int = 0
    """The number of their chunks."""
    unchanged: int = 0
    """The number of documents that were there already, to the byte."""
    refused: tuple[Refused, ...] = ()
    """The documents that were not written."""


def encoded(chunks: Chunks) -> DocumentFiles:
    """The files of a document; another process may make them."""
    files = {chunk.chunk_number: encode(chunk, indent=_INDENT) + b"\n" for chunk in chunks}
    return DocumentFiles(chunks.document.path, chunks.options.content_type, files)


def write_files(
    out: Path | str, documents: Iterable[Chunks], *, patience: float = PATIENCE, on_wait: OnWait | None = None
) -> Written:
    """Write the chunks of ``documents`` to files in ``out``: all at the end, each document as a whole.

    A document that cannot be written is refused, and the others are written. An error before the end changes nothing.
    """
    check_documents(documents)
    with FileWriter(out, patience=patience, on_wait=on_wait) as writer:
        for chunks in documents:
            writer.add(chunks)
    return writer.written


class FileWriter:
    """Writes the chunks of documents to files, in a ``with`` block. The files are put in place at its end.

    It locks the folder. If another run has the lock, it calls ``on_wait`` and waits up to ``patience`` seconds.
    """

    def __init__(self, out: Path | str, *, patience: float = PATIENCE, on_wait: OnWait | None = None) -> None:
        self._shown = Path(out)
        with os_errors_as_quire_errors(self._shown):  # there may be no current folder
            self._out = Path(os.path.realpath(out))
        self._patience, self._on_wait = patience, on_wait
        self._stack = ExitStack()
        self._existing = ExistingFiles(self._out)
        self._changes: list[Change] = []
        self._documents_by_key: dict[str, str] = {}
        """The names of the documents so far, by their files."""
        self._refused: list[Refused] = []
        self._documents = self._chunks = self._unchanged = 0

    @property
    def written(self) -> Written:
        """The result so far."""
        return Written(self._documents, self._chunks, self._unchanged, tuple(self._refused))

    def __enter__(self) -> Self:
        with ExitStack() as stack, os_errors_as_quire_errors(self._shown):
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack, os_errors_as_quire_errors(self._shown):
            if kind is None:
                self._commit()

    def _open(self, stack: ExitStack) -> None:
        """Lock the folder, remove what killed runs left, and make an empty stage."""
        out = self._out
        if self._shown.exists() and not self._shown.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self._shown))
        _check_state(self._shown)
        (out / STATE).mkdir(parents=True, exist_ok=True)
        stack.enter_context(held(out / LOCK, str(self._shown), patience=self._patience, on_wait=self._on_wait))
        remove_leftovers(out)
        if not (out / README).exists() and all(map(_is_own_or_hidden, out.iterdir())):
            with replacing(out / README) as stream:
                stream.write(_README.encode())
        stack.callback(shutil.rmtree, out / STAGE, ignore_errors=True)
        (out / STAGE).mkdir()

    def add(self, chunks: Chunks) -> bool:
        """Add the chunks of a document; False if they are refused, see ``written.refused``."""
        if not isinstance(chunks, Chunks):
            raise not_chunks(chunks)
        return self.add_encoded(encoded(chunks), chunks.document.source.name)

    def add_encoded(self, document: DocumentFiles, name: str) -> bool:
        """Add the files of a document, which messages call ``name``."""
        names = file_names(document.path, document.content_type)
        with os_errors_as_quire_errors(self._shown):
            reason = self._conflict(names, document.path)
            if reason is not None:
                self._refused.append(Refused(name, reason))
                return False
            self._documents_by_key[_key(names)] = name
            self._stage(names, document.files, name)
        return True

    def _conflict(self, names: FileNames, path: str | None) -> str | None:
        """Why a document cannot be written; None if it can."""
        other = self._documents_by_key.get(_key(names))
        if other is not None:
            return f"its files {names.pattern} would clash with those of {other}; rename one, or use another folder"
        try:
            return _obstacle(self._out, names.folder) or self._existing.conflict(names, path)
        except OSError as error:
            return str(explanation(error, self._shown))

    def _stage(self, names: FileNames, files: Mapping[int, bytes], document: str) -> None:
        self._documents += 1
        self._chunks += len(files)
        folder, old = self._out / names.folder, self._existing.files(names)
        new = {names.file(index): data for index, data in files.items()}
        if {*old} == {*new} and all((folder / name).read_bytes() == data for name, data in new.items()):
            self._unchanged += 1
            return
        staged = {name: f"{len(self._changes)}.{number}" for number, name in enumerate(new)}
        for name, data in new.items():
            with (self._out / STAGE / staged[name]).open("wb") as stream:
                stream.write(data)
                if not hasattr(os, "sync"):  # if it exists, one call syncs all files
                    os.fsync(stream.fileno())
        self._changes.append(Change(document, names.folder, staged, tuple(old)))

    def _commit(self) -> None:
        for change, error in put_in_place(self._out, self._changes):
            self._documents -= 1
            self._chunks -= len(change.staged)
            self._refused.append(Refused(change.document, str(explanation(error, self._shown))))


def _is_own_or_hidden(path: Path) -> bool:
    """Whether a new output folder may contain this: quire's own folder, a ``.gitignore``."""
    return path.name == STATE or (path.name.startswith(".") and path.is_file())


def _key(names: FileNames) -> str:
    return case_folded(f"{names.folder}/{names.stem}")


class ExistingFiles:
    """The chunk files in an output folder. Each folder is listed once."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._in_folder = cache(self._scan)

    def files(self, names: FileNames) -> list[str]:
        """The names of a document's files, in the order of its chunks, in any spelling of its name."""
        return [name for _, _, name in sorted(self._in_folder(names.folder).get(case_folded(names.stem), ()))]

    def conflict(self, names: FileNames, path: str | None) -> str | None:
        """Why a file does not belong to the document at ``path``; None if all do."""
        for name in self.files(names):
            file = self._out / names.folder / name
            try:
                owner = _owner(file)
            except (QuireError, OSError):
                return f"{file} exists and is not a quire chunk file; remove it"
            if owner != path or not name.startswith(f"{names.stem}__ch"):
                return f"{file} belongs to {owner or 'a text without a path'}; remove it, or write to another folder"
        return None

    def _scan(self, folder: str) -> dict[str, list[tuple[str, int, str]]]:
        files: dict[str, list[tuple[str, int, str]]] = {}
        if (self._out / folder).is_dir():
            with os.scandir(self._out / folder) as entries:
                for entry in entries:
                    parts = split_name(entry.name)
                    if parts:
                        files.setdefault(case_folded(parts[0]), []).append((*parts, entry.name))
        return files


def _owner(file: Path) -> Any:
    """The path of the document that a chunk file belongs to; None for text without a path."""
    if file.is_symlink():
        raise QuireError(f"{file}: is a symbolic link")
    record = parse(file.read_bytes(), name=str(file))
    if not isinstance(record, dict) or "id" not in record:
        raise QuireError(f"{file}: is not a chunk record")
    metadata = record.get("metadata")
    return metadata.get("sourceFile") if isinstance(metadata, dict) else None


def _obstacle(out: Path, folder: str) -> str | None:
    """Why ``folder`` in ``out`` cannot be written to; None if it can. It must not lead out of ``out``."""
    path = out
    for part in filter(None, folder.split("/")):
        path /= part
        if path.is_symlink():
            return f"{path} is a symbolic link, which may lead out of {out}; remove it"
        if path.exists() and not path.is_dir():
            return f"{path} is not a folder; remove it"
        if path.exists() and path.stat().st_dev != out.stat().st_dev:
            return f"{path} is on another file system than {out}, so files cannot be moved there; write to it directly"
    return None


def _check_state(out: Path) -> None:
    """Raise a QuireError if a link or something else has the name of one of quire's own files in ``out``."""
    for name in (STATE, *_STATE_FILES):
        path, is_folder = out / name, name in (STATE, STAGE)
        if path.is_symlink():
            raise QuireError(f"{path}: is a symbolic link, which may lead out of {out}; remove it")
        if path.exists() and path.is_dir() != is_folder:
            raise QuireError(f"{path}: is {'not ' if is_folder else ''}a folder, but quire needs the name; remove it")
