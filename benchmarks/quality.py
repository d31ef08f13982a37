"""How well the search answers link questions, with and without merging, beside plain BM25 over pieces and sections."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import tantivy

from benchmarks import linkqa
from benchmarks.linkqa import Collection, Outcome, Place
from quire.index.engine.analysis import analyser, terms
from quire.indexed import Index
from quire.size import resolve

_PIECE = 512
"""The size of a fixed piece, in tokens."""
_DEEP = 40
"""How many hits are taken at most to find as much without merging."""
_COLUMNS = (
    *("", "MRR@10", "not exact", "R@1", "R@5", "R@10", "right page", "tokens", "per right answer", "per right page"),
    "read until right",
)

Search = Callable[[str, int], Sequence[Place]]


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (data / "linkqa").is_dir():
        yield f"Not run: no link questions at {data / 'linkqa'}; set QUIRE_SHARED."
        return
    for collection in (linkqa.docker(data), linkqa.rust_book(data)):
        yield from _measured(collection)
    yield from _EXPLAINED


_EXPLAINED = (
    "A question is a link's text, its answer is where the link leads. A hit is right when it is the answered section,",
    "lies inside it, or holds it without being the whole page; for a page any section of it is right. Hits in a page",
    "that holds the link do not count either way. *Not exact*: MRR@10 of the questions that do not repeat the",
    "target's title. *Right page*: the share of questions with a hit in the right page among those returned.",
    "*Tokens*: of all hits returned, on average; *per right answer* and *per right page* over the questions that got",
    "one. *Read until right*: the tokens of the hits up to the right one and with it, where there is one. A hit's",
    "tokens are those of the section with all below it.",
    "",
    "The halves are by a hash of the target page. Ranking was chosen with both in view, merging by the first half with",
    "a look at the second: a check and no proof. docs/decisions/search.md says what was tried.",
    "Pieces of fixed size, and LangChain's, whose positions are looked up, are right where they overlap the answer.",
)


def _measured(collection: Collection) -> Iterator[str]:
    yield f"## {collection.name}: {len(collection.sections)} pages, {len(collection.questions)} questions"
    yield ""
    yield "| " + " | ".join(_COLUMNS) + " |"
    yield "|---" * len(_COLUMNS) + "|"
    with tempfile.TemporaryDirectory() as folder, Index.open(folder) as index:
        index.update({"pages": collection.folder})
        merged = linkqa.asked(collection, _quire(index, merge=True))
        alone = linkqa.asked(collection, _quire(index, merge=False), _DEEP)
    yield from _rows("quire", merged)
    ten = [each.first(linkqa.DEPTH) for each in alone]
    yield from _rows("quire, not merged", ten)
    enough = next((depth for depth in range(linkqa.DEPTH, _DEEP) if _finds_as_many(alone, depth, merged)), _DEEP)
    yield _row(f"· with as many right pages: {enough} hits", [each.first(enough) for each in alone])
    fixed = linkqa.asked(collection, _plain(list(_fixed(collection))))
    yield _row(f"BM25, fixed pieces of {_PIECE} tokens", fixed)
    yield from _not_exact(fixed)
    name = "BM25, LangChain's MarkdownHeaderTextSplitter"
    if find_spec("langchain_text_splitters") is None:
        yield f"| {name} | not run: langchain-text-splitters is not installed" + " |" * (len(_COLUMNS) - 1)
    else:
        by_langchain = linkqa.asked(collection, _plain(list(_by_langchain(collection))))
        yield _row(name, by_langchain)
        yield from _not_exact(by_langchain)
    yield ""


def _rows(name: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """All questions, those that do not repeat the title, and the halves."""
    yield _row(name, outcomes)
    yield from _not_exact(outcomes)
    yield from _halves(outcomes)


def _not_exact(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The questions that do not repeat the title, where there are others."""
    part = [each for each in outcomes if not each.question.exact]
    if len(part) < len(outcomes):
        yield _row(f"· that do not repeat the title, {len(part)} questions", part)


