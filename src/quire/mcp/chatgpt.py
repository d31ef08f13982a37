"""``search`` and ``fetch`` as ChatGPT connectors expect them: one text with JSON in it, and the same as a record."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from quire.mcp import resources
from quire.mcp.token_limit import Answer
from quire.mcp.tools import Tools, breadcrumb, cursor_at, offset_of
from quire.search.hit import Hit

_LIMIT = 20
_REST = re.compile(r"(?s)(.+)@([0-9]+-[0-9a-f]{8})")
"""The id of the rest of a section."""


def search(tools: Tools, query: str) -> Answer:
    """The ids and titles of the best sections."""
    hits = tools.workspace.search(query, limit=_LIMIT, max_tokens=0)
    results = list(map(_names, hits))
    end = tools.limit(None).longest(range(1, len(results) + 1), lambda end: _answer({"results": results[:end]}))
    return _answer({"results": results[:end]})


def fetch(tools: Tools, id: str) -> Answer:  # noqa: A002
    """A section. If it is too long, ``next`` in its metadata is the id of the rest."""
    match = _REST.fullmatch(id)
    name, cursor = match.groups() if match else (id, "")
    hit = tools.section(name)
    start = offset_of(cursor, hit.text)

    def answer(end: int) -> Answer:
        rest = cursor_at(hit.text, end)
        more = {"next": f"{name}@{rest}"} if rest else {}
        metadata = {"path": f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}", "tokens": str(hit.tokens), **more}
        return _answer({**_names(hit), "text": hit.text[start:end], "metadata": metadata})

    return tools.part(hit.text, start, None, [answer])


def _names(hit: Hit) -> dict[str, str]:
    return {"id": hit.id, "title": breadcrumb(hit), "url": resources.uri(hit.id)}


def _answer(record: dict[str, Any]) -> Answer:
    return Answer(msgspec.json.encode(record).decode(), record)
