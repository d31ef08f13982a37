"""The JSON Schema of the record, generated from the dataclasses and their docstrings.

``make docs`` regenerates ``chunk.schema.json``, which is shipped; a test fails if it is out of date.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import structs

from quire.record import Chunk
from quire.wire.chunk_json import VERSION, is_mapping, is_record

FILE = Path(__file__).with_name("chunk.schema.json")

_PLAIN: Mapping[Any, Mapping[str, Any]] = {str: {"type": "string"}, int: {"type": "integer"}}
_NAME = re.compile(r"``([a-z]+(?:_[a-z]+)+)``")


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the chunk record."""
    read: dict[str, Any] = json.loads(FILE.read_bytes())
    return read


def generated() -> dict[str, Any]:
    """The schema, generated from the code."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:quire:chunk:{VERSION}",
        "version": VERSION,
        "title": "Chunk",
        **_object(Chunk),
    }


def _object(record: Any) -> dict[str, Any]:
    fields, described = structs.fields(record), _descriptions(record)
    properties = {each.encode_name: _type(each.type) | {"description": described[each.name]} for each in fields}
    if record is Chunk:
        text = _in_json_names(inspect.getdoc(Chunk.content_hash) or "")
        properties["contentHash"] = {"type": "string", "description": text}
    required = [each.encode_name for each in fields if each.required]
    summary = (inspect.getdoc(record) or "").split("\n", 1)[0].split(". ")[0].rstrip(".") + "."
    return {"description": summary, "type": "object", "properties": properties, "required": required}


def _type(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if get_origin(hint) is Annotated:
        kind, limits = get_args(hint)
        bounds = {"minimum": limits.ge, "maximum": limits.le}
        return _type(kind) | {name: bound for name, bound in bounds.items() if bound is not None}
    if get_origin(hint) in (Union, UnionType):
        described = _type(get_args(hint)[0])
        return described | {"type": [described["type"], "null"]}
    if is_record(hint):
        return _object(hint)
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _type(get_args(hint)[0])}
    if is_mapping(hint):
        return {"type": "object"}
    raise TypeError(f"no JSON Schema for the type {hint}; add it to quire.wire.json_schema")


def _descriptions(record: type) -> dict[str, str]:
    """The docstrings of the fields."""
    definition: Any = ast.parse(inspect.getsource(record)).body[0]
    return {
        ast.unparse(field.target): _in_json_names(ast.literal_eval(below.value))
        for field, below in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr)
    }


def _in_json_names(text: str) -> str:
    names = {each.name: each.encode_name for each in structs.fields(Chunk)}
    text = _NAME.sub(lambda match: f"`{names[match[1]]}`", " ".join(text.split()))
    return text.replace("`` > ``", "` > `").replace("``", "`").replace("None", "null")


def write() -> None:
    """Write the generated schema to the shipped file."""
    FILE.write_text(json.dumps(generated(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
