"""Generates the JSON Schema of the chunk record: msgspec derives it from the structs, the comments of fields describe it.

quire ships the result, src/quire/output/chunk.schema.json.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import structs

from quire.model.chunk_record import Chunk, SourcePosition, TokenStats
from quire.output.chunk_json import VERSION

_COMMENT = re.compile(r"^    (\w+): .*  # (.+)$", re.MULTILINE)
_NAME = re.compile(r"``([a-z]+(?:_[a-z]+)+)``")


def generated() -> dict[str, Any]:
    """The schema, generated from the code."""
    definitions = json.loads(msgspec.json.encode(msgspec.json.schema(Chunk)["$defs"]))
    for record in (Chunk, SourcePosition, TokenStats):
        described, texts = definitions[record.__name__], _field_texts(record)
        described["description"] = (inspect.getdoc(record) or "").partition(". ")[0].rstrip(".") + "."
        for field in structs.fields(record):
            described["properties"][field.encode_name]["description"] = _in_json_names(texts[field.name])
    content_hash = {"type": "string", "description": _in_json_names(inspect.getdoc(Chunk.content_hash) or "")}
    chunk = definitions.pop(Chunk.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:quire:chunk:{VERSION}",
        "version": VERSION,
        **chunk,
        "properties": {**chunk["properties"], "contentHash": content_hash},
        "$defs": definitions,
    }


def _field_texts(record: type) -> dict[str, str]:
    """The comment behind each field as a sentence, or the docstring below it."""
    source = inspect.getsource(record)
    definition: Any = ast.parse(source).body[0]
    docstrings = {
        ast.unparse(field.target): ast.literal_eval(below.value)
        for field, below in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr)
    }
    return docstrings | {name: f"{text[0].upper()}{text[1:]}." for name, text in _COMMENT.findall(source)}


def _in_json_names(text: str) -> str:
    names = {field.name: field.encode_name for field in structs.fields(Chunk)}
    text = _NAME.sub(lambda match: f"`{names[match[1]]}`", " ".join(text.split()))
    return text.replace("`` > ``", "` > `").replace("``", "`").replace("None", "null")
