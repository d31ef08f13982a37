"""The tools: search, outline, get, context and status; for ChatGPT, search and fetch.

Each answer says how much there is in all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from typing import Annotated, Any, ClassVar
from urllib.parse import quote

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from quire import __version__
from quire.document_list import DocumentList, document_list
from quire.errors import NotFoundError
from quire.index.file_records import FileRecord
from quire.mcp.answers import Answer, Cursor, Limit, Query, Service, Tool, breadcrumb, cursor_at, offset_of
from quire.offsets import line_starts
from quire.search.hit import Hit, Results
from quire.search.search_settings import Mode
from quire.validation import unknown_name
from quire.workspace import Workspace
from quire.workspace.context import FileContext, changed_files

SCHEME = "quire"
_DEPTH = 20  # how many sections a search ranks, whatever its limit, so that pages fit together
_CONTEXT_LIMIT, _CHATGPT_LIMIT = 5, 20
_LEAST_TEXT = 16  # a section is shown without text rather than with fewer tokens than this
_JSON_FACTOR = 1.1  # how many tokens a text has in JSON, usually, for each of its own
_OVERVIEW_TOKENS, _OUTLINE_TOKENS, _STATUS_TOKENS = 500, 2_000, 1_000
_FILE_NAME = re.compile(r"[^/\\:#]+(?:#[^#]*|:[0-9]+)?")
_REST = re.compile(r"(?s)(.+)@([0-9]+-[0-9a-f]{8})")  # the id that ChatGPT gets for the rest of a section
_LINES = re.compile(r"(?s)(?P<document>.+):(?P<first>[0-9]{1,9})-(?P<last>[0-9]{1,9})")


class Search(Tool, frozen=True):
    """Find the sections of the documentation that answer a question."""

    title: ClassVar = "Search documentation"
    mode: ClassVar[Mode] = "words"
    query: Query
    limit: Annotated[int, Meta(ge=1, le=20)] = 5
    max_tokens: Limit | None = None
    path: Annotated[str, Meta(description="only this folder, file or glob")] = ""
    tree: str = ""
    where: Annotated[str, Meta(description="front matter: status=draft")] = ""
    cursor: Cursor = ""

    def answer(self, service: Service) -> Answer:
        """The best sections, with as much of their texts as fits; the others by name."""
        return _Page(service, self, partial(self._find, service.workspace), self.limit).answer()

    def _find(self, workspace: Workspace, **limits: Any) -> Results:
        if self.tree and self.tree not in workspace.trees:
            raise unknown_name(self.tree, workspace.trees, what="tree")
        pattern = f"{self.tree}:{self.path or '/'}" if self.tree else self.path
        if pattern and not workspace.documents(pattern):
            raise NotFoundError(f"no document matches {self.path or self.tree}", "outline lists folders and documents")
        where = self.where or None
        return workspace.search(self.query, path=[pattern] if pattern else (), where=where, mode=self.mode, **limits)


class VectorSearch(Search, frozen=True):
    """Find the sections of the documentation that answer a question."""

    mode: Mode = "words"  # type: ignore[misc]


class Context(Tool, frozen=True):
    """Find the documentation that concerns a source file."""

    title: ClassVar = "Find documentation for code"
    path: Annotated[str, Meta(min_length=1, description="of the source file")]
    text: Annotated[str, Meta(description="its names, code or a diff")] = ""
    max_tokens: Limit | None = None
    cursor: Cursor = ""

    def answer(self, service: Service) -> Answer:
        """The sections that concern a source file, by its path and what the agent says about it."""
        workspace = service.workspace
        context = FileContext.of({self.path: self.text, **changed_files(self.text)}, workspace.settings)
        return _Page(service, self, partial(context.search, workspace), _CONTEXT_LIMIT).answer()


class _Page:
    """A page of a search with ``size`` sections; ``find`` takes the number of sections and their tokens."""

    def __init__(self, service: Service, call: Search | Context, find: Callable[..., Results], size: int) -> None:
        self._find = partial(find, limit=size)
        self._limit = service.limit(call.max_tokens)
        self._start = offset_of(call.cursor)
        self._ranked = find(limit=_DEPTH, max_tokens=0)
        self._hits = self._ranked[self._start : self._start + size]
        weaker = self._ranked.below_cutoff
        left_out = f"{weaker} weaker matches left out" if weaker else ""
        self._notes = [*self._ranked.notes(), *filter(None, [left_out, service.workspace.note])]

    def answer(self) -> Answer:
        """The sections with their texts; without some of them, or parts of them, if they do not fit."""
        return next(filter(None, map(self._fitting, self._choices())), None) or self._skipped()

    def _choices(self) -> Iterator[Mapping[str, Hit]]:
        """The hits whose texts are shown: all, then as many as fit a limit that becomes smaller, then none."""
        yield {hit.id: hit for hit in self._hits}
        most, names = self._limit.most, self._limit.used(self._listed(len(self._hits), {}))
        room = max(int((most - names) / _JSON_FACTOR), most // 2)
        while room >= _LEAST_TEXT:
            yield (texts := self._texts(room))
            used = self._limit.used(self._listed(self._fewest(texts), texts))
            room = min(room - 4, room * most // max(used, most))
        yield {}

    def _texts(self, room: int) -> dict[str, Hit]:
        """The hits whose texts are shown: on the first page what the search chooses, later the whole ones that fit."""
        if not self._start:
            return {hit.id: hit for hit in self._find(max_tokens=room)}
        sizes = accumulate(hit.tokens + _LEAST_TEXT for hit in self._hits)
        return {hit.id: hit for hit, size in zip(self._hits, sizes, strict=True) if size <= room}

    def _fewest(self, texts: Mapping[str, Hit]) -> int:
        """How many hits must be listed at least: to the last one with text, or the first one."""
        numbers = (number for number, hit in enumerate(self._hits, 1) if hit.id in texts)
        return max(numbers, default=min(1, len(self._hits)))

    def _fitting(self, texts: Mapping[str, Hit]) -> Answer | None:
        """The answer with all of ``texts`` and as many other sections by name as fit; None if nothing does."""
        numbers = range(self._fewest(texts), len(self._hits) + 1)
        number = self._limit.longest(numbers, lambda number: self._listed(number, texts))
        answer = self._listed(number, texts)
        return answer if (number or not self._hits) and self._limit.fits(answer) else None

    def _listed(self, number: int, texts: Mapping[str, Hit]) -> Answer:
        start, total = self._start, len(self._ranked)
        end = start + number
        cursor = str(end) if end < total else ""
        listed = [(hit, texts.get(hit.id)) for hit in self._hits[:number]]
        sections = [
            f"[{rank}] {_head(hit, text)}{text.text if text else ''}".rstrip()
            for rank, (hit, text) in enumerate(listed, start + 1)
        ]
        numbers = f"{start + 1}-{end}" if number > 1 else str(end)
        ranked = f"{total}{'+' * (total >= _DEPTH)}"
        foot = f"{numbers} of {ranked} sections" if listed else f"{ranked} found" if total else "nothing found"
        hints = [foot, *([f'cursor "{cursor}" shows more'] if cursor else []), *self._notes]
        results = [{**_fields(hit, text), **_present(text=text and text.text)} for hit, text in listed]
        record = {"results": results, "total": total, **_present(cursor=cursor, note="; ".join(self._notes))}
        return Answer("\n\n".join([*sections, f"[{'; '.join(hints)}]"]), record)

    def _skipped(self) -> Answer:
        """The answer if not even the name of a section fits."""
        end, total = self._start + 1, len(self._ranked)
        cursor = str(end) if end < total else ""
        skips = f'; cursor "{cursor}" skips it' if cursor else ""
        record = {"results": [], "total": total, **_present(cursor=cursor)}
        return Answer(f"[{end} of {total}: raise max_tokens{skips}]", record)


def _present(**fields: Any) -> dict[str, Any]:
    """The fields of a record that are not empty."""
    return {name: value for name, value in fields.items() if value}


class Get(Tool, frozen=True):
    """Read a section or document."""

    title: ClassVar = "Read a section"
    id: Annotated[str, Meta(min_length=1, description="id, path, path#slug or path:from-to")]
    children: Annotated[bool, Meta(description="with subsections")] = True
    max_tokens: Limit | None = None
    cursor: Cursor = ""

    def answer(self, service: Service) -> Answer:
        """A section or lines of a document; of a long one the next part."""
        hit = section(service, self.id, children=self.children)
        start = offset_of(self.cursor, hit.text)
        answers = [partial(_part, hit, start, level) for level in range(3)]
        return service.limit(self.max_tokens).part(hit.text, start, answers)


def section(service: Service, name: str, *, children: bool = True) -> Hit:
    """The section, or some lines of a document as if they were one."""
    lines = _LINES.fullmatch(name)
    if lines is None:
        return _get(service.workspace, name, children=children)
    first, last = int(lines["first"]), int(lines["last"])
    document = _get(service.workspace, lines["document"])
    starts = line_starts(document.text)
    if document.depth or not 1 <= first <= min(last, len(starts)):
        raise NotFoundError(f"{name[:200]}: no such lines", f"the document has lines 1 to {len(starts)}")
    text = document.text[starts[first - 1] : starts[last] if last < len(starts) else None]
    hit = service.workspace.get(f"{document.id}:{first}", children=False)
    return replace(hit, text=text, lines=(first, min(last, len(starts))), tokens=service.count(text))


def _get(workspace: Workspace, name: str, **options: Any) -> Hit:
    """A section; of a document that only a file name tells, if there is one such document."""
    try:
        return workspace.get(name, **options)
    except NotFoundError as error:
        if len(error.near) != 1 or not _FILE_NAME.fullmatch(name):
            raise
        return workspace.get(error.near[0], **options)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _part(hit: Hit, start: int, level: int, end: int) -> Answer:
    """A part of a section; the higher the level, the less is said about it."""
    head = (_head(hit), f"{hit.id}\n", "")[level]
    fields: dict[str, Any] = (_fields(hit), {"id": hit.id}, {})[level]
    text, cursor = hit.text[start:end], cursor_at(hit.text, end)
    if not cursor:
        return Answer(head + text, {**fields, "text": text})
    position = f"characters {start}-{end} of {len(hit.text)}; " if level < 2 else ""
    foot = f'\n[{position}cursor "{cursor}"]'
    return Answer(head + text + foot, {**fields, "text": text, "cursor": cursor})


def _head(hit: Hit, excerpt: Hit | None = None) -> str:
    """``ID (PATH:LINES, TOKENS)`` and the breadcrumb."""
    part = f"{excerpt.tokens:,} of " if excerpt and not excerpt.complete else ""
    tokens = f"{part}{hit.tokens:,} tokens"
    return f"{hit.id} ({hit.path}:{hit.lines[0]}-{hit.lines[1]}, {tokens})\n> {breadcrumb(hit)}\n"


def _fields(hit: Hit, excerpt: Hit | None = None) -> dict[str, Any]:
    return {
        "id": hit.id,
        "path": f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}",
        "breadcrumb": breadcrumb(hit),
        "tokens": hit.tokens,
        **({"complete": False} if excerpt and not excerpt.complete else {}),
    }


class Outline(Tool, frozen=True):
    """List folders, documents or a document's headings, with token counts."""

    title: ClassVar = "List documents and headings"
    path: Annotated[str, Meta(description="document, folder, tree or glob; default: all")] = ""
    max_tokens: Limit | None = None
    cursor: Cursor = ""

    def answer(self, service: Service) -> Answer:
        """The headings of a document, or the documents of a folder, a tree or everything."""
        workspace, start = service.workspace, offset_of(self.cursor)
        limit = service.limit(self.max_tokens or (_OUTLINE_TOKENS if self.path else _OVERVIEW_TOKENS))
        documents = self._documents(workspace)
        answer = partial(_outlined, start, note=workspace.note)
        fits: Callable[[DocumentList], bool] = lambda rows: limit.fits(answer(rows))  # noqa: E731
        listed = document_list(documents, workspace.index.outline, fits, max_tokens=limit.most, start=start)
        outline = answer(listed)
        return outline if limit.fits(outline) else Answer(f"{listed.total} rows", {"rows": [], "total": listed.total})

    def _documents(self, workspace: Workspace) -> list[FileRecord]:
        """The document with this id or path, else those of a folder, a tree or a pattern."""
        if not self.path:
            return workspace.documents()
        if not workspace.finds(self.path) and (documents := workspace.documents(self.path)):
            return documents
        try:
            hit = _get(workspace, self.path)
        except NotFoundError as error:
            raise error.advising("outline without a path lists all") from error
        return [record for record in workspace.documents() if record.id == f"{hit.tree}:{hit.path}"]


