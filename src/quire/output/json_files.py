"""One JSON file per chunk: ``{out}/{folder of the source}/{contentType}_{docName}__ch{n}.json``.

A run writes new files to a stage and puts all of them in place at its end (atomic_folder.py). It replaces only a
document's own files, by the record in them. Names that differ only in case or in the composition of accents clash,
because some file systems treat them as equal.
"""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Self

from quire.errors import QuireError
from quire.model.chunk_record import Chunks
from quire.model.document import doc_name
from quire.model.operating_system import case_folded
from quire.output.atomic_file import explanation, os_errors_as_quire_errors, replacing
from quire.output.atomic_folder import README, STAGE, STATE, Change, put_in_place, remove_leftovers
from quire.output.chunk_json import encode, parse
from quire.output.lock import OnWait, held
from quire.output.record_forms import Documents, each_document, not_chunks

PATIENCE = 600.0  # how many seconds to wait for another run that writes to the same folder

_LOCK = f"{STATE}/lock"  # held by a run, so that no other writes to the folder
MOST_BYTES = 255  # the longest name that file systems accept
_SUFFIX_BYTES = len("__ch.json") + 8  # what a chunk's number adds to a name, for up to a hundred million chunks
_CHUNK_FILE = re.compile(r"(?s)(?P<stem>.*)__ch(?:0|[1-9][0-9]{0,8})\.json")
_LIKE_CHUNK_FILE = re.compile(r"(?si).*__ch[0-9]+\.json")
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"|?*\\]|[. ]$' if sys.platform == "win32" else "[\x00/]")
_README = """\
The folder above holds chunk files of quire. When documents change, quire replaces the folder (or folders in it) as a
whole, in one step, so that no document is ever half old and half new. Other files in it are kept.

Delete this file to have chunk files replaced one by one instead.
"""


class FileNames(NamedTuple):
    """The names of a document's files."""

    folder: str  # relative to the output folder, with forward slashes; empty for the output folder itself
    stem: str  # the names up to `__ch`

    def file(self, number: int) -> str:
        """The name of a chunk's file."""
        return f"{self.stem}__ch{number}.json"


def file_names(path: str | None, content_type: str) -> FileNames:
    """The names of the files of the document at ``path``."""
    *folders, name = [part for part in doc_name(path).split("/") if part] or [""]
    kept = "/".join(folder_name(part) for part in folders if part != ".")
    return FileNames(kept, _shortened(_escaped(f"{content_type}_{name}"), MOST_BYTES - _SUFFIX_BYTES))


def folder_name(name: str) -> str:
    """``name`` for a folder: it stays inside the output, and is neither quire's own name nor like a chunk file's."""
    if name == ".." or case_folded(name) == STATE or _LIKE_CHUNK_FILE.fullmatch(name):
        name = name.replace(".", "%2E")
    return _shortened(_escaped(name), MOST_BYTES)


def _escaped(name: str) -> str:
    """``name`` with characters that a file name cannot hold as ``%`` and their number."""
    return "".join(map(_encodable, _FORBIDDEN.sub(lambda match: f"%{ord(match[0]):02X}", name)))


def _encodable(char: str) -> str:
    try:
        os.fsencode(char)
    except UnicodeEncodeError:  # a lone surrogate, or the encoding of file names is ASCII
        return f"%u{ord(char):04X}"
    return char


def _shortened(name: str, most: int) -> str:
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    mark = "~" + hashlib.blake2b(encoded, digest_size=8).hexdigest()
    kept = name[: most - len(mark)]
    while len(os.fsencode(kept)) > most - len(mark):
        kept = kept[:-1]
    return kept + mark


class DocumentFiles(NamedTuple):
    """The files of a document."""

    path: str | None
    names: FileNames
    files: Mapping[str, bytes]  # the content by the name of the file


@dataclass(frozen=True)
class Refused:
    """A document that was not written."""

    path: str  # its path; `<text>` for text without one
    reason: str  # why, and what to do


@dataclass
class Written:
    """The result of a run."""

    documents: int = 0  # the number of documents that are in the folder as given
    chunks: int = 0  # the number of their chunks
    refused: tuple[Refused, ...] = ()  # the documents that were not written


def encoded(chunks: Chunks) -> DocumentFiles:
    """The files of a document; another process may make them."""
    names = file_names(chunks.document.path, chunks.options.content_type)
    files = {names.file(chunk.chunk_number): encode(chunk, indent=2) + b"\n" for chunk in chunks}
    return DocumentFiles(chunks.document.path, names, files)


def write_files(out: Path | str, documents: Documents, *, on_wait: OnWait | None = None) -> Written:
    """Write the chunks of ``documents`` to files in ``out``, all at the end; an error before it changes nothing.

    A document that cannot be written is refused, and the others are written.
    """
    with FileWriter(out, on_wait=on_wait) as writer:
        for chunks in each_document(documents):
            writer.add(chunks)
    return writer.written


