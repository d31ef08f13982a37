"""The chunk files that are in the output folder already, and whose they are. Looks, and changes nothing.

A name does not say whose a file is, for names can meet; the record in it does. What is not the document's own is never
replaced. Used by json_files.py.
"""

from __future__ import annotations

import os
from array import array
from functools import cache
from pathlib import Path
from typing import Any

from quire.errors import QuireError
from quire.wire.record import parse
from quire.write.names import Place, split_name, twin_key


class There:
    """What is in a folder; each folder in it is listed once."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._in_folder = cache(self._scan)

    def files(self, place: Place) -> list[str]:
        """The names of a document's files, in the order of the chunks, under whatever spelling of its name."""
        found = self._in_folder(place.folder).get(twin_key(place.stem), {})
        return [Place(place.folder, stem).file(number) for stem in sorted(found) for number in sorted(found[stem])]

    def conflict(self, place: Place, path: str | None) -> str | None:
        """Why one of them is not that of the document at ``path``, if so."""
        for name in self.files(place):
            file = self._out / place.folder / name
            try:
                owner = _owner(file)
            except (QuireError, OSError):
                return f"{file} is in the way, and is no chunk file of quire; remove it"
            if owner != path or not name.startswith(f"{place.stem}__ch"):
                return f"{file} belongs to {owner or 'a text without a path'}; remove it, or write to another folder"
        return None

    def _scan(self, folder: str) -> dict[str, dict[str, array[int]]]:
        """The chunk files in a folder: the numbers of each document, for each spelling of its name."""
        found: dict[str, dict[str, array[int]]] = {}
        if (self._out / folder).is_dir():
            with os.scandir(self._out / folder) as entries:
                for stem, number in filter(None, (split_name(entry.name) for entry in entries)):
                    found.setdefault(twin_key(stem), {}).setdefault(stem, array("Q")).append(number)
        return found


def _owner(file: Path) -> Any:
    """The path of the document that a chunk file belongs to; None for text without one."""
    if file.is_symlink():
        raise QuireError(f"{file}: is a symbolic link")
    record = parse(file.read_bytes(), name=str(file))
    if not isinstance(record, dict) or "id" not in record:
        raise QuireError(f"{file}: is no chunk record")
    metadata = record.get("metadata")
    return metadata.get("sourceFile") if isinstance(metadata, dict) else None
