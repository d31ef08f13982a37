"""A chunk to JSON and back. ``Chunk.to_dict`` names the fields, json_schema.py describes them.

Writing accepts any text. Reading is strict: a missing field or a wrong type is an error that names the field. Unknown
fields are ignored.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from types import GenericAlias, MappingProxyType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from quire.errors import InputError
from quire.record import Chunk, SourcePosition, TokenStats

VERSION = "1.1"
"""The version of the record; the first number changes when older readers would fail."""

ABSENT: Mapping[type, Mapping[str, Any]] = MappingProxyType(
    {
        Chunk: MappingProxyType(
            {
                "prev_id": None, "next_id": None, "node_types": (), "metadata": {}, "strategy": "",
                "overlap_chars": 0, "added_chars": 0, "breadcrumb": (), "contained_headings": (), "contained_slugs": (),
                "position": None, "source_path": None, "node_id": "",
            }
        ),
        SourcePosition: MappingProxyType({"byte_start": 0, "byte_end": 0, "start_line": 0, "end_line": 0}),
        TokenStats: MappingProxyType({"embed_tokens": 0}),
    }
)  # fmt: skip
"""Optional fields and their values if absent; a line or a count of 0 means unknown."""

OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"headerHierarchy": "headerBreadcrumb", "sectionId": "sectionSlug", "heading": "sectionTitle"}
)
"""Alternative names that are also read, with the names that are written; legacy.py has more."""

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"header_depths": (1, 6)})
"""The ranges of numbers that do not start at 0."""

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
    read = check_types(renamed(record, OTHER_NAMES, name=name), name=name, is_part=False)
    read.source_position = _instance(SourcePosition, read.source_position)
    read.token_stats = _instance(TokenStats, read.token_stats)
    read.metadata = MappingProxyType(read.metadata)
    chunk: Chunk = _instance(Chunk, read)
    return chunk


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


def check_types(
    record: Mapping[str, Any], *, name: str, shown: Callable[[str], str] = str, is_part: bool = True
) -> Any:
    """``record`` as an instance of a type with the same fields; all of them are optional with ``is_part``.

    A wrong type raises an InputError; ``shown`` names fields in it.
    """
    try:
        return msgspec.convert(record, _mirror(Chunk, is_part=is_part))
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


def _instance(kind: Any, read: Any) -> Any:
    """An instance of ``kind`` with the values of its mirror."""
    return kind(**{each.name: getattr(read, each.name) for each in fields(kind)})


@cache
def _mirror(record: Any, *, is_part: bool = False) -> type[msgspec.Struct]:
    """A type that reads and checks ``record`` by its JSON names; with ``is_part`` every field is optional."""
    hints, absent = get_type_hints(record), ABSENT[record]
    needed = None if is_part else msgspec.NODEFAULT
    members: list[tuple[str, Any, Any]] = [
        (each.name, _checked(hints[each.name], RANGES.get(each.name), is_part=is_part), absent.get(each.name, needed))
        for each in fields(record)
    ]
    if record is Chunk:
        members.append(("content_hash", str, ""))
    return msgspec.defstruct(record.__name__, members, rename="camel", kw_only=True)


def _checked(hint: Any, within: tuple[int, int] | None = None, *, is_part: bool = False) -> Any:
    """The type to read for a field's type: numbers are at least 0, or ``within`` a range."""
    if hint is int:
        least, most = within or (0, None)
        return Annotated[int, msgspec.Meta(ge=least, le=most)]
    if hint in ABSENT:
        return _mirror(hint, is_part=is_part)
    if get_origin(hint) is tuple:
        return GenericAlias(tuple, (_checked(get_args(hint)[0], within), ...))
    if hint == int | None:
        return _checked(int) | None
    return dict[str, Any] if is_mapping(hint) else hint


def camel(name: str) -> str:
    """A name in camelCase: ``chunk_number`` becomes ``chunkNumber``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


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
