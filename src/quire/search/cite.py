"""``quire.cite``: whether quotations are in the documents, and where.

A quotation is looked for in its source, then in all documents, each read once. For one that is nowhere, the history of
its source is read, if that is in a git working tree; then the sections with its words are compared with it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from itertools import pairwise
from operator import itemgetter
from typing import Literal
from urllib.parse import unquote, urlsplit

import msgspec

from quire.errors import NotFoundError, QuireError
from quire.index.file_records import FileRecord
from quire.index.node import Node
from quire.links.link_addresses import address, page_of
from quire.model.document import Span
from quire.model.offsets import lines_at
from quire.read.git import earlier_texts
from quire.search.hit import Hit
from quire.search.index_api import Index
from quire.search.quotations import Quotation, listed_quotations, quotations
from quire.search.quoted_text import ComparedText, Form, compared_quote, forms_of, fragments, nearest_passage

CitationStatus = Literal["found", "found elsewhere", "altered", "stitched", "not in the documents", "was there"]

_MAX_PLACES = 5
_SIMILAR = 0.5  # the share of a quotation's words that a passage must have to be the altered one
_MIN_PART, _MAX_PARTS = 12, 4  # the characters of a part of a stitched quotation, and how many parts there may be
_LONGEST = 3_000  # so many characters of a quotation are compared with similar passages
_CANDIDATES = 8  # the sections with its words that a quotation is compared with
_SECTION = re.compile(r"(?:#[^#/]*|:[0-9]+(?:-[0-9]+)?)\Z")


class Place(msgspec.Struct, frozen=True):
    """Where a quotation is."""

    id: str  # the section
    tree: str
    path: str  # the document, relative to the tree's folder
    lines: tuple[int, int]  # the first and last 1-based line
    span: Span  # the same in characters of the source


class Citation(msgspec.Struct, frozen=True):
    """A quotation and what became of it."""

    quote: str  # as it is in the text
    source: str  # as it is in the text; empty if it has none
    line: int  # the line of the text, or its number in a list of quotations
    status: CitationStatus  # ``found`` is the only one that proves it
    places: tuple[Place, ...] = ()  # where it is, the nearest passage, or the places that it is stitched from
    difference: str = ""  # if altered: the quotation with ``[-words of the document-]`` and ``{+its own words+}``
    commit: str = ""  # if it was there: the commit that removed it; empty if that is not committed


def cite(text: str | Sequence[Mapping[str, str]], index: Index) -> list[Citation]:
    """Check the quotations of a Markdown text, or of a list of ``{"quote": …, "source": …}``, as JSON or as objects."""
    return check_quotations(text, index, lambda name: index.get(name).id, index.documents())


def check_quotations(
    text: str | Sequence[Mapping[str, str]],
    index: Index,
    resolve: Callable[[str], str],
    documents: Iterable[FileRecord],
    *,
    history: bool = True,
) -> list[Citation]:
    """``cite``, for some documents; ``resolve`` returns the id of a source. With ``history``, git may be asked."""
    wanted = quotations(text) if isinstance(text, str) else listed_quotations(text)
    checking = _Checking(index, resolve, documents, history=history)
    found = {number: citation for number, each in enumerate(wanted) if (citation := checking.check(each))}
    found |= checking.find_anywhere({number: each for number, each in enumerate(wanted) if number not in found})
    return [found.get(number) or checking.missing(each) for number, each in enumerate(wanted)]


class _Page:
    """A document with the forms in which it is compared."""

    def __init__(self, nodes: Sequence[Node], text: str = "") -> None:
        self.nodes, self.text = nodes, text or "".join([node.text for node in nodes])
        self.form = cache(partial(ComparedText, self.text))

    def node_at(self, position: int) -> Node | None:
        number = bisect_right(self.nodes, position, key=lambda node: node.start)
        return self.nodes[number - 1] if number else None

    def find(self, quote: str, within: Span | None = None) -> list[Span]:
        """Where a quotation is, in the first form that has it."""
        words, parts = compared_quote(quote), fragments(quote)
        spellings = dict.fromkeys((words, words[:1].swapcase() + words[1:]))  # as in the middle of a sentence
        for form in forms_of(quote):
            spans = [span for spelling in spellings for span, _ in self.form(form).occurrences(spelling)]
            spans += self._shortened(form, parts, within) if parts[1:] else ()
            inside = [span for span in spans if within is None or within.start <= span.start < span.end <= within.end]
            if inside:
                return inside[:_MAX_PLACES]
        return []

    def _shortened(self, form: Form, parts: Sequence[str], within: Span | None) -> Iterator[Span]:
        """Where all parts of a quotation are, one after the other, in one section or ``within`` its source."""
        text = self.form(form)
        for first, first_end in text.occurrences(parts[0]):
            last, end = first, first_end
            for part in parts[1:]:
                found = next(text.occurrences(part, end), None)
                if found is None:
                    return
                if "…" in (text.text[end], text.text[found[1] - len(part) - 1]):  # its own dots are text
                    break
                last, end = found
            else:
                if within or self.node_at(first.start) is self.node_at(last.start):
                    yield Span(first.start, last.end)

    def place(self, span: Span) -> Place:
        node = self.node_at(span.start) or self.nodes[0]
        first, last = lines_at(self.text, [span.start, span.end - 1])
        return Place(node.id, node.tree, node.path, (first, last), span)


class _Checking:
    """Checks quotations against an index; ``resolve`` returns the id of a source."""

    def __init__(
        self, index: Index, resolve: Callable[[str], str], documents: Iterable[FileRecord], *, history: bool
    ) -> None:
        self._index, self._resolve, self._has_history = index, resolve, history
        self._documents = {record.id: record for record in documents}
        self._page = cache(lambda document_id: _Page(index.outline(document_id)))

    def check(self, quotation: Quotation) -> Citation | None:
        """What became of a quotation that its source has; None for any other."""
        if source := self.source(quotation.source):
            page = self._page(f"{source.tree}:{source.path}")
            if spans := page.find(quotation.quote, source.span):
                return _citation(quotation, "found", map(page.place, spans))
            if spans := page.find(quotation.quote):
                return _citation(quotation, "found elsewhere", map(page.place, spans))
        return None

    def find_anywhere(self, wanted: Mapping[int, Quotation]) -> dict[int, Citation]:
        """The quotations that any document has, by their numbers; each document is read once."""
        pending, found = dict(wanted), dict[int, Citation]()
        for document_id in self._documents:
            page = _Page(self._index.outline(document_id)) if pending else None
            for number, quotation in list(pending.items()):
                if page and (spans := page.find(quotation.quote)):
                    status: CitationStatus = "found elsewhere" if quotation.source else "found"
                    found[number] = _citation(pending.pop(number), status, map(page.place, spans))
        return found

    def missing(self, quotation: Quotation) -> Citation:
        """What became of a quotation that no document has."""
        for commit, page in self._history(quotation.source):
            if page.find(quotation.quote):
                return _citation(quotation, "was there", commit=commit)
        pages = self._candidates(quotation)
        for form in forms_of(quotation.quote):
            if parts := _stitched(pages, form, compared_quote(quotation.quote)[:_LONGEST]):
                return _citation(quotation, "stitched", parts)
        near = [(*nearest_passage(page.form(form), quotation.quote), page) for page in pages]
        for score, span, difference, page in sorted(near, key=itemgetter(0), reverse=True)[:1]:
            if score >= _SIMILAR:
                return _citation(quotation, "altered", [page.place(span)], difference)
        return _citation(quotation, "not in the documents")

    def source(self, name: str) -> Hit | None:
        """The section that a source names: by its id or path, or by the path of an address on the web."""
        for candidate in (name, *self._by_address(name)) if name else ():
            with suppress(NotFoundError):
                return self._index.get(self._resolve(candidate))
        return None

    def _by_address(self, name: str) -> Iterator[str]:
        page, mark, fragment = name.partition("#")
        names = address(unquote(urlsplit(page).path if "://" in page else page)).split("/")
        for start in range(len(names)):
            if document_id := self._addresses.get("/".join(names[start:])):
                yield f"{document_id}{mark}{fragment}"
                return

    @cached_property
    def _addresses(self) -> dict[str, str]:
        return {
            key: record.id for record in reversed(self._documents.values()) for key in page_of(record.path, {}).keys
        }

    def _history(self, name: str) -> Iterator[tuple[str, _Page]]:
        """The earlier texts of a source, the newest first, if it is a file in a git working tree."""
        path = _SECTION.sub("", name)
        for tree, info in self._index.trees().items() if path and self._has_history else ():
            inside = path.removeprefix(f"{tree}:").removeprefix("./").removeprefix(f"{info.folder.name}/")
            with suppress(QuireError):
                yield from ((commit, _Page((), text)) for commit, text in earlier_texts(info.folder, inside))

    def _candidates(self, quotation: Quotation) -> list[_Page]:
        """The source of a quotation, and the documents that have most of its words, or of those of its halves."""
        source = self.source(quotation.source)
        ids = [f"{source.tree}:{source.path}"] if source else []
        words = re.findall(r"\w+", quotation.quote[:_LONGEST].lower())
        half = len(words) // 2
        for part in filter(None, (words, words[:half], words[half:])):
            hits = self._index.search(" ".join(part), limit=_CANDIDATES, max_tokens=0, merge=False, every=True)
            ids += [f"{hit.tree}:{hit.path}" for hit in hits]
        return [self._page(document_id) for document_id in dict.fromkeys(ids) if document_id in self._documents]


def _citation(
    quotation: Quotation, status: CitationStatus, places: Iterable[Place] = (), difference: str = "", commit: str = ""
) -> Citation:
    quote, source, line = quotation.quote, quotation.source, quotation.line
    return Citation(quote, source, line, status, tuple(places), difference, commit)


def _stitched(pages: Sequence[_Page], form: Form, words: str) -> list[Place]:
    """The places that a quotation is put together from; none if they are near each other, or do not cover all of it."""
    parts: list[tuple[_Page, int, int]] = []
    start = 0
    while start < len(words):
        texts = [page.form(form).text for page in pages]
        ends = range(start + 1, len(words) + 1)
        lengths = [bisect_left(ends, True, key=lambda end: words[start:end] not in text) for text in texts]
        length = max(lengths, default=0)
        if length < _MIN_PART or len(parts) == _MAX_PARTS:
            return []
        page, part = pages[lengths.index(length)], words[start : start + length]
        text = page.form(form).text
        after = text.find(part, parts[-1][2] if parts else 0)
        at = after if after >= 0 else text.find(part)
        parts.append((page, at, at + length))
        start += length
    if all(left[0] is right[0] and 0 <= right[1] - left[2] <= len(words) for left, right in pairwise(parts)):
        return []
    return [page.place(page.form(form).span(at, end)) for page, at, end in parts]