def _outlined(start: int, listed: DocumentList, *, note: str) -> Answer:
    end = start + len(listed.entries)
    cursor = str(end) if end < listed.total else ""
    hints = [
        f"{start + 1}-{end} of {listed.total}" if start or cursor else "",
        f'cursor "{cursor}" shows more' if cursor else "",
        "outline with a path shows more" if listed.is_shortened else "",
        note,
    ]
    hint = "; ".join(filter(None, hints))
    rows = [row[: 4 if row.lines else 3] for row in listed.entries]
    lines = [*(row.line for row in listed.entries), *([f"[{hint}]"] if hint else [])]
    return Answer("\n".join(lines), {"rows": rows, "total": listed.total, **_present(cursor=cursor, note=note)})


class Status(Tool, frozen=True):
    """Show what is indexed."""

    title: ClassVar = "Show what is indexed"
    max_tokens: Limit | None = None

    def answer(self, service: Service) -> Answer:
        """The served trees, and files that cannot be read."""
        limit, workspace = service.limit(self.max_tokens or _STATUS_TOKENS), service.workspace
        trees, failed = workspace.tree_infos(), workspace.failed
        notes = [*filter(None, [workspace.note]), *(f"{finding.path}: {finding.message}" for finding in failed)]
        rows: list[list[Any]] = [
            [name, tree.files, tree.nodes, tree.tokens, str(tree.folder)] for name, tree in trees.items()
        ]
        lines = [
            f"{name}: {_count(files, 'document')}, {_count(nodes, 'section')}, {_count(tokens, 'token')} in {folder}"
            for name, files, nodes, tokens, folder in rows
        ]

        def answer(end: int) -> Answer:
            numbers = {"trees": len(rows), "unreadable": len(failed)}
            head = f"quire {__version__}, {_count(len(rows), 'tree')}, {_count(len(failed), 'unreadable file')}"
            listed = notes[: max(end - len(rows), 0)]
            text = "\n".join([head, *lines[:end], *listed])
            return Answer(text, {**numbers, "rows": rows[:end], "notes": listed} if end else numbers)

        return answer(limit.longest(range(1, len(rows) + len(notes) + 1), answer))


