"""The documents to sync, each with a hash of all that its rows depend on, besides the model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from quire import __version__, inputs, pipeline, read
from quire.auto_slugs import tree_options
from quire.errors import InputError, QuireError
from quire.options import DEFAULT_STRATEGY
from quire.read.source import unread
from quire.record import Chunks
from quire.trees import OnUndecodable
from quire.wire.chunk_json import to_json

Cut = Callable[[str, str], Chunks]
"""Cuts the text of a document with a path."""


@dataclass(frozen=True, slots=True)
class SyncDocument:
    """A document, which is read when its hash is computed and again when it is cut."""

    name: str
    """Its content type and path. Documents of other content types stay as they are."""
    path: str
    file: Path
    errors: OnUndecodable
    encoding: str
    cut: Cut
    settings: str
    """What the chunks depend on, besides the text."""

    def read(self) -> bytes:
        """The bytes of the file."""
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise unread(str(self.file), error) from error

    def hash_of(self, data: bytes) -> str:
        """Changes when the rows would."""
        digest = hashlib.blake2b(digest_size=16)
        for part in (self.name, self.settings, __version__):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(data)
        return digest.hexdigest()

    def chunks(self, data: bytes) -> Chunks:
        """The chunks of the document with these bytes."""
        return self.cut(read.decode(data, str(self.file), self.errors, self.encoding)[0], self.path)


def document(
    file: Path, path: str, cut: Cut, options: Mapping[str, Any], *, errors: OnUndecodable = "strict", encoding: str = ""
) -> SyncDocument:
    """A document in a file; ``options`` are those that ``cut`` cuts with."""
    content_type = options.get("content_type") or "doc"
    settings = to_json({name: str(value) for name, value in sorted(options.items())}).decode()
    return SyncDocument(f"{content_type}:{path}", path, file, errors, encoding, cut, settings)


def documents(
    path: str | PathLike[str],
    strategy: str = DEFAULT_STRATEGY,
    *,
    errors: OnUndecodable = "strict",
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    **options: Any,
) -> list[SyncDocument]:
    """The documents of a folder; takes what ``quire.chunk_dir`` takes."""
    pipeline.chunk("", strategy, **options)
    read.decode(b"", str(path), errors)
    included, excluded = inputs.patterns("include", include), inputs.patterns("exclude", exclude)
    found = read.discover([str(path)], include=included, exclude=excluded)
    for skipped in found.skipped:
        if skipped.is_error:
            raise InputError(skipped.path, skipped.reason)
    if not found.documents:
        raise QuireError(f"{path}: no documents, so nothing is synced", "quire looks for Markdown and .txt files")
    options = tree_options(options, found.documents, Path(path))
    given = {"strategy": strategy, **options}

    def cut(text: str, name: str) -> Chunks:
        return pipeline.chunk(text, strategy, path=name, **options)

    return [document(each.file, each.path, cut, given, errors=errors) for each in found.documents]
