"""The tools as agents see them. A struct declares the arguments of each; every word costs tokens in every session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct, structs

from quire.mcp.token_limit import LEAST_TOKENS
from quire.search.fusion import Mode
from quire.validation import convert, fields, from_text

Query = Annotated[str, Meta(min_length=1, description="a question or words")]
Limit = Annotated[int, Meta(ge=LEAST_TOKENS)]
Cursor = Annotated[str, Meta(description="from the last answer")]


class Tool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool; the docstring of each is what agents read about it."""

    title: ClassVar[str]


class Search(Tool, frozen=True):
    """Find the sections of the documentation that answer a question."""

    title: ClassVar = "Search documentation"
    query: Query
    limit: Annotated[int, Meta(ge=1, le=20)] = 5
    max_tokens: Limit | None = None
    path: Annotated[str, Meta(description="only this folder, file or glob")] = ""
    tree: str = ""
    where: Annotated[str, Meta(description="front matter: status=draft")] = ""
    cursor: Cursor = ""


class VectorSearch(Search, frozen=True):
    """Find the sections of the documentation that answer a question."""

    mode: Mode = "words"


class Outline(Tool, frozen=True):
    """List folders, documents or a document's headings, with token counts."""

    title: ClassVar = "List documents and headings"
    path: Annotated[str, Meta(description="document, folder, tree or glob; default: all")] = ""
    max_tokens: Limit | None = None
    cursor: Cursor = ""


class Get(Tool, frozen=True):
    """Read a section or document."""

    title: ClassVar = "Read a section"
    id: Annotated[str, Meta(min_length=1, description="id, path, path#slug or path:from-to")]
    children: Annotated[bool, Meta(description="with subsections")] = True
    max_tokens: Limit | None = None
    cursor: Cursor = ""


class Context(Tool, frozen=True):
    """Find the documentation that concerns a source file."""

    title: ClassVar = "Find documentation for code"
    path: Annotated[str, Meta(min_length=1, description="of the source file")]
    text: Annotated[str, Meta(description="its names, code or a diff")] = ""
    max_tokens: Limit | None = None
    cursor: Cursor = ""


class Status(Tool, frozen=True):
    """Show what is indexed."""

    title: ClassVar = "Show what is indexed"
    max_tokens: Limit | None = None


class ChatgptSearch(Tool, frozen=True):
    """Find sections of the documentation."""

    title: ClassVar = "Search documentation"
    query: Query


class Fetch(Tool, frozen=True):
    """Read a section that search found."""

    title: ClassVar = "Read a section"
    id: Annotated[str, Meta(min_length=1)]


TOOLS: Mapping[str, type[Tool]] = {
    "search": Search,
    "outline": Outline,
    "get": Get,
    "context": Context,
    "status": Status,
}
VECTOR_TOOLS: Mapping[str, type[Tool]] = {**TOOLS, "search": VectorSearch}
"""The tools if the index has vectors."""
CHATGPT_TOOLS: Mapping[str, type[Tool]] = {"search": ChatgptSearch, "fetch": Fetch}
"""The tools that ChatGPT connectors expect."""
_ALIASES = {"q": "query", "question": "query", "max_results": "limit", "n": "limit", "section": "id", "file": "path"}
_TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "integer"}
"""JSON's types by those of defaults; the only fields without a default are numbers."""


def schema(kind: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, as short as possible."""
    required = [field.name for field in structs.fields(kind) if field.required]
    properties = {}
    for name, field in fields(kind).items():
        kept: dict[str, Any] = {"minimum": field.least, "maximum": field.most, "description": field.meaning or None}
        kept |= {"enum": list(field.choices) or None, "default": field.default or None}
        kind_of = "string" if name in required else _TYPES[type(field.default)]
        properties[name] = {"type": kind_of} | {key: value for key, value in kept.items() if value is not None}
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def checked(kind: type[Struct], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call. Wrong ones raise an error that says what to do."""
    declared = fields(kind)
    required = {field.name for field in structs.fields(kind) if field.required}
    values: dict[str, Any] = {}
    for name, value in arguments.items():
        key = name if name in declared else _ALIASES.get(name, name)
        if isinstance(value, str) and key in required:
            values[key] = value.strip() or None
        elif isinstance(value, str) and key in declared and not isinstance(declared[key].default, str):
            values[key] = from_text(key, value[:12], declared[key])  # some models quote numbers
        else:
            values[key] = value
    return structs.asdict(
        convert(kind, {key: value for key, value in values.items() if value is not None}, what="argument")
    )