def _halves(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for half, first in (("first half", True), ("second half", False)):
        part = [each for each in outcomes if each.question.is_in_first_half == first]
        yield _row(f"· {half}, {len(part)} questions", part)


def _finds_as_many(outcomes: Sequence[Outcome], depth: int, as_: Sequence[Outcome]) -> bool:
    return linkqa.page_recall([each.first(depth) for each in outcomes]) >= linkqa.page_recall(as_)


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    hard = [each for each in outcomes if not each.question.exact]
    pages, right = linkqa.page_recall(outcomes), linkqa.recall(outcomes, _DEEP)
    shares = [linkqa.mrr(each.first(linkqa.DEPTH) for each in some) for some in (outcomes, hard)]
    shares += [linkqa.recall(outcomes, depth) for depth in (1, 5, 10)] + [pages]
    tokens = [linkqa.tokens_returned(outcomes), linkqa.tokens_per(outcomes, right), linkqa.tokens_per(outcomes, pages)]
    tokens.append(linkqa.tokens_read(outcomes))
    figures = [*(f"{share:.3f}" for share in shares), *(f"{count:,.0f}" for count in tokens)]
    return "| " + " | ".join([name, *figures]) + " |"


def _quire(index: Index, *, merge: bool) -> Search:
    def search(text: str, limit: int) -> list[Place]:
        return [
            Place(hit.path, hit.span.start, hit.span.end, hit.tokens, is_page=hit.depth == 0)
            for hit in index.search(text, limit=limit, merge=merge)
        ]

    return search


class _Piece(NamedTuple):
    text: str
    place: Place


def _fixed(collection: Collection) -> Iterator[_Piece]:
    """Pages cut after every so many tokens, at a line end where there is one."""
    count = resolve(None, "o200k_base").count
    for path in collection.sections:
        lines = (collection.folder / path).read_bytes().decode().splitlines(keepends=True)
        start, piece, tokens = 0, "", 0
        for line in [*lines, None]:
            cost = count(line) if line is not None else 0
            if piece and (line is None or tokens + cost > _PIECE):
                yield _Piece(piece, Place(path, start, start + len(piece), tokens, is_piece=True))
                start, piece, tokens = start + len(piece), "", 0
            piece, tokens = piece + (line or ""), tokens + cost


def _by_langchain(collection: Collection) -> Iterator[_Piece]:
    """LangChain's sections, headings kept. It tells no positions: those of its lines in order are looked up."""
    from langchain_text_splitters import MarkdownHeaderTextSplitter  # noqa: PLC0415  an extra

    count = resolve(None, "o200k_base").count
    splitter = MarkdownHeaderTextSplitter([("#" * depth, str(depth)) for depth in range(1, 7)], strip_headers=False)
    for path in collection.sections:
        source = (collection.folder / path).read_bytes().decode()
        at = 0
        for made in splitter.split_text(source):
            text = made.page_content
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            found = source.find(lines[0], at) if lines else -1
            start = found if found >= 0 else at
            end = source.find(lines[-1], start) if lines else start
            at = end + len(lines[-1]) if end >= 0 else start
            yield _Piece(text, Place(path, start, max(at, start), count(text), is_piece=True))


def _plain(pieces: Sequence[_Piece]) -> Search:
    """BM25 over the text of pieces, any word may match, with the same engine and the same analyser."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="text")
    builder.add_unsigned_field("number", fast=True)
    schema = builder.build()
    index = tantivy.Index(schema)
    index.register_tokenizer("text", analyser("english"))
    writer = index.writer(100_000_000, 1)
    for number, piece in enumerate(pieces):
        document = tantivy.Document()
        document.add_text("text", piece.text)
        document.add_unsigned("number", number)
        writer.add_document(document)
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(text: str, limit: int) -> list[Place]:
        words = [tantivy.Query.term_query(schema, "text", word) for word in dict.fromkeys(terms(text, "english"))]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, word) for word in words])
        keys = [key for _, key in searcher.search(query, limit, count=False).hits]
        return [pieces[int(number or 0)].place for number in searcher.fast_field_values("number", keys)]

    return search
