"""The JSON Schema of the record, generated from the dataclasses and their docstrings.

``python -m quire.wire.json_schema`` regenerates ``chunk.schema.json``, which is shipped; a test fails if it is out of
date.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from quire.record import Chunk, SourcePosition, TokenStats
from quire.wire.chunk_json import ABSENT, RANGES, VERSION, camel, is_mapping

FILE = Path(__file__).with_name("chunk.schema.json")

_PLAIN: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    str | None: {"type": ["string", "null"]},
    int: {"type": "integer", "minimum": 0},
    int | None: {"type": ["integer", "null"], "minimum": 0},
}
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
    hints, said = get_type_hints(record), docstrings(record)
    properties = {camel(each.name): _described(hints[each.name], each.name, said) for each in fields(record)}
    if record is Chunk:
        said |= docstrings(Chunk, "content_hash")
        properties["contentHash"] = {"type": "string", "description": said["content_hash"]}
    required = [camel(each.name) for each in fields(record) if each.name not in ABSENT[record]]
    return {"description": _summary(record), "type": "object", "properties": properties, "required": required}


def _described(hint: Any, name: str, said: Mapping[str, str]) -> dict[str, Any]:
    made = _type(hint)
    if name in RANGES:
        made["items"] |= dict(zip(("minimum", "maximum"), RANGES[name], strict=True))
    return made | {"description": said[name]}


def _type(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if hint in (SourcePosition, TokenStats):
        return _object(hint)
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _type(get_args(hint)[0])}
    if is_mapping(hint):
        return {"type": "object"}
    raise TypeError(f"no JSON Schema for the type {hint}; add it to quire.wire.json_schema")


def docstrings(record: type, *methods: str) -> dict[str, str]:
    """The docstrings of the fields, and of ``methods``, with JSON names."""
    (definition,) = ast.parse(inspect.cleandoc(inspect.getsource(record))).body
    if not isinstance(definition, ast.ClassDef):
        raise TypeError(f"{record} is not a class")
    said: dict[str, str] = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            said[field.target.id] = _in_json_names(ast.literal_eval(below.value))
    for each in definition.body:
        if isinstance(each, ast.FunctionDef) and each.name in methods:
            said[each.name] = _in_json_names(ast.get_docstring(each) or "")
    return said


def _summary(record: type) -> str:
    return (inspect.getdoc(record) or "").split("\n", 1)[0].split(". ")[0].rstrip(".") + "."


def _in_json_names(text: str) -> str:
    text = _NAME.sub(lambda match: f"`{camel(match[1])}`", " ".join(text.split()))
    return text.replace("`` > ``", "` > `").replace("``", "`").replace("None", "null")


if __name__ == "__main__":
    FILE.write_text(json.dumps(generated(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
