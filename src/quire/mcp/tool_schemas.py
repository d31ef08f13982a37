"""The tools as an agent sees them, and the check of their arguments. Every word here costs tokens in every session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quire.errors import OptionError, near
from quire.mcp.token_limit import LEAST_TOKENS

_MAX_TOKENS = {"type": "integer", "minimum": LEAST_TOKENS, "description": "limit for the answer"}
_CURSOR = {"type": "string", "description": "from the last answer"}
_TEXT = {"type": "string"}
_QUERY = {"type": "string", "description": "a question or words"}

TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "search": (
        "Find the sections of the documentation that answer a question.",
        {
            "query": _QUERY,
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
            "max_tokens": _MAX_TOKENS,
            "path": {"type": "string", "description": "only this folder, file or glob"},
            "tree": _TEXT,
            "cursor": _CURSOR,
        },
    ),
    "outline": (
        "List folders, documents or a document's headings, with token counts.",
        {
            "path": {"type": "string", "description": "document, folder, tree or glob; default: all"},
            "max_tokens": _MAX_TOKENS,
            "cursor": _CURSOR,
        },
    ),
    "get": (
        "Read a section or document.",
        {
            "id": {"type": "string", "description": "id, path, path#slug or path:from-to"},
            "children": {"type": "boolean", "default": True, "description": "with subsections"},
            "max_tokens": _MAX_TOKENS,
            "cursor": _CURSOR,
        },
    ),
    "status": ("Show what is indexed.", {"max_tokens": _MAX_TOKENS}),
}
CHATGPT_TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "search": ("Find sections of the documentation.", {"query": _QUERY}),
    "fetch": ("Read a section that search found.", {"id": _TEXT}),
}
"""The tools that ChatGPT connectors expect."""
REQUIRED = ("query", "id")
_ALIASES = {"q": "query", "question": "query", "max_results": "limit", "n": "limit", "section": "id"}
_KINDS: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}


def checked(properties: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call. Wrong ones raise an error that says what to do."""
    arguments = {}
    for name, value in given.items():
        known = name if name in properties else _ALIASES.get(name, name)
        if known not in properties:
            advice = f"the arguments are {', '.join(properties)}"
            raise OptionError(f"unknown argument {name[:40]!r}{near(name, properties)}", advice)
        if value is not None:
            arguments[known] = _checked(known, value, properties[known])
    for name in REQUIRED:
        if name in properties and not str(arguments.get(name, "")).strip():
            raise OptionError(f"{name} is missing", f"give it as {properties[name].get('description', 'a string')}")
    return arguments


def _checked(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    kind = _KINDS[schema["type"]]
    if kind is int and isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:12])  # some models quote numbers
    if type(value) is not kind:
        raise OptionError(f"{name}={value!r:.40} is not possible", f"it must be of type {schema['type']}")
    least, most = schema.get("minimum"), schema.get("maximum")
    if (least is not None and value < least) or (most is not None and value > most):
        rule = f"from {least} to {most}" if most else f"at least {least}"
        raise OptionError(f"{name}={value} is not possible", f"it must be {rule}")
    return value
