"""A run over many documents in parts: listing them, reading them, writing the rows of a part.

Sources and outputs are folders or URLs (``s3://bucket/docs``). A part is a few megabytes of documents with consecutive
paths. It depends only on the documents, so every engine writes the same files, and a repeated run replaces them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.request import url2pathname

from quire import read
from quire.errors import InputError, QuireError
from quire.read.discover import has_extension
from quire.run.workers import batches, work_of
from quire.write.atomic_file import new_file
from quire.write.parquet import pyarrow

PART = 4 * 1024 * 1024
"""The size of a part, in bytes of documents; a larger document is a part by itself."""
_PART_FILE = re.compile(r"part-(\d{6,})\.parquet")


class Problem(NamedTuple):
    """A document that could not be processed."""

    path: str
    reason: str


class Part(NamedTuple):
    """Some documents of a run."""

    number: int
    source: str
    """The folder or URL that the paths are relative to."""
    paths: tuple[str, ...]
    hashes: tuple[tuple[str, str], ...] = ()
    """Paths with the hash that a store has recorded for them."""


class Done(NamedTuple):
    """The result of a part."""

    value: Any
    problems: tuple[Problem, ...]


def parts_of(source: str, size: int = PART) -> tuple[list[Part], list[Problem]]:
    """The documents of a folder or URL, in parts, in the order of their paths; and what could not be looked into."""
    documents, problems = list_documents(source)
    held = batches(((path, work_of(length)) for path, length in documents), most=size)
    return [Part(number, source, batch.items) for number, batch in enumerate(held)], problems


def list_documents(source: str) -> tuple[list[tuple[str, int]], list[Problem]]:
    """The paths and sizes of the documents below a folder or URL; ignore files count only in local folders."""
    if _is_url(source):
        return _list_url(source), []
    if not Path(source).is_dir():
        raise InputError(source, "no such folder", "name a folder or a URL")
    found = read.discover([source])
    problems = [Problem(each.path, each.reason) for each in found.skipped if each.is_error]
    return [(each.path, each.file.stat().st_size) for each in found.documents], problems


def _list_url(source: str) -> list[tuple[str, int]]:
    files, folder = file_system(source)
    try:
        infos = files.get_file_info(import_module("pyarrow.fs").FileSelector(folder, recursive=True))
    except OSError as error:
        raise InputError(source, f"cannot be listed: {error}", "check the address and your permissions") from error
    relative = ((info.path.removeprefix(folder).lstrip("/"), info) for info in infos if info.is_file)
    wanted = [(path, info.size or 0) for path, info in relative if _is_document(path)]
    return sorted(wanted)


def _is_document(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return has_extension(parts[-1]) and not any(part.startswith(".") for part in parts)


def read_documents(source: str, paths: Iterable[str]) -> tuple[Any, list[Problem]]:
    """A record batch with the columns ``path`` and ``text``, and the documents that could not be read."""
    arrow, _ = pyarrow()
    files, folder = file_system(source)
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            with files.open_input_stream(f"{folder}/{path}", compression=None) as stream:
                texts[path] = read.decode(stream.read(), path, "strict")[0]
        except (OSError, InputError) as error:
            reason = error.reason if isinstance(error, InputError) else f"cannot be read: {error}"
            problems.append(Problem(path, reason))
    columns = [arrow.array(list(column), arrow.string()) for column in (texts.keys(), texts.values())]
    return arrow.RecordBatch.from_arrays(columns, ["path", "text"]), problems


def write_part(output: str, number: int, rows: Any) -> None:
    """Write the rows of a part to its file, as a whole or not at all."""
    arrow, parquet = pyarrow()
    name, table = f"part-{number:06}.parquet", arrow.Table.from_batches([rows])
    local = output if not _is_url(output) else url2pathname(output[7:]) if output.startswith("file://") else ""
    if local:
        with new_file(Path(local) / name) as stream:
            parquet.write_table(table, stream, compression="zstd")
        return
    files, folder = file_system(output)
    try:
        with files.open_output_stream(f"{folder}/{name}") as stream:  # an object store shows a file when it is complete
            parquet.write_table(table, stream, compression="zstd")
    except OSError as error:
        raise QuireError(f"{output}: cannot be written: {error}", "check the address and your permissions") from error


def remove_other_parts(output: str, count: int) -> None:
    """Remove the files of an earlier run that had more parts than ``count``."""
    files, folder = file_system(output)
    selector = import_module("pyarrow.fs").FileSelector(folder, allow_not_found=True)
    for info in files.get_file_info(selector):
        match = _PART_FILE.fullmatch(info.base_name)
        if match and int(match[1]) >= count:
            files.delete_file(info.path)


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a folder or URL, and the path in it; those that pyarrow does not know are fsspec's."""
    files = import_module("pyarrow.fs")
    if not _is_url(url):
        return files.LocalFileSystem(), str(Path(url).absolute())
    try:
        found, path = files.FileSystem.from_uri(url)
    except (OSError, ValueError) as error:
        try:
            remote, path = import_module("fsspec").core.url_to_fs(url)
        except (ImportError, OSError, ValueError) as other:
            advice = "check the address; for a file system of fsspec, install its package"
            raise InputError(url, f"cannot be opened: {error}", advice) from other
        found = files.PyFileSystem(files.FSSpecHandler(remote))
    return found, str(path).rstrip("/")


def _is_url(source: str) -> bool:
    return "://" in source


def without(part: Part, paths: Sequence[str]) -> Part:
    """``part`` without some of its documents."""
    return part._replace(paths=tuple(path for path in part.paths if path not in paths))
