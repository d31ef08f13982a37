"""The tools: search, outline, get, context, check and status."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from typing import Annotated, Any, ClassVar
from urllib.parse import quote

from msgspec import Meta

from quire import __version__
from quire.errors import NotFoundError
from quire.index.document_list import DocumentList, document_list
from quire.index.file_records import FileRecord
from quire.index.section_lookup import LIST_DOCUMENTS, SectionName
from quire.mcp.answers import Answer, Service, cursor_at, offset_of
from quire.mcp.tool_arguments import Cursor, Limit, Query, Tool
from quire.search.hit import Hit, Results
from quire.search.search_settings import Mode
from quire.workspace.context import FileContext, changed_files
from quire.workspace.workspace import Workspace

SCHEME = "quire"
_DEPTH = 20  # how many sections a search ranks, whatever its limit, so that pages fit together
_CONTEXT_LIMIT = 5
_LEAST_TEXT = 16  # a section is shown without text rather than with fewer tokens than this
_JSON_FACTOR = 1.1  # how many tokens a text has in JSON, usually, for each of its own
_QUOTE_CHARS = 60  # of a quotation in an answer
_OVERVIEW_TOKENS, _OUTLINE_TOKENS, _STATUS_TOKENS = 500, 2_000, 1_000


class Search(Tool, frozen=True):
    """Find the sections of the documentation that answer a question."""

    title: ClassVar = "Search documentation"
    mode: ClassVar[Mode] = "words"
    query: Query
    limit: Annotated[int, Meta(ge=1, le=20)] = 5
    max_tokens: Limit | None = None
    path: Annotated[str, Meta(description="only this document, folder or glob")] = ""
    tree: str = ""
    where: Annotated[str, Meta(description="front matter: status=draft")] = ""
    list: Annotated[bool, Meta(description="no texts")] = False
    cursor: Cursor = ""

    def answer(self, service: Service) -> Answer:
        """The best sections, with as much of their texts as fits; the others by name."""
        return _Page(service, self, partial(self._find, service.workspace), self.limit).answer()

    def _find(self, workspace: Workspace, **limits: Any) -> Results:
        pattern = f"{self.tree}:{self.path or '/'}" if self.tree else self.path
        if pattern and not workspace.documents(pattern):
            raise NotFoundError(f"no document matches {pattern}", "outline lists folders and documents")
        limits |= {"path": [pattern] if pattern else (), "where": self.where or None, "mode": self.mode}
        return workspace.search(self.query, **limits)


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
        self._is_list = isinstance(call, Search) and call.list
        self._start = offset_of(call.cursor)
        self._ranked = find(limit=_DEPTH, max_tokens=0)
        self._hits = self._ranked[self._start : self._start + size]
        weaker = self._ranked.below_cutoff
        left_out = f"{weaker} weaker matches left out" if weaker else ""
        self._notes = [*self._ranked.notes(), *filter(None, [left_out, service.workspace.note])]

    def answer(self) -> Answer:
        """The sections with their texts; without some of them, or parts of them, if they do not fit."""
        for texts in [{}] if self._is_list else self._choices():
            numbers = range(self._fewest(texts), len(self._hits) + 1)
            number = self._limit.longest(numbers, partial(self._listed, texts))
            answer = self._listed(texts, number)
            if (number or not self._hits) and self._limit.fits(answer):
                return answer
        end, total = self._start + 1, len(self._ranked)
        cursor = str(end) if end < total else ""
        skips = f'; cursor "{cursor}" skips it' if cursor else ""
        record = {"results": [], "total": total, **present(cursor=cursor)}
        return Answer(f"[{end} of {total}: raise max_tokens{skips}]", record)

    def _choices(self) -> Iterator[dict[str, Hit]]:
        """The hits whose texts are shown: all, then as many as fit a limit that becomes smaller, then none."""
        yield {hit.id: hit for hit in self._hits}
        most, names = self._limit.most, self._limit.used(self._listed({}, len(self._hits)))
        sizes = list(accumulate(hit.tokens + _LEAST_TEXT for hit in self._hits))
        room = max(int((most - names) / _JSON_FACTOR), most // 2)
        while room >= _LEAST_TEXT:  # on the first page the search chooses them, later the whole ones that fit
            fitting = self._hits[: bisect_right(sizes, room)] if self._start else self._find(max_tokens=room)
            yield (texts := {hit.id: hit for hit in fitting})
            used = self._limit.used(self._listed(texts, self._fewest(texts)))
            room = min(room - 4, room * most // max(used, most))
        yield {}

    def _fewest(self, texts: Mapping[str, Hit]) -> int:
        """How many hits must be listed at least: to the last one with text, or the first one."""
        numbers = (number for number, hit in enumerate(self._hits, 1) if hit.id in texts)
        return max(numbers, default=min(1, len(self._hits)))

    def _listed(self, texts: Mapping[str, Hit], number: int) -> Answer:
        start, total, hits = self._start, len(self._ranked), self._hits[:number]
        end = start + number
        cursor = str(end) if end < total else ""
        numbers = f"{start + 1}-{end}" if number > 1 else str(end)
        ranked = f"{total}{'+' * (total >= _DEPTH)}"
        foot = f"{numbers} of {ranked} sections" if hits else f"{ranked} found" if total else "nothing found"
        hints = [foot, *([f'cursor "{cursor}" shows more'] if cursor else []), *self._notes]
        sections, results = [], []
        for rank, hit in enumerate(hits, start + 1):
            excerpt = texts.get(hit.id)
            text, (first, last) = excerpt.text if excerpt else "", hit.lines
            if self._is_list:
                sections.append(f"{hit.id}:{first}-{last} {hit.title} ({hit.tokens}) {hit.score:.2f}")
                score = {"tokens": hit.tokens, "score": round(hit.score, 2)}
                results.append({"id": hit.id, "lines": hit.lines, "title": hit.title, **score})
            else:
                sections.append(f"[{rank}] {_head(hit, excerpt)}{text}".rstrip())
                results.append({**_fields(hit, excerpt), **present(text=text)})
        if self._is_list and sections:
            sections = ["\n".join(sections)]
        record = {"results": results, "total": total, **present(cursor=cursor, note="; ".join(self._notes))}
        return Answer("\n\n".join([*sections, f"[{'; '.join(hints)}]"]), record)


def present(**fields: Any) -> dict[str, Any]:
    """The fields of a record that are not empty."""
    return {name: value for name, value in fields.items() if value}


class Get(Tool, frozen=True):
    """Read a section or document."""

    title: ClassVar = "Read a section"
    id: Annotated[str, Meta(min_length=1, description="id, path, path#slug or path:line")]
    children: Annotated[bool, Meta(description="with subsections")] = True
    max_tokens: Limit | None = None
    cursor: Cursor = ""

    def answer(self, service: Service) -> Answer:
        """A section; of a long one the next part."""
        hit = get_section(service.workspace, self.id, children=self.children)
        start = offset_of(self.cursor, hit.text)
        answers = [partial(_part, hit, start, names) for names in ((_head(hit), _fields(hit)), ("", {}))]
        return service.limit(self.max_tokens).part(hit.text, start, answers)


def get_section(workspace: Workspace, name: str, **options: Any) -> Hit:
    """A section; a file name alone is enough if there is one such document."""
    try:
        return workspace.get(name, **options)
    except NotFoundError as error:
        if error.advice == LIST_DOCUMENTS:
            raise error.advising("outline lists documents and headings") from error
        if len(error.near) != 1 or {*SectionName.of(name).document} & {*"/\\:#"}:
            raise
        return workspace.get(error.near[0], **options)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _part(hit: Hit, start: int, names: tuple[str, dict[str, Any]], end: int) -> Answer:
    """A part of a section after its ``names``, as text and as fields."""
    head, fields = names
    text, cursor = hit.text[start:end], cursor_at(hit.text, end)
    position = f"characters {start}-{end} of {len(hit.text)}; " if head else ""
    foot = f'\n[{position}cursor "{cursor}"]' if cursor else ""
    return Answer(head + text + foot, {**fields, "text": text, **present(cursor=cursor)})


def _head(hit: Hit, excerpt: Hit | None = None) -> str:
    """``ID (PATH:LINES, TOKENS)`` and the breadcrumb."""
    part = f"{excerpt.tokens:,} of " if excerpt and not excerpt.complete else ""
    tokens = f"{part}{hit.tokens:,} tokens"
    url = f"{hit.url}\n" if hit.url else ""
    return f"{hit.id} ({hit.path}:{hit.lines[0]}-{hit.lines[1]}, {tokens})\n{hit.breadcrumb_line}\n{url}"


def _fields(hit: Hit, excerpt: Hit | None = None) -> dict[str, Any]:
    path, partial_text = f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}", excerpt and not excerpt.complete
    fields = {"id": hit.id, "path": path, "breadcrumb": hit.breadcrumb_line[2:], "tokens": hit.tokens}
    return {**fields, **present(url=hit.url), **({"complete": False} if partial_text else {})}


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

        def fits(listed: DocumentList) -> bool:
            return limit.fits(_outlined(start, listed, workspace.note))

        documents, outline = self._documents(workspace), workspace.index.outline
        listed = document_list(documents, outline, fits, max_tokens=limit.most, start=start)
        if not fits(listed):
            return Answer(f"{listed.total} rows", {"rows": [], "total": listed.total})
        return _outlined(start, listed, workspace.note)

    def _documents(self, workspace: Workspace) -> list[FileRecord]:
        """The document with this id or path, else those of a folder, a tree or a pattern."""
        if not self.path:
            return workspace.documents()
        if not workspace.finds(self.path) and (documents := workspace.documents(self.path)):
            return documents
        try:
            hit = get_section(workspace, self.path)
        except NotFoundError as error:
            raise error.advising("outline without a path lists all") from error
        return [record for record in workspace.documents() if record.id == f"{hit.tree}:{hit.path}"]


def _outlined(start: int, listed: DocumentList, note: str) -> Answer:
    end = start + len(listed.entries)
    cursor = str(end) if end < listed.total else ""
    numbers = f"{start + 1}-{end} of {listed.total}" if start or cursor else ""
    more = f'cursor "{cursor}" shows more' if cursor else ""
    shortened = "outline with a path shows more" if listed.is_shortened else ""
    hint = "; ".join(filter(None, [numbers, more, shortened, note]))
    rows = [row[: 4 if row.lines else 3] for row in listed.entries]
    lines = [*(row.line for row in listed.entries), *([f"[{hint}]"] if hint else [])]
    return Answer("\n".join(lines), {"rows": rows, "total": listed.total, **present(cursor=cursor, note=note)})


class Check(Tool, frozen=True):
    """Check quotations against their sources."""

    title: ClassVar = "Check quotations"
    text: Annotated[str, Meta(min_length=1, description='"quote" [id] …')]

    def answer(self, service: Service) -> Answer:
        """The status of each quotation, and its place or what differs."""
        from quire.search.cite import check_quotations  # noqa: PLC0415  few sessions need it

        workspace, rows = service.workspace, []
        sources = workspace.index, lambda name: workspace.get(name).id, workspace.documents()
        found = check_quotations(self.text, *sources, history=False)
        for citation in found:
            places = [f"{place.tree}:{place.path}:{place.lines[0]}-{place.lines[1]}" for place in citation.places]
            difference = present(places=places, difference=citation.difference)
            rows.append({"status": citation.status, "quote": citation.quote[:_QUOTE_CHARS], **difference})
        lines = [" | ".join(", ".join(v) if isinstance(v, list) else v for v in row.values()) for row in rows]
        count = sum(citation.status == "found" for citation in found)

        def answer(end: int) -> Answer:
            rest = f"; {len(rows) - end} more: check fewer at once" if end < len(rows) else ""
            text = "\n".join([*lines[:end], f"[{count} of {len(rows)} found{rest}]"])
            return Answer(text, {"quotations": rows[:end], "found": count, "total": len(rows)})

        return answer(service.limit().longest(range(len(rows) + 1), answer))


class Status(Tool, frozen=True):
    """Show what is indexed."""

    title: ClassVar = "Show what is indexed"
    max_tokens: Limit | None = None

    def answer(self, service: Service) -> Answer:
        """The served trees, and files that cannot be read."""
        limit, workspace = service.limit(self.max_tokens or _STATUS_TOKENS), service.workspace
        trees, failed = workspace.tree_infos(), workspace.failed
        unread = (f"{finding.path}: {finding.message}" for finding in failed)
        notes = [*filter(None, [workspace.note, workspace.left_out()]), *unread]
        rows = [(name, tree.files, tree.nodes, tree.tokens, str(tree.folder)) for name, tree in trees.items()]
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


def uri(node_id: str) -> str:
    """The URI of a document or section: ``quire:///TREE/PATH`` or ``quire:///TREE/PATH#SLUG``."""
    document, mark, slug = node_id.partition("#")
    tree, _, path = document.partition(":")
    return f"{SCHEME}:///{quote(tree)}/{quote(path)}{mark}{quote(slug)}"


_TOOLS: tuple[type[Tool], ...] = (Search, Outline, Get, Context, Check, Status)
TOOLS: Mapping[str, type[Tool]] = {tool.__name__.lower(): tool for tool in _TOOLS}
VECTOR_TOOLS: Mapping[str, type[Tool]] = {**TOOLS, "search": VectorSearch}  # the tools if the index has vectors
