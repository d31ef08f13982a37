"""The tools that ChatGPT connectors expect, search and fetch: each answer is one text with JSON in it."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from quire.mcp.answers import Answer, Query, Service, Tool, breadcrumb, cursor_at, offset_of
from quire.mcp.tools import present, section, uri
from quire.search.hit import Hit

_LIMIT = 20
_REST = re.compile(r"(?s)(.+)@([0-9]+-[0-9a-f]{8})")  # the id that ChatGPT gets for the rest of a section


class ChatgptSearch(Tool, frozen=True):
    """Find sections of the documentation."""

    title: ClassVar = "Search documentation"
    query: Query

    def answer(self, service: Service) -> Answer:
        """The ids and titles of the best sections."""
        results = list(map(_chatgpt_names, service.workspace.search(self.query, limit=_LIMIT, max_tokens=0)))
        end = service.limit().longest(range(1, len(results) + 1), lambda end: _json_answer({"results": results[:end]}))
        return _json_answer({"results": results[:end]})


class Fetch(Tool, frozen=True):
    """Read a section that search found."""

    title: ClassVar = "Read a section"
    id: Annotated[str, Meta(min_length=1)]

    def answer(self, service: Service) -> Answer:
        """A section. If it is too long, ``next`` in its metadata is the id of the rest."""
        match = _REST.fullmatch(self.id)
        name, cursor = match.groups() if match else (self.id, "")
        hit = section(service, name)
        start = offset_of(cursor, hit.text)

        def answer(end: int) -> Answer:
            rest = cursor_at(hit.text, end)
            path = f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}"
            metadata = {"path": path, "tokens": str(hit.tokens), **present(next=rest and f"{name}@{rest}")}
            return _json_answer({**_chatgpt_names(hit), "text": hit.text[start:end], "metadata": metadata})

        return service.limit().part(hit.text, start, [answer])


def _chatgpt_names(hit: Hit) -> dict[str, str]:
    return {"id": hit.id, "title": breadcrumb(hit), "url": hit.url or uri(hit.id)}


def _json_answer(record: dict[str, Any]) -> Answer:
    return Answer(msgspec.json.encode(record).decode(), record)


CHATGPT_TOOLS: Mapping[str, type[Tool]] = {"search": ChatgptSearch, "fetch": Fetch}
