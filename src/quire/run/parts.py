"""The documents of a folder, a URL or shards, in parts that one process handles at a time.

A shard is a Parquet or JSON-lines file with the columns ``path`` and ``text``. Its parts are ranges of bytes: a row
group or a line belongs to the part in which it begins, so that only the workers read shards. A part depends only on the
documents, so every engine makes the same ones.
"""

import gzip
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from fnmatch import fnmatch
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from quire import pipeline
from quire.errors import InputError, QuireError
from quire.model.chunk_record import Chunks
from quire.model.operating_system import digest
from quire.model.trees import OnUndecodable
from quire.output.chunk_json import to_json
from quire.output.parquet import pyarrow
from quire.read.discover import Discovery
from quire.read.file_endings import has_extension
from quire.read.source import decode, read_bytes, unreadable
from quire.run.workers import batches, work_of

PART = 4 * 1024 * 1024  # the size of a part, in bytes of documents or of a shard; a larger document is a part by itself
_PARQUET, _COMPRESSED = ".parquet", ".gz"
_Line = msgspec.defstruct("_Line", [("path", str), ("text", str)])
_SHARDS = (_PARQUET, ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


class Problem(NamedTuple):
    """A document that could not be processed."""

    path: str
    reason: str


class PartResult(NamedTuple):
    """The result of a part."""

    value: Any
    problems: Sequence[Problem]


class Part(NamedTuple):
    """Some documents, and how to read and cut them."""

    source: str  # the folder or URL that the paths are relative to, or a shard
    paths: tuple[str, ...] = ()  # the documents. None in a shard: all that begin in the range.
    start: int = 0
    end: int = 0  # the range of a shard in bytes
    version: str = ""  # changes when one of the files does
    options: Mapping[str, Any] = {}  # those of `quire.chunk`
    errors: OnUndecodable = "strict"
    encoding: str = ""
    number: int = 0  # of its file in a dataset

    def name(self, path: str) -> str:
        """How messages call a document of this part."""
        if is_shard(self.source):
            return f"{self.source}: {path}"
        return f"{self.source}/{path}" if is_url(self.source) else str(Path(self.source, path))

    def cut(self, texts: Iterable[tuple[str, str]], problems: list[Problem]) -> Iterator[tuple[str, str, Chunks]]:
        """Path, text and chunks of each document; ``problems`` gets those that cannot be cut."""
        for path, text in texts:
            try:
                chunks = pipeline.chunk(text, path=path, **self.options)
            except QuireError as error:
                problems.append(Problem(path, error.reason))
            else:
                yield path, text, chunks

    @property
    def content_type(self) -> str:
        """The content type of all documents."""
        return self.options.get("content_type") or "doc"

    @property
    def settings(self) -> str:
        """What the chunks depend on, besides the documents."""
        return to_json({name: str(value) for name, value in sorted(self.options.items())}).decode()


class Listed(NamedTuple):
    """A file of a source: its path, its size in bytes, and a text that changes with its content."""

    path: str
    size: int
    version: str


def parts_of(
    source: str, size: int = PART, *, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> tuple[list[Part], list[Problem]]:
    """The parts of a folder, a URL or shards, in order; and what could not be looked into."""
    # Ignore files count only in local folders.
    problems = list[Problem]()
    if is_shard(source):
        return [*_shard_parts(source, size)], problems
    if is_url(source):
        files = _list_url(source, recursive=True)
        documents = [file for file in files if has_extension(file.path) and "/." not in f"/{file.path}"]
    elif Path(source).is_dir():
        discovered = Discovery(source, include=include, exclude=exclude)
        problems = [Problem(skipped.path, skipped.reason) for skipped in discovered.skipped if skipped.is_error]
        documents = [listed(document.path, document.file) for document in discovered.documents]
    else:
        raise InputError(source, "is not a folder", "name a folder, a URL or shards")
    return [*document_parts(source, documents, size)], problems


def document_parts(source: str, documents: Iterable[Listed], size: int = PART) -> Iterator[Part]:
    """The parts of documents in a folder or URL."""
    for batch in batches(((document, work_of(document.size)) for document in documents), most=size):
        yield Part(source, tuple(document.path for document in batch.items), version=digest([repr(batch.items)]))


def is_shard(source: str) -> bool:
    """Whether a source is a file of documents, or a pattern for such files."""
    return _address(source).endswith(_SHARDS)


def is_url(source: str) -> bool:
    """Whether a source is a URL."""
    return "://" in source


def source_name(source: str) -> str:
    """The name of a folder, URL or shard without its suffix; of a pattern for shards, the name of their folder."""
    address = source.partition("?")[0] if is_url(source) else Path(source).absolute().as_posix()
    folder, _, name = address.rstrip("/").rpartition("/")
    return folder.rpartition("/")[2] if {*name} & {*"*?["} else name.partition(".")[0] if is_shard(source) else name


def _address(source: str) -> str:
    """A source in lower case, without the query of a URL."""
    return (source.partition("?")[0] if is_url(source) else source).lower()


def _shard_parts(source: str, size: int) -> Iterator[Part]:
    if is_url(source):
        address, mark, query = source.partition("?")
        folder, _, pattern = address.rpartition("/")
        files = _list_url(f"{folder}{mark}{query}", recursive=False)
        wanted = (file for file in files if fnmatch(file.path, pattern))
        shards = [file._replace(path=f"{folder}/{file.path}{mark}{query}") for file in wanted]
    else:
        names = [source] if os.path.exists(source) else sorted(glob(source))  # noqa: PTH110, PTH207  a pattern is a text
        shards = [listed(name, Path(name)) for name in names]
    if not shards:
        raise InputError(source, "no such file", "name Parquet or JSON-lines files with the columns path and text")
    for shard in shards:
        step = shard.size if _address(shard.path).endswith(_COMPRESSED) else size
        for start in range(0, shard.size, max(step, 1)):
            yield Part(shard.path, start=start, end=min(start + step, shard.size), version=shard.version)


def listed(path: str, file: Path) -> Listed:
    """A local file; one that cannot be looked at is found out when it is read."""
    try:
        status = file.stat()
    except (OSError, ValueError):
        return Listed(path, 0, "")
    return Listed(path, status.st_size, str(status.st_mtime_ns))


def _list_url(source: str, *, recursive: bool) -> list[Listed]:
    files, folder = file_system(source)
    try:
        infos = files.get_file_info(import_module("pyarrow.fs").FileSelector(folder, recursive=recursive))
    except OSError as error:
        raise InputError(source, f"cannot be listed: {error}", "check the address and your permissions") from error
    relative = ((info.path.removeprefix(folder).lstrip("/"), info) for info in infos if info.is_file)
    return sorted(Listed(path, info.size or 0, str(info.mtime_ns)) for path, info in relative)


def read_texts(part: Part) -> tuple[list[tuple[str, str]], list[Problem]]:
    """The documents of a part as pairs of path and text, and those that could not be read."""
    problems: list[Problem] = []
    if not is_shard(part.source):
        return [*_read_files(part, problems)], problems
    wanted = frozenset(part.paths)
    try:
        with ExitStack() as stack:
            if is_url(part.source):
                files, path = file_system(part.source)
                stream: Any = io.BufferedReader(stack.enter_context(files.open_input_file(path)))
            else:
                stream = stack.enter_context(Path(part.source).open("rb"))
            if _address(part.source).endswith(_COMPRESSED):
                stream = stack.enter_context(gzip.open(stream))
                part = part._replace(end=sys.maxsize)
            pairs = (_row_groups if _address(part.source).endswith(_PARQUET) else _lines)(stream, part, problems)
            return [(path, text) for path, text in pairs if not wanted or path in wanted], problems
    except (OSError, EOFError, ValueError) as error:  # also the errors of pyarrow and of decompression
        raise InputError(part.source, f"cannot be read: {error}", "check the file and your permissions") from error


def read_documents(part: Part) -> tuple[Any, list[Problem]]:
    """A record batch with the columns ``path`` and ``text``, and the documents that could not be read."""
    arrow, _ = pyarrow()
    pairs, problems = read_texts(part)
    columns = [arrow.array([pair[column] for pair in pairs], arrow.string()) for column in (0, 1)]
    return arrow.RecordBatch.from_arrays(columns, ["path", "text"]), problems


def _read_files(part: Part, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    files, folder = file_system(part.source) if is_url(part.source) else (None, "")
    for path in part.paths:
        try:
            if files is None:
                data = read_bytes(Path(part.source, path))
            else:
                with files.open_input_stream(f"{folder}/{path}", compression=None) as stream:
                    data = stream.read()
            yield path, decode(data, path, part.errors, part.encoding)[0]
        except InputError as error:
            problems.append(Problem(path, error.reason))
        except (OSError, ValueError) as error:
            problems.append(Problem(path, f"cannot be read: {error}" if files else unreadable(error)))


def _lines(stream: Any, part: Part, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    decode = msgspec.json.Decoder(_Line).decode
    position = part.start
    if position:  # the line that begins before the range is another part's
        stream.seek(position - 1)
        position += len(stream.readline()) - 1
    while position < part.end and (line := stream.readline()):
        try:
            if line.strip():
                yield msgspec.structs.astuple(decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append(Problem(f"byte {position}", f"no JSON object with path and text: {error}"))
        position += len(line)


def _row_groups(stream: Any, part: Part, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    _, parquet = pyarrow()
    file = parquet.ParquetFile(stream)
    names = file.schema_arrow.names
    if not {"path", "text"} <= {*names}:
        raise InputError(part.source, f"has the columns {', '.join(names)}", "give it the columns path and text")
    columns = [file.metadata.row_group(number).column(0) for number in range(file.num_row_groups)]
    pages = [(column.data_page_offset, column.dictionary_page_offset) for column in columns]
    groups = [number for number, offsets in enumerate(pages) if part.start <= min(filter(None, offsets)) < part.end]
    for batch in file.iter_batches(row_groups=groups, columns=["path", "text"]) if groups else ():
        for row in batch.to_pylist():
            if isinstance(row["path"], str) and isinstance(row["text"], str):
                yield row["path"], row["text"]
            else:
                problems.append(Problem(str(row["path"]), "has no path and text; leave it out, or give it both"))


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a folder or URL, and the path in it; those that pyarrow does not know are fsspec's."""
    pyarrow()
    files = import_module("pyarrow.fs")
    if not is_url(url):
        return files.LocalFileSystem(), str(Path(url).absolute())
    try:
        system, path = files.FileSystem.from_uri(url)
    except (OSError, ValueError) as error:
        try:
            remote, path = import_module("fsspec").core.url_to_fs(url)
        except (ImportError, OSError, ValueError) as other:
            advice = "check the address; for a file system of fsspec, install its package"
            raise InputError(url, f"cannot be opened: {error}", advice) from other
        system = files.PyFileSystem(files.FSSpecHandler(remote))
    return system, str(path).rstrip("/")