class FileWriter:
    """Writes the chunks of documents to files, in a ``with`` block. The files are put in place at its end.

    It locks the folder. If another run has the lock, it calls ``on_wait`` and waits.
    """

    def __init__(self, out: Path | str, *, on_wait: OnWait | None = None) -> None:
        self._shown = Path(out)
        with os_errors_as_quire_errors(self._shown):  # there may be no current folder
            self._out = Path(os.path.realpath(out))
        self._on_wait = on_wait
        self._stack = ExitStack()
        self._chunk_files = cache(partial(_chunk_files, self._out))  # by folder
        self._changes: list[Change] = []
        self._documents_by_key: dict[str, str] = {}  # the names of the documents so far, by their files
        self.written = Written()  # the result so far

    def __enter__(self) -> Self:
        """Lock the folder, remove what killed runs left, and make an empty stage."""
        out = self._out
        with ExitStack() as stack, os_errors_as_quire_errors(self._shown):
            for name, is_folder in ((STATE, True), (STAGE, True), (_LOCK, False), (README, False)):
                if problem := _obstacle(self._shown / name, self._shown, is_folder=is_folder):
                    raise QuireError(f"{self._shown / name}: {problem}")
            (out / STATE).mkdir(parents=True, exist_ok=True)
            stack.enter_context(held(out / _LOCK, str(self._shown), patience=PATIENCE, on_wait=self._on_wait))
            remove_leftovers(out)
            others = (path for path in out.iterdir() if path.name != STATE)  # a new folder may have a .gitignore
            if not (out / README).exists() and all(path.name[0] == "." and path.is_file() for path in others):
                with replacing(out / README) as stream:
                    stream.write(_README.encode())
            stack.callback(shutil.rmtree, out / STAGE, ignore_errors=True)
            (out / STAGE).mkdir()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._stack, os_errors_as_quire_errors(self._shown):
            for change, error in put_in_place(self._out, self._changes) if kind is None else ():
                self.written.documents -= 1
                self.written.chunks -= len(change.staged)
                self.written.refused += (Refused(change.document, str(explanation(error, self._shown))),)

    def add(self, chunks: Chunks) -> bool:
        """Add the chunks of a document; False if they are refused, see ``written.refused``."""
        if not isinstance(chunks, Chunks):
            raise not_chunks(chunks)
        return self.add_encoded(encoded(chunks), chunks.document.source.name)

    def add_encoded(self, document: DocumentFiles, name: str) -> bool:
        """Add the files of a document, which messages call ``name``."""
        _, names, new = document
        with os_errors_as_quire_errors(self._shown):
            reason = self._conflict(names, document.path)
            if reason is not None:
                self.written.refused += (Refused(name, reason),)
                return False
            self._documents_by_key[case_folded("/".join(names))] = name
            self.written.documents += 1
            self.written.chunks += len(new)
            folder, old = self._out / names.folder, self._chunk_files(names.folder).get(case_folded(names.stem), [])
            if {*old} == {*new} and all((folder / file).read_bytes() == data for file, data in new.items()):
                return True
            staged = {file: f"{len(self._changes)}.{number}" for number, file in enumerate(new)}
            for file, data in new.items():
                with (self._out / STAGE / staged[file]).open("wb") as stream:
                    stream.write(data)
                    if not hasattr(os, "sync"):  # if it exists, one call syncs all files
                        os.fsync(stream.fileno())
            self._changes.append(Change(name, names.folder, staged, tuple(old)))
        return True

    def _conflict(self, names: FileNames, path: str | None) -> str | None:
        other = self._documents_by_key.get(case_folded("/".join(names)))
        if other is not None:
            files = f"{names.folder}/{names.stem}__ch*.json".lstrip("/")
            return f"its files {files} would clash with those of {other}; rename one, or use another folder"
        try:
            for folder in accumulate(filter(None, names.folder.split("/")), Path.joinpath, initial=self._out):
                if problem := _obstacle(folder, self._out):
                    return f"{folder} {problem}"
            existing = self._chunk_files(names.folder).get(case_folded(names.stem), [])
        except OSError as error:
            return str(explanation(error, self._shown))
        for name in existing:
            file = self._out / names.folder / name
            try:
                owner = _owner(file)
            except (QuireError, OSError):
                return f"{file} exists and is not a quire chunk file; remove it"
            if owner != path or not name.startswith(f"{names.stem}__ch"):
                return f"{file} belongs to {owner or 'a text without a path'}; remove it, or write to another folder"
        return None


def _chunk_files(out: Path, folder: str) -> dict[str, list[str]]:
    """The names of the chunk files in a folder of the output, by their stem in any spelling."""
    names = os.listdir(out / folder) if (out / folder).is_dir() else ()  # noqa: PTH208  names are enough
    files: dict[str, list[str]] = {}
    for match in filter(None, map(_CHUNK_FILE.fullmatch, sorted(names))):
        files.setdefault(case_folded(match["stem"]), []).append(match[0])
    return files


def _owner(file: Path) -> Any:
    """The path of the document that a chunk file belongs to; None for text without a path."""
    record = None if file.is_symlink() else parse(file.read_bytes(), name=str(file))
    if not isinstance(record, dict) or "id" not in record:
        raise QuireError(f"{file}: is not a chunk record")
    metadata = record.get("metadata")
    return metadata.get("sourceFile") if isinstance(metadata, dict) else None


def _obstacle(path: Path, out: Path, *, is_folder: bool = True) -> str:
    """Why quire cannot use a file or folder in ``out``; empty if it can. It must not lead out of ``out``."""
    is_usable = not path.exists() or (path.is_dir() == is_folder and path.stat().st_dev == out.stat().st_dev)
    if is_usable and not path.is_symlink():
        return ""
    return f"must be a {'folder' if is_folder else 'file'}, no link, on the file system of {out}; remove it"
