"""Checks of the arguments of the public functions; options.py checks the options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, TypeAlias, get_args

from quire import validation
from quire.dialects import DIALECTS
from quire.errors import OptionError, invalid_value
from quire.model import Document, Syntax
from quire.substitutions import Substitutions

AnyPath: TypeAlias = str | PathLike[str]
"""A path as callers may give it."""

_SYNTAXES = get_args(Syntax)


def checked(
    text: str,
    path: AnyPath | None,
    title: str | None,
    syntax: Syntax | None,
    *,
    dialect: str | None,
    substitutions: Mapping[str, Any] | None,
) -> str | None:
    """The path as a string; TypeError if ``text`` is no string, OptionError if another argument is invalid."""
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, not {type(text).__name__}; for a file see quire.chunk_file")
    path = str(path) if isinstance(path, PathLike) else path
    for name, value in (("path", path), ("title", title)):
        if value is not None and not isinstance(value, str):
            raise invalid_value(name, value, "must be a text")
    if syntax is not None and syntax not in _SYNTAXES:
        raise invalid_value("syntax", syntax, f"must be one of {', '.join(map(repr, _SYNTAXES))}")
    if dialect is not None and dialect not in DIALECTS:
        raise invalid_value("dialect", dialect, f"must be one of {', '.join(map(repr, DIALECTS))}")
    if substitutions:
        values = dict(substitutions) if isinstance(substitutions, Mapping) else substitutions
        validation.check("substitutions", values, Substitutions)
    return path


def patterns(name: str, value: Any) -> tuple[str, ...]:
    """One pattern for paths, or several; OptionError if ``value`` is neither."""
    values = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(pattern, str) and pattern for pattern in values):
        raise invalid_value(name, value, "must be a pattern for paths, or a list of them")
    return values


def text_or_document(value: object, *descriptions: object) -> str | Document:
    """A text or a document to cut. Any other type raises a TypeError; a document already has its path and title."""
    if isinstance(value, Document) and any(description is not None for description in descriptions):
        raise OptionError("a parsed document has its path, title, syntax and substitutions", "give them to quire.parse")
    if not isinstance(value, str | Document):
        raise TypeError(f"quire.chunk takes a text or a Document, not {type(value).__name__}; see quire.chunk_file")
    return value
