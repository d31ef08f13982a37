"""What exists in the output folder: chunk files of earlier runs and their owners, and obstacles. Changes nothing.

A name does not identify the owner of a file, since names can clash; the record in the file does. Only a document's own
files are replaced.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from quire.errors import QuireError
from quire.wire.chunk_json import parse
from quire.write.file_names import LOCK, README, STAGE, STATE, FileNames, case_folded, split_name

_STATE_FILES = (STAGE, LOCK, README)


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


def obstacle(out: Path, folder: str) -> str | None:
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


def check_state(out: Path) -> None:
    """Raise a QuireError if a link or something else has the name of one of quire's own files in ``out``."""
    for name in (STATE, *_STATE_FILES):
        path, is_folder = out / name, name in (STATE, STAGE)
        if path.is_symlink():
            raise QuireError(f"{path}: is a symbolic link, which may lead out of {out}; remove it")
        if path.exists() and path.is_dir() != is_folder:
            raise QuireError(f"{path}: is {'not ' if is_folder else ''}a folder, but quire needs the name; remove it")