class ChatgptSearch(Tool, frozen=True):
    """Find sections of the documentation."""

    title: ClassVar = "Search documentation"
    query: Query

    def answer(self, service: Service) -> Answer:
        """The ids and titles of the best sections."""
        hits = service.workspace.search(self.query, limit=_CHATGPT_LIMIT, max_tokens=0)
        results = list(map(_chatgpt_names, hits))
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
            metadata = {"path": path, "tokens": str(hit.tokens), **_present(next=rest and f"{name}@{rest}")}
            return _json_answer({**_chatgpt_names(hit), "text": hit.text[start:end], "metadata": metadata})

        return service.limit().part(hit.text, start, [answer])


def _chatgpt_names(hit: Hit) -> dict[str, str]:
    return {"id": hit.id, "title": breadcrumb(hit), "url": uri(hit.id)}


def _json_answer(record: dict[str, Any]) -> Answer:
    return Answer(msgspec.json.encode(record).decode(), record)


def uri(node_id: str) -> str:
    """The URI of a document or section: ``quire:///TREE/PATH`` or ``quire:///TREE/PATH#SLUG``."""
    document, mark, slug = node_id.partition("#")
    tree, _, path = document.partition(":")
    return f"{SCHEME}:///{quote(tree)}/{quote(path)}{mark}{quote(slug)}"


TOOLS: Mapping[str, type[Tool]] = {
    "search": Search,
    "outline": Outline,
    "get": Get,
    "context": Context,
    "status": Status,
}
VECTOR_TOOLS: Mapping[str, type[Tool]] = {**TOOLS, "search": VectorSearch}  # the tools if the index has vectors
CHATGPT_TOOLS: Mapping[str, type[Tool]] = {"search": ChatgptSearch, "fetch": Fetch}
"""The tools that ChatGPT connectors expect: each answer is one text with JSON in it, and the same as a record."""
