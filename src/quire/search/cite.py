"""``quire.cite``: whether quotations are in the documents, and where: in the source, elsewhere, or in its history."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from itertools import islice, pairwise
from operator import itemgetter
from typing import Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from quire.errors import NotFoundError, QuireError
from quire.index.file_records import FileRecord
from quire.index.node import Node
from quire.links.link_resolution import address, page_of
from quire.model.document import Span
from quire.model.offsets import lines_at
from quire.read.git_process import earlier_texts
from quire.search.hit import Hit
from quire.search.index_api import Index
from quire.search.quotations import Quotation, listed_quotations, quotations
from quire.search.quote_match import LONGEST, ComparedText, Form, compared_quote, forms_of, fragments, nearest_passage

CitationStatus = Literal["found", "found elsewhere", "altered", "stitched", "not in the documents", "was there"]

_MAX_PLACES = 5
_SIMILAR = 0.5  # the share of a quotation's words that a passage must have to be the altered one
_MIN_PART, _MAX_PARTS = 12, 4  # the characters of a part of a stitched quotation, and how many parts there may be
_CANDIDATES = 8  # the sections with its words that a quotation is compared with
_SECTION = re.compile(r"(?:#[^#/]*|:[0-9]+(?:-[0-9]+)?)\Z")


class Place(Struct, frozen=True):
    """Where a quotation is."""

    id: str  # the section
    tree: str
    path: str  # the document, relative to the tree's folder
    lines: tuple[int, int]  # the first and last 1-based line
    span: Span  # the same in characters of the source


class Citation(Quotation, frozen=True):
    """A quotation and what became of it."""

    status: CitationStatus = "not in the documents"  # ``found`` is the only one that proves it
    places: tuple[Place, ...] = ()  # where it is, the nearest passage, or the places that it is stitched from
    difference: str = ""  # if altered: the quotation with ``[-words of the document-]`` and ``{+its own words+}``
    commit: str = ""  # if it was there: the commit that removed it; empty if that is not committed


def cite(text: str | Sequence[Mapping[str, str]], index: Index) -> list[Citation]:
    """Check the quotations of a Markdown text, or of a list of ``{"quote": …, "source": …}``, as JSON or as objects."""
    if not isinstance(index, Index):
        raise TypeError(f"index must be a quire.Index, not {type(index).__name__}; quire.Index.open(FOLDER) opens one")
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
    checking = _Checking(index, resolve, documents)
    found = [checking.in_source(quotation) for quotation in wanted]
    for document_id in checking.documents if None in found else ():
        page = _Page(index.outline(document_id))  # not kept: there may be many
        for number, quotation in enumerate(wanted):
            if found[number] is None and (spans := page.find(quotation.quote)):
                status: CitationStatus = "found elsewhere" if quotation.source else "found"
                found[number] = _citation(quotation, status, map(page.place, spans))
        if None not in found:
            break
    pairs = zip(found, wanted, strict=True)
    return [citation or checking.missing(quotation, history=history) for citation, quotation in pairs]


class _Page:
    """A document with the forms in which it is compared."""

    def __init__(self, nodes: Sequence[Node], text: str = "") -> None:
        self.nodes, self.text = nodes, text or "".join([node.text for node in nodes])
        self.form = cache(partial(ComparedText, self.text))

    def _section(self, position: int) -> int:
        return max(bisect_right(self.nodes, position, key=lambda node: node.start) - 1, 0)

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
        for first, end in text.occurrences(parts[0]):
            last = first
            for part in parts[1:]:
                found = next(text.occurrences(part, end), None)
                if found is None:
                    return
                if "…" in (text.text[end], text.text[found[1] - len(part) - 1]):  # its own dots are text
                    break
                last, end = found  # noqa: PLW2901
            else:
                if within or self._section(first.start) == self._section(last.start):
                    yield Span(first.start, last.end)

    def place(self, span: Span) -> Place:
        node = self.nodes[self._section(span.start)]
        first, last = lines_at(self.text, [span.start, span.end - 1])
        return Place(node.id, node.tree, node.path, (first, last), span)


class _Checking:
    def __init__(self, index: Index, resolve: Callable[[str], str], documents: Iterable[FileRecord]) -> None:
        self.index, self.resolve = index, resolve
        self.documents = {record.id: record for record in documents}
        self.page = cache(lambda document_id: _Page(index.outline(document_id)))

    def in_source(self, quotation: Quotation) -> Citation | None:
        """What became of a quotation that its source has; None for any other."""
        if source := self.source(quotation.source):
            page = self.page(f"{source.tree}:{source.path}")
            if spans := page.find(quotation.quote, source.span):
                return _citation(quotation, "found", map(page.place, spans))
            if spans := page.find(quotation.quote):
                return _citation(quotation, "found elsewhere", map(page.place, spans))
        return None

    def missing(self, quotation: Quotation, *, history: bool) -> Citation:
        """What became of a quotation that no document has."""
        path = _SECTION.sub("", quotation.source)
        for tree, info in self.index.trees().items() if history and path else ():
            inside = path.removeprefix(f"{tree}:").removeprefix("./").removeprefix(f"{info.folder.name}/")
            with suppress(QuireError):  # its earlier texts, the newest first, if it is a file in a git working tree
                for commit, text in earlier_texts(info.folder, inside):
                    if _Page((), text).find(quotation.quote):
                        return _citation(quotation, "was there", commit=commit)
        pages = self._candidates(quotation)
        for form in forms_of(quotation.quote):
            if parts := _stitched(pages, form, compared_quote(quotation.quote)[:LONGEST]):
                return _citation(quotation, "stitched", parts)
        near = [(*nearest_passage(page.form(form), quotation.quote), page) for page in pages]
        if near and (best := max(near, key=itemgetter(0)))[0] >= _SIMILAR:
            _, span, difference, page = best
            return _citation(quotation, "altered", [page.place(span)], difference=difference)
        return _citation(quotation, "not in the documents")

    def source(self, name: str) -> Hit | None:
        """The section that a source names: by its id or path, or by the path of an address on the web."""
        page, mark, fragment = name.partition("#")
        names = address(unquote(urlsplit(page).path if "://" in page else page)).split("/")
        ids = filter(None, (self._addresses.get("/".join(names[start:])) for start in range(len(names))))
        for candidate in (name, *(f"{document_id}{mark}{fragment}" for document_id in islice(ids, 1))) if name else ():
            with suppress(NotFoundError):
                return self.index.get(self.resolve(candidate))
        return None

    @cached_property
    def _addresses(self) -> dict[str, str]:
        records = reversed(self.documents.values())
        return {key: record.id for record in records for key in page_of(record.path, {}).keys}

    def _candidates(self, quotation: Quotation) -> list[_Page]:
        """The source of a quotation, and the documents that have most of its words, or of those of its halves."""
        source = self.source(quotation.source)
        hits, words = [source] if source else [], re.findall(r"\w+", quotation.quote[:LONGEST].lower())
        for part in (words, words[: len(words) // 2], words[len(words) // 2 :]):
            hits += self.index.search(" ".join(part), limit=_CANDIDATES, max_tokens=0, merge=False, every=True)
        ids = dict.fromkeys([f"{hit.tree}:{hit.path}" for hit in hits])
        return [self.page(document_id) for document_id in ids if document_id in self.documents]


def _citation(quotation: Quotation, status: CitationStatus, places: Iterable[Place] = (), **details: str) -> Citation:
    return Citation(quotation.quote, quotation.source, quotation.line, status, tuple(places), **details)


def _stitched(pages: Sequence[_Page], form: Form, words: str) -> list[Place]:
    """The places that a quotation is put together from; none if they are near each other, or do not cover all of it."""
    texts = [page.form(form).text for page in pages]
    parts: list[tuple[_Page, int, int]] = []
    start = 0
    while start < len(words):
        ends = range(start + 1, len(words) + 1)
        lengths = [bisect_left(ends, True, key=lambda end: words[start:end] not in text) for text in texts]
        length = max(lengths, default=0)
        if length < _MIN_PART or len(parts) == _MAX_PARTS:
            return []
        number, part = lengths.index(length), words[start : start + length]
        after = texts[number].find(part, parts[-1][2] if parts else 0)
        at = after if after >= 0 else texts[number].find(part)
        parts.append((pages[number], at, at + length))
        start += length
    if all(left[0] is right[0] and 0 <= right[1] - left[2] <= len(words) for left, right in pairwise(parts)):
        return []
    return [page.place(page.form(form).span(at, end)) for page, at, end in parts]
