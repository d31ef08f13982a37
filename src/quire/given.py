"""What callers of the public functions give, checked. Used by pipeline.py; options are checked by config.py."""

from __future__ import annotations

from os import PathLike
from typing import TypeAlias, get_args

from quire.errors import OptionError, impossible
from quire.model import Document, Syntax

AnyPath: TypeAlias = str | PathLike[str]
"""A path as callers may give it."""

_SYNTAXES = get_args(Syntax)


def checked(text: str, path: AnyPath | None, title: str | None, syntax: Syntax | None) -> str | None:
    """The path as a text; TypeError if ``text`` is none, OptionError if one of the others cannot be."""
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, not {type(text).__name__}; for a file see quire.chunk_file")
    path = str(path) if isinstance(path, PathLike) else path
    for name, value in (("path", path), ("title", title)):
        if value is not None and not isinstance(value, str):
            raise impossible(name, value, "it must be a text")
    if syntax is not None and syntax not in _SYNTAXES:
        raise impossible("syntax", syntax, f"choose from: {', '.join(map(repr, _SYNTAXES))}")
    return path


def text_or_document(value: object, *described: object) -> str | Document:
    """What may be cut; a document must not be described again. Of anything else it is said what it must be."""
    if isinstance(value, Document) and any(each is not None for each in described):
        raise OptionError("a parsed document has its path, title and syntax", "give them to quire.parse")
    if not isinstance(value, str | Document):
        raise TypeError(f"quire.chunk takes a text or a Document, not {type(value).__name__}; see quire.chunk_file")
    return value
