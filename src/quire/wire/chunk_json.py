"""A chunk to JSON and back. ``Chunk.to_dict`` names the fields, json_schema.py describes them.

Writing accepts any text. Reading is strict: a missing field or a wrong type is an error that names the field. Unknown
fields are ignored.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, get_origin

import msgspec
from msgspec import Struct, structs

from quire.errors import InputError
from quire.record import Chunk

VERSION = "1.2"
"""The version of the record; the first number changes when older readers would fail."""

OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"headerHierarchy": "headerBreadcrumb", "sectionId": "sectionSlug", "heading": "sectionTitle"}
)
"""Alternative names that are also read, with the names that are written; legacy.py has more."""

_AGAIN = "make it anew from its document"
_PATH = re.compile(r" - at `\$\.?(?P<field>[^`]*)`$")


def encode(chunk: Chunk, *, indent: int = 0) -> bytes:
    """The chunk as a JSON object in UTF-8, without a line end; on one line unless ``indent`` is given."""
    return to_json(chunk.to_dict(), indent=indent)


def to_json(value: Any, *, indent: int = 0) -> bytes:
    """Any value as JSON in UTF-8; lone surrogates are escaped, unknown types become text."""
    try:
        data = msgspec.json.encode(value)
        return msgspec.json.format(data, indent=indent) if indent else data
    except (UnicodeEncodeError, TypeError, ValueError, OverflowError, msgspec.DecodeError):
        separators = (",", ": ") if indent else (",", ":")
        return json.dumps(_plain(value), indent=indent or None, separators=separators).encode()


def _plain(value: Any) -> Any:
    """``value`` as JSON types."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, msgspec.Raw):  # encoded by another process, with escapes that msgspec does not read
        return json.loads(bytes(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [_plain(each) for each in value]
    return str(value)


def decode(data: bytes | str | Mapping[str, Any], *, name: str = "<record>") -> Chunk:
    """The chunk of a record; errors call the record ``name``."""
    record = data if isinstance(data, Mapping) else parse(data, name=name)
    if not isinstance(record, Mapping):
        raise InputError(name, "is not a chunk record", "a record is one JSON object")
    read: Chunk = check_types(renamed(record, OTHER_NAMES, name=name), Chunk, name=name)
    return structs.replace(read, metadata=MappingProxyType(read.metadata))


def parse(data: bytes | str, *, name: str = "<record>", line: int = 1) -> Any:
    """The value of a JSON text, lone surrogates included; ``line`` is the number of its first line."""
    try:
        return json.loads(data)
    except UnicodeDecodeError as error:
        raise InputError(name, f"line {line}, byte {error.start}: is not UTF-8", "convert it") from error
    except json.JSONDecodeError as error:
        place = f"line {line + error.lineno - 1}, column {error.colno}"
        raise InputError(name, f"{place}: is not JSON ({error.msg})", f"correct it, or {_AGAIN}") from error
    except (RecursionError, ValueError) as error:
        raise InputError(name, "has values nested too deep or numbers too long to read", _AGAIN) from error


def check_types(record: Mapping[str, Any], kind: Any, *, name: str, shown: Callable[[str], str] = str) -> Any:
    """``record`` as an instance of ``kind``. A wrong type raises an InputError; ``shown`` names fields in it."""
    try:
        return msgspec.convert(record, kind)
    except UnicodeEncodeError as error:
        problem = "a lone surrogate in a field name or in place of another type"
        raise InputError(name, f"is not a chunk record: {problem}", _AGAIN) from error
    except msgspec.ValidationError as error:
        problem = f"is not a chunk record: {_problem(error, shown)}"
        raise InputError(name, problem, f"correct it, or {_AGAIN}") from error


def renamed(record: Mapping[str, Any], names: Mapping[str, str], *, name: str, inside: str = "") -> dict[str, Any]:
    """``record`` with fields renamed by ``names``; a field under both names must have one value.

    Errors call the record ``name`` and put ``inside`` before the names of fields.
    """
    for old, new in names.items():
        if old in record and new in record and record[old] != record[new]:
            raise differing(f"{inside}{new}", f"{inside}{old}", name)
    return {names.get(key, key): value for key, value in record.items()}


def differing(field: str, other: str, name: str) -> InputError:
    """The error for a record with two values for one field."""
    return InputError(name, f"field {field}: differs from {other}, its other name", "remove the wrong one")


@cache
def optional(record: Any) -> type[Struct]:
    """A type that reads ``record`` with every field optional."""
    members: list[tuple[str, Any, Any]] = [
        (each.name, optional(each.type) if is_record(each.type) else each.type, None) for each in structs.fields(record)
    ]
    members.append(("content_hash", str, ""))
    return msgspec.defstruct(record.__name__, members, rename="camel", kw_only=True)


def is_record(hint: Any) -> bool:
    """Whether a type is a record of its own."""
    return isinstance(hint, type) and issubclass(hint, Struct)


def is_mapping(hint: Any) -> bool:
    """Whether a type is a JSON object with arbitrary fields."""
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _problem(error: msgspec.ValidationError, shown: Callable[[str], str] = str) -> str:
    """``field sourcePosition.charStart: expected `int`, got `str```."""
    message = str(error)
    path = _PATH.search(message)
    text = message[: path.start()] if path else message
    text = text[:1].lower() + text[1:]
    return f"field {shown(path['field'])}: {text}" if path and path["field"] else text
