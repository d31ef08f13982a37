"""A chunk to JSON and back. model/chunk_record.py declares fields and names; chunk.schema.json describes them."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from quire.errors import InputError
from quire.model.chunk_record import Chunk
from quire.model.validation import REGENERATE

VERSION = "1.2"  # the version of the record; the first number changes when older readers would fail
SCHEMA = Path(__file__).with_name("chunk.schema.json")  # generated from the structs: make docs

_SPACE = re.compile(r"\s*")


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the chunk record."""
    return dict(json.loads(SCHEMA.read_bytes()))


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
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [_plain(item) for item in value]
    return str(value)


def decode(data: bytes | str | Mapping[str, Any], *, name: str = "<record>") -> Chunk:
    """The chunk of a record; errors call the record ``name``."""
    record = data if isinstance(data, Mapping) else parse(data, name=name)
    return Chunk.from_dict(record, name=name)


def _finite(number: str) -> float:
    if math.isfinite(value := float(number)):
        return value
    raise ValueError(f"{number:.80} is no number in JSON")


def parse(data: bytes | str, *, name: str = "<record>") -> Any:
    """The value of a JSON text, lone surrogates included."""
    with _json_errors(name):
        return json.loads(data, parse_float=_finite, parse_constant=_finite)


def json_values(data: bytes, *, name: str) -> Iterator[tuple[int, Any]]:
    """The values of a JSON text one after the other, as in JSON lines, each with the line at which it starts."""
    with _json_errors(name):
        text = data.decode("utf-8-sig")
        decoder, line, end = json.JSONDecoder(parse_float=_finite, parse_constant=_finite), 1, 0
        while (start := _SPACE.match(text, end).end()) < len(text):  # type: ignore[union-attr]
            line += text.count("\n", end, start)
            value, end = decoder.raw_decode(text, start)
            yield line, value
            line += text.count("\n", start, end)


@contextmanager
def _json_errors(name: str) -> Iterator[None]:
    """Turn errors of the JSON decoder into an InputError that calls the text ``name``."""
    try:
        yield
    except (RecursionError, ValueError) as error:
        raise InputError(name, f"is not JSON in UTF-8: {error}", f"correct it, or {REGENERATE}") from error


@cache
def optional(record: Any) -> type[Struct]:
    """A type that reads ``record`` with every field optional."""
    types = {field.name: field.type for field in structs.fields(record)}
    members = [(name, optional(kind) if is_record(kind) else kind, None) for name, kind in types.items()]
    return msgspec.defstruct(record.__name__, [*members, ("content_hash", str, "")], rename="camel", kw_only=True)


def is_record(hint: Any) -> bool:
    """Whether a type is a record of its own."""
    return isinstance(hint, type) and issubclass(hint, Struct)
