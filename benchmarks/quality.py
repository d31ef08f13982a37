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
_COLUMNS = ("", "MRR@10", "not exact", "R@1", "R@5", "R@10", "tokens returned", "per right answer", "read until right")

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
    "A question is a link's text, its answer is where the link leads; pages that hold the link do not count. *Not exact*:",
    "MRR@10 of the questions that do not repeat the target's title. *Chosen by*: the half of the questions (by a hash of",
    "the target page) on which the defaults of the ranking were chosen; *unseen*: the other half. *Tokens returned*: of ten",
    "hits, on average. *Per right answer*: all tokens returned over the questions answered among ten hits. *Read until",
    "right*: the tokens of the hits up to and with the right one, where there is one. Pieces of fixed size have no section:",
    "they are right where they overlap the answer. Without merging, a hit is a node's own text; with it, a section with all",
    "that is below.",
)


def _measured(collection: Collection) -> Iterator[str]:
    yield f"## {collection.name}: {len(collection.sections)} pages, {len(collection.questions)} questions"
    yield ""
    yield "| " + " | ".join(_COLUMNS) + " |"
    yield "|---" * len(_COLUMNS) + "|"
    with tempfile.TemporaryDirectory() as folder, Index.open(folder) as index:
        index.update({"pages": collection.folder})
        for name, merge in (("quire", True), ("quire, not merged", False)):
            outcomes = linkqa.asked(collection, _quire(index, merge=merge))
            yield _row(name, outcomes)
            if merge:
                halves = (("chosen by", True), ("unseen", False))
                for half, choosing in halves:
                    part = [each for each in outcomes if each.question.is_for_choosing == choosing]
                    yield _row(f"· {half}, {len(part)} questions", part)
    for name, pieces in (
        (f"BM25, fixed pieces of {_PIECE} tokens", _fixed),
        ("BM25, LangChain's MarkdownHeaderTextSplitter", _by_langchain),
    ):
        if pieces is _by_langchain and find_spec("langchain_text_splitters") is None:
            yield f"| {name} | not run: langchain-text-splitters is not installed |" + " |" * (len(_COLUMNS) - 2)
            continue
        yield _row(name, linkqa.asked(collection, _plain(list(pieces(collection)))))
    yield ""


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    hard = [each for each in outcomes if not each.question.exact]
    returned = sum(each.tokens for each in outcomes) / max(len(outcomes), 1)
    figures = [f"{linkqa.mrr(outcomes):.3f}", f"{linkqa.mrr(hard):.3f}"]
    figures += [f"{linkqa.recall(outcomes, depth):.3f}" for depth in (1, 5, 10)]
    figures += [f"{returned:,.0f}", f"{linkqa.tokens_per_right_answer(outcomes):,.0f}"]
    figures += [f"{linkqa.tokens_read(outcomes):,.0f}"]
    return "| " + " | ".join([name, *figures]) + " |"


def _quire(index: Index, *, merge: bool, max_tokens: int | None = None) -> Search:
    def search(text: str, limit: int) -> list[Place]:
        found = index.search(text, limit=limit, merge=merge, max_tokens=max_tokens)
        return [
            Place(
                hit.path,
                hit.span.start,
                hit.span.end,
                hit.tokens,
                is_page=hit.depth == 0,
                parts=() if hit.complete else tuple(hit.parts),
            )
            for hit in found
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
