"""The tools of the server. Every answer fits its token limit, says how much there is in all, and how to go on.

No answer is cut silently: what does not fit is counted, and a cursor leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from quire import __version__
from quire.breadcrumbs import LIMIT, shorten
from quire.context_words import changed_files
from quire.errors import NotFoundError, OptionError
from quire.manifest import Manifest, manifest
from quire.mcp.token_limit import Answer, TokenLimit
from quire.offsets import line_starts
from quire.search.fusion import Mode
from quire.search.hit import Hit, Results
from quire.validation import unknown_name
from quire.workspace import Workspace
from quire.workspace.context import FileContext

DEFAULT_TOKENS = 2_000
"""Maximum tokens of an answer; with more, agents paid more and found hardly more (benchmarks/results/agents.md)."""
_DEPTH = 20
"""How many sections a search ranks, whatever its limit, so that pages fit together."""
_CONTEXT_LIMIT = 5
_LEAST_TEXT = 16
"""A section is shown without text rather than with fewer tokens than this."""
_JSON_FACTOR = 1.1
"""How many tokens a text has in JSON, usually, for each of its own."""
_LONGEST_TOKEN = 32
"""Characters per token that are tried at first."""
_OVERVIEW_TOKENS, _OUTLINE_TOKENS, _STATUS_TOKENS = 500, 2_000, 1_000
_FILE_NAME = re.compile(r"[^/\\:#]+(?:#[^#]*|:[0-9]+)?")
_LINES = re.compile(r"(?s)(?P<document>.+):(?P<first>[0-9]{1,9})-(?P<last>[0-9]{1,9})")


class Tools:
    """The tools over a workspace; ``count`` counts tokens, ``max_tokens`` is the limit where a call has none."""

    def __init__(self, workspace: Workspace, count: Callable[[str], int], max_tokens: int) -> None:
        self.workspace = workspace
        self.max_tokens = max_tokens
        self._count = count

    def limit(self, max_tokens: int | None) -> TokenLimit:
        """The limit of a call."""
        return TokenLimit(self._count, max_tokens or self.max_tokens)

    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        max_tokens: int | None = None,
        path: str = "",
        tree: str = "",
        where: str = "",
        mode: Mode = "words",
        cursor: str = "",
    ) -> Answer:
        """The best sections, with as much of their texts as fits; the others by name."""
        return self._answered(partial(self._search, query, path, tree, where, mode=mode), limit, max_tokens, cursor)

    def context(self, path: str, *, text: str = "", max_tokens: int | None = None, cursor: str = "") -> Answer:
        """The sections that concern a source file, by its path and what the agent says about it."""
        wanted = FileContext.of({path: text, **changed_files(text)}, self.workspace.settings)
        return self._answered(partial(wanted.search, self.workspace), _CONTEXT_LIMIT, max_tokens, cursor)

    def _answered(self, find: Callable[..., Results], limit: int, max_tokens: int | None, cursor: str) -> Answer:
        """The answer of a search: ``find`` takes the number of sections and their tokens."""
        start, most = offset_of(cursor), self.limit(max_tokens)
        ranked = find(limit=_DEPTH, max_tokens=0)
        page = ranked[start : start + limit]
        answer = partial(self._found, ranked, start, most, page)
        result = answer({hit.id: hit for hit in page})
        names = most.used(self._listed(ranked, start, page, {})) if result is None else 0
        room = max(int((most.most - names) / _JSON_FACTOR), most.most // 2)
        while result is None and room >= _LEAST_TEXT:
            texts = self._texts(page, None if start else partial(find, limit=limit), room)
            result = answer(texts)
            used = most.used(self._listed(ranked, start, page[: _shown(page, texts)], texts))
            room = min(room - 4, room * most.most // max(used, most.most))
        return result or answer({}) or _skipped(start + 1, len(ranked))

    def _search(self, query: str, path: str, tree: str, where: str, **options: Any) -> Results:
        if tree and tree not in self.workspace.trees:
            raise unknown_name(tree, self.workspace.trees, what="tree")
        pattern = f"{tree}:{path or '/'}" if tree else path
        if pattern and not self.workspace.documents(pattern):
            raise NotFoundError(f"no document matches {path or tree}", "outline lists folders and documents")
        return self.workspace.search(query, path=[pattern] if pattern else (), where=where or None, **options)

    def _texts(self, page: Sequence[Hit], find: Callable[..., Sequence[Hit]] | None, room: int) -> dict[str, Hit]:
        """The hits whose texts are shown: on the first page what the search chooses, later the whole ones that fit."""
        if find is not None:
            return {hit.id: hit for hit in find(max_tokens=room)}
        sizes = accumulate(hit.tokens + _LEAST_TEXT for hit in page)
        return {hit.id: hit for hit, size in zip(page, sizes, strict=True) if size <= room}

    def _found(
        self, ranked: Results, start: int, most: TokenLimit, page: Sequence[Hit], texts: Mapping[str, Hit]
    ) -> Answer | None:
        """The answer with all of ``texts`` and as many other sections by name as fit; None if nothing does."""
        ends = range(_shown(page, texts), len(page) + 1)
        end = most.longest(ends, lambda end: self._listed(ranked, start, page[:end], texts))
        listed = self._listed(ranked, start, page[:end], texts)
        return listed if (end or not page) and most.fits(listed) else None

    def _listed(self, ranked: Results, start: int, page: Sequence[Hit], texts: Mapping[str, Hit]) -> Answer:
        shown = [(hit, texts.get(hit.id)) for hit in page]
        end = start + len(page)
        total = f"{len(ranked)}{'+' if len(ranked) >= _DEPTH else ''}"
        sections = [
            f"[{number}] {_reference(hit, text)}\n> {breadcrumb(hit)}\n{text.text.rstrip() if text else ''}".rstrip()
            for number, (hit, text) in enumerate(shown, start + 1)
        ]
        numbers = f"{start + 1}-{end}" if len(page) > 1 else str(end)
        foot = f"{numbers} of {total} sections" if page else f"{total} found" if ranked else "nothing found"
        more = {"cursor": str(end)} if end < len(ranked) else {}
        foot = f'{foot}; cursor "{end}" shows more' if more else foot
        notes = [*_notes(ranked), *filter(None, [self.workspace.note])]
        record = {
            "results": [{**_fields(hit, text), **({"text": text.text} if text else {})} for hit, text in shown],
            "total": len(ranked),
            **more,
            **({"note": "; ".join(notes)} if notes else {}),
        }
        return Answer("\n\n".join([*sections, f"[{'; '.join([foot, *notes])}]"]), record)

    def get(
        self,
        id: str,  # noqa: A002  as agents call it
        children: bool = True,
        max_tokens: int | None = None,
        cursor: str = "",
    ) -> Answer:
        """A section or lines of a document; of a long one the next part."""
        hit = self.section(id, children=children)
        start = offset_of(cursor, hit.text)
        return self.part(hit.text, start, max_tokens, [partial(_part, hit, start, level) for level in range(3)])

    def part(self, text: str, start: int, max_tokens: int | None, answers: Sequence[Callable[[int], Answer]]) -> Answer:
        """The longest part of a text from ``start`` on that fits, to its end or to that of a line if possible.

        ``answers`` make an answer of the end of the part; each adds less to the text than the one before.
        """
        most = self.limit(max_tokens)
        last = min(len(text), start + most.most * _LONGEST_TOKEN)
        ends = [end for end in line_starts(text[:last]) if end > start]
        for answer in answers:
            if most.fits(answer(len(text))):
                return answer(len(text))
            if end := most.longest(ends, answer) or most.longest(range(start + 1, last + 1), answer):
                return answer(end)
        raise OptionError(f"max_tokens={most.most} is too small", "give it more")

    def section(self, name: str, *, children: bool = True) -> Hit:
        """The section, or some lines of a document as if they were one."""
        lines = _LINES.fullmatch(name)
        if lines is None:
            return self._get(name, children=children)
        first, last = int(lines["first"]), int(lines["last"])
        document = self._get(lines["document"])
        starts = line_starts(document.text)
        if document.depth or not 1 <= first <= min(last, len(starts)):
            raise NotFoundError(f"{name[:200]}: no such lines", f"the document has lines 1 to {len(starts)}")
        text = document.text[starts[first - 1] : starts[last] if last < len(starts) else None]
        section = self.workspace.get(f"{document.id}:{first}", children=False)
        return replace(section, text=text, lines=(first, min(last, len(starts))), tokens=self._count(text))

    def _get(self, name: str, **options: Any) -> Hit:
        """A section; of a document that only a file name tells, if there is one such document."""
        try:
            return self.workspace.get(name, **options)
        except NotFoundError as error:
            if len(error.near) != 1 or not _FILE_NAME.fullmatch(name):
                raise
            return self.workspace.get(error.near[0], **options)

    def outline(self, path: str = "", max_tokens: int | None = None, cursor: str = "") -> Answer:
        """The headings of a document, or the documents of a folder, a tree or everything."""
        document = self._document(path)
        most = self.limit(max_tokens or (_OUTLINE_TOKENS if path else _OVERVIEW_TOKENS))
        start = offset_of(cursor)
        if document is None:
            documents = self.workspace.documents(path)
            if path and not documents:
                raise NotFoundError(f"{path[:200]}: no such document or folder", "outline without a path lists all")
        else:
            documents = [document]
        answer = partial(_outlined, start, note=self.workspace.note)
        listed = manifest(
            documents, self.workspace.outline, lambda rows: most.fits(answer(rows)), max_tokens=most.most, start=start
        )
        result = answer(listed)
        return result if most.fits(result) else Answer(f"{listed.total} rows", {"rows": [], "total": listed.total})

    def _document(self, path: str) -> Any:
        """The document with this id or path; None if it is a folder, a tree, a pattern or empty."""
        if not path:
            return None
        try:
            hit = self._get(path)
        except NotFoundError:
            return None
        return next(record for record in self.workspace.documents() if record.id == f"{hit.tree}:{hit.path}")

    def status(self, max_tokens: int | None = None) -> Answer:
        """The served trees, and files that cannot be read."""
        most = self.limit(max_tokens or _STATUS_TOKENS)
        trees, failed = self.workspace.tree_infos(), self.workspace.failed
        notes = [*filter(None, [self.workspace.note]), *(f"{finding.path}: {finding.message}" for finding in failed)]
        rows = [[name, tree.files, tree.nodes, tree.tokens, str(tree.folder)] for name, tree in trees.items()]
        lines = [
            f"{name}: {files:,} documents, {nodes:,} sections, {tokens:,} tokens in {folder}"
            for name, files, nodes, tokens, folder in rows
        ]

        def answer(end: int) -> Answer:
            numbers = {"trees": len(rows), "unreadable": len(failed)}
            head = f"quire {__version__}, {len(rows)} trees, {len(failed)} unreadable files"
            said = notes[: max(end - len(rows), 0)]
            text = "\n".join([head, *lines[:end], *said])
            return Answer(text, {**numbers, "rows": rows[:end], "notes": said} if end else numbers)

        return answer(most.longest(range(1, len(rows) + len(notes) + 1), answer))


def _shown(page: Sequence[Hit], texts: Mapping[str, Hit]) -> int:
    """How many hits must be listed at least: to the last one with text, or the first one."""
    return max((number for number, hit in enumerate(page, 1) if hit.id in texts), default=min(1, len(page)))


def _skipped(end: int, total: int) -> Answer:
    """The answer if not even the name of a section fits."""
    more = {"cursor": str(end)} if end < total else {}
    skips = f'; cursor "{end}" skips it' if more else ""
    return Answer(f"[{end} of {total}: raise max_tokens{skips}]", {"results": [], "total": total, **more})


def _part(hit: Hit, start: int, level: int, end: int) -> Answer:
    """A part of a section; the higher the level, the less is said about it."""
    head = (f"{_reference(hit)}\n> {breadcrumb(hit)}\n", f"{hit.id}\n", "")[level]
    fields: dict[str, Any] = (_fields(hit), {"id": hit.id}, {})[level]
    text, cursor = hit.text[start:end], cursor_at(hit.text, end)
    if not cursor:
        return Answer(head + text, {**fields, "text": text})
    position = f"characters {start}-{end} of {len(hit.text)}; " if level < 2 else ""
    foot = f'\n[{position}cursor "{cursor}"]'
    return Answer(head + text + foot, {**fields, "text": text, "cursor": cursor})


def _outlined(start: int, listed: Manifest, *, note: str) -> Answer:
    end = start + len(listed.entries)
    more = {"cursor": str(end)} if end < listed.total else {}
    foot = f"{start + 1}-{end} of {listed.total}" if start or more else ""
    hints = [
        foot,
        f'cursor "{end}" shows more' if more else "",
        "outline with a path shows more" if listed.is_shortened else "",
        note,
    ]
    hint = "; ".join(filter(None, hints))
    rows = [row[: 4 if row.lines else 3] for row in listed.entries]
    record = {"rows": rows, "total": listed.total, **more, **({"note": note} if note else {})}
    return Answer("\n".join([*(row.line for row in listed.entries), *([f"[{hint}]"] if hint else [])]), record)


def cursor_at(text: str, end: int) -> str:
    """The cursor for the rest of a text; empty if there is none."""
    return f"{end}-{_stamp(text)}" if end < len(text) else ""


def _stamp(text: str) -> str:
    return f"{crc32(text.encode()):08x}"


def offset_of(cursor: str, text: str | None = None) -> int:
    """The number in a cursor; of a section's text, it also tells whether that is still the same."""
    if not cursor:
        return 0
    number, _, stamp = cursor.partition("-")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise OptionError(f"cursor={cursor[:40]!r} is invalid", "take it from the last answer")
    if text is not None and (stamp != _stamp(text) or int(number) > len(text)):
        raise OptionError("the section has changed since the last answer", "leave out the cursor")
    return int(number)


