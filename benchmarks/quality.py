"""How well the search answers link questions, and what each ingredient of the ranking is worth.

A question is asked in an index without its own link: each of five copies of the pages lacks some questions' links.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from benchmarks import linkqa
from benchmarks.linkqa import Collection, Outcome, Place
from quire.index.engine.analysis import analyser, terms
from quire.indexed import Index
from quire.search.ranking_settings import SearchSettings
from quire.size import resolve

_PIECE = 512
"""The size of a fixed piece, in tokens."""
_BUDGET = 2_000
"""A small budget, in tokens."""
_COLUMNS = (
    *("", "MRR@10", "not exact", "R@1", "R@5", "R@10", "right page", "tokens", "read until right"),
    f"own text in {_BUDGET:,}",
)
_WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "without words of links": {"boosts": {"links": 0.0}},
    "without in-links": {"in_links": 0.0, "page_links": 0.0},
    "without both": {"boosts": {"links": 0.0}, "in_links": 0.0, "page_links": 0.0},
    "without title coverage": {"title_coverage": 0.0},
    "without coordination": {"coordination": 0.0},
    "without adjacent words in titles": {"adjacent": 0.0},
    "only the best field (tie = 0)": {"tie": 0.0},
    "without descriptions": {"boosts": {"description": 0.0}},
    "without file and folder names": {"boosts": {"file": 0.0, "folder": 0.0}},
}
"""What each ingredient is worth."""

Search = Callable[[str, int], Sequence[Place]]


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (data / "linkqa").is_dir():
        yield f"Not run: no link questions at {data / 'linkqa'}; set QUIRE_SHARED."
        return
    for collection in (linkqa.docker(data), linkqa.kubernetes(data), linkqa.rust_book(data)):
        yield from _measured(collection)
    yield from _EXPLAINED


_EXPLAINED = (
    "A question is a link's text, its answer is where the link leads. A hit is right when it is the answered section,",
    "lies inside it, or holds it without being the whole page; for a page any section of it is right. Hits in a page",
    "that holds the link do not count either way. A question is asked in an index without its own link (same words,",
    "same target), in five folds. *Not exact*: MRR@10 of the questions that do not repeat the target's title. *Right",
    "page*: the share of questions with a hit in the right page. *Tokens*: of all hits returned, on average. *Read",
    "until right*: the tokens of the hits up to the right one and with it, where there is one. *Own text in 2,000*:",
    "the share of questions whose right hit shows all of its own text in an answer of at most 2,000 tokens. The first",
    "row is the answer as it is by default: 8,000 tokens, with the relevance cut-off; all other rows are without both.",
    "",
    "The weights were looked at on both Docker and Kubernetes; docs/decisions/search.md says what was tried.",
    "Pieces of fixed size, and LangChain's, whose positions are looked up, are right where they overlap the answer.",
)


def _measured(collection: Collection) -> Iterator[str]:
    yield f"## {collection.name}: {len(collection.sections)} pages, {len(collection.questions)} questions"
    yield ""
    yield "| " + " | ".join(_COLUMNS) + " |"
    yield "|---" * len(_COLUMNS) + "|"
    with tempfile.TemporaryDirectory() as folder:
        pages = linkqa.write_folds(collection, Path(folder) / "pages")
        indexes = [Path(folder) / f"index-{number}" for number in range(linkqa.FOLDS)]
        for index, fold in zip(indexes, pages, strict=True):
            Index.open(index).update({"pages": fold})
        yield _row("quire", _asked(collection, indexes, {}), _fitting(collection, indexes))
        everything = {"every": True, "max_tokens": 0}
        yield from _rows("quire, all results whole", _asked(collection, indexes, {}, **everything))
        for name, settings in _WITHOUT.items():
            yield _row(f"· {name}", _asked(collection, indexes, settings, **everything))
        yield _row("· not merged", _asked(collection, indexes, {}, merge=False, **everything))
    fixed = linkqa.asked(collection, _plain(list(_fixed(collection))))
    yield _row(f"BM25, fixed pieces of {_PIECE} tokens", fixed)
    name = "BM25, LangChain's MarkdownHeaderTextSplitter"
    if find_spec("langchain_text_splitters") is None:
        yield f"| {name} | not run: langchain-text-splitters is not installed" + " |" * (len(_COLUMNS) - 1)
    else:
        yield _row(name, linkqa.asked(collection, _plain(list(_by_langchain(collection)))))
    yield ""


def _asked(
    collection: Collection, indexes: Sequence[Path], settings: Mapping[str, Any], **options: Any
) -> list[Outcome]:
    """The outcome of every question, each asked in the index of its fold."""
    outcomes: list[Outcome] = []
    for fold, folder in enumerate(indexes):
        questions = [question for question in collection.questions if question.fold == fold]
        with Index.open(folder, settings=SearchSettings(**settings)) as index:
            outcomes += linkqa.asked(collection, _quire(index, **options), questions=questions)
    return outcomes


def _fitting(collection: Collection, indexes: Sequence[Path]) -> float:
    """The share of questions whose right hit shows all of its own text within a small budget."""
    found = 0
    opened = [Index.open(folder) for folder in indexes]
    for question in collection.questions:
        index = opened[question.fold]
        for hit in index.search(question.text, limit=2 * linkqa.DEPTH, max_tokens=_BUDGET):
            place = Place(hit.path, *hit.span, hit.tokens, is_page=hit.depth == 0)
            if hit.path not in question.holders and collection.is_right(place, question):
                own = index.get(hit.id, children=False).span
                found += any(each.start <= own.start and own.end <= each.end for each in hit.parts)
                break
    return found / len(collection.questions)


def _rows(name: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """All questions, those that do not repeat the title, and the halves."""
    yield _row(name, outcomes)
    for half, first in (("first half", True), ("second half", False)):
        part = [each for each in outcomes if each.question.is_in_first_half == first]
        yield _row(f"· {half}, {len(part)} questions", part)


def _row(name: str, outcomes: Sequence[Outcome], fitting: float | None = None) -> str:
    hard = [each for each in outcomes if not each.question.exact]
    shares = [linkqa.mrr(each.first(linkqa.DEPTH) for each in some) for some in (outcomes, hard)]
    shares += [linkqa.recall(outcomes, depth) for depth in (1, 5, 10)] + [linkqa.page_recall(outcomes)]
    figures = [f"{share:.3f}" for share in shares]
    figures += [f"{count:,.0f}" for count in (linkqa.tokens_returned(outcomes), linkqa.tokens_read(outcomes))]
    return "| " + " | ".join([name, *figures, "" if fitting is None else f"{fitting:.3f}"]) + " |"


def _quire(index: Index, **options: Any) -> Search:
    def search(text: str, limit: int) -> list[Place]:
        return [
            Place(hit.path, hit.span.start, hit.span.end, hit.tokens, is_page=hit.depth == 0)
            for hit in index.search(text, limit=limit, **options)
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