def _reference(hit: Hit, shown: Hit | None = None) -> str:
    """``ID (PATH:LINES, TOKENS)``."""
    part = f"{shown.tokens:,} of " if shown and not shown.complete else ""
    return f"{hit.id} ({hit.path}:{hit.lines[0]}-{hit.lines[1]}, {part}{hit.tokens:,} tokens)"


def breadcrumb(hit: Hit) -> str:
    """``Title › Parent › Section``, of bounded length."""
    line = " › ".join(hit.breadcrumb)
    return line if len(line) <= LIMIT else shorten(hit.breadcrumb)


def _fields(hit: Hit, shown: Hit | None = None) -> dict[str, Any]:
    return {
        "id": hit.id,
        "path": f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}",
        "breadcrumb": breadcrumb(hit),
        "tokens": hit.tokens,
        **({"complete": False} if shown and not shown.complete else {}),
    }


def _notes(results: Results) -> list[str]:
    """What a search has to say about its results."""
    weaker = results.below_cutoff
    corrected = [f'no match for "{word}"; searched {" or ".join(words)}' for word, words in results.corrections.items()]
    unknown = [f'no match for "{word}"' for word in results.unknown_words if results]
    left_out = [f"{weaker} weaker matches left out"] if weaker else []
    return [*results.unknown_keys_notes(), *corrected, *unknown, *left_out]
