"""Results to hits: the text of each within the token budget, highlighted words, and the explanation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import asdict

from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import Tree
from quire.index.node import Node
from quire.model import Span
from quire.query.query_tree import Query
from quire.search.hit import Hit, How
from quire.search.match_ranges import Highlighter, highlighter
from quire.search.matching_nodes import Match, Matching
from quire.search.merge import Merged
from quire.search.second_pass import PARTS, query_words, second_scores
from quire.search.token_budget import NO_TEXT, Section, Shown, fit

Around = Callable[[Hit], int]
"""The number of tokens shown around a hit's text, besides its breadcrumb line. The hit has no text yet."""


class Result(NamedTuple):
    """A section that answers."""

    node: Node
    score: float
    merged: Merged | None  # None for a node that was not merged
    constituents: tuple[Match, ...]  # the nodes that matched in it, the best first


class Question(msgspec.Struct, frozen=True, dict=True):
    """A query and how it was searched."""

    matching: Matching
    query: Query
    explain: bool

    @cached_property
    def _highlighter(self) -> Highlighter:
        context = self.matching.compiler.context
        return highlighter(self.query, context.languages[0], context.corrections)

    def ranges(self, text: str) -> Sequence[Span]:
        """Where the query's words are. The first language is good enough to choose passages; most answers need none."""
        return self._highlighter(text)


def build_hits(
    question: Question,
    results: Sequence[Result],
    phases: dict[str, Any],
    *,
    max_tokens: int | None,
    max_extended: int | None,
    around: Around | None = None,
) -> list[Hit]:
    """The hits, with as much text as the budget allows; results without any are left out."""
    snapshot = question.matching.snapshot
    trees = snapshot.settings.trees
    sections = [_section(result, around, trees) for result in results]
    shown = fit(sections, snapshot.nodes_of, max_tokens=max_tokens, max_extended=max_extended, ranges=question.ranges)
    last = max((rank for rank, each in enumerate(shown) if each), default=0)
    phases["fit"] = {
        "results": len(results),
        "given": sum(each is not None for each in shown),
        "left out": sum(each is None for each in shown[:last]),
        "tokens": sum(
            each.tokens + (section.cost_whole if each.complete else section.cost_excerpt)
            for section, each in zip(sections, shown, strict=True)
            if each
        ),
    }
    return [
        make_hit(
            result.node,
            text,
            language=trees[result.node.tree].language,
            score=result.score,
            how=result.merged.how if result.merged else "match",
            constituents=tuple([node.id for node in snapshot.nodes([each.address for each in result.constituents])]),
            explanation=_explanation(question, result) if question.explain else None,
        )
        for result, text in zip(results, shown, strict=True)
        if text is not None
    ]


def hit_for_node(snapshot: Snapshot, node: Node, max_tokens: int | None) -> Hit:
    """A node that was asked for by its name, with everything below it, as a hit."""
    [shown] = fit([Section(node, (node.position,))], snapshot.nodes_of, max_tokens=max_tokens, worth=1)
    language = snapshot.settings.trees[node.tree].language
    return make_hit(node, shown or NO_TEXT, language=language, constituents=(node.id,))


def make_hit(
    node: Node,
    shown: Shown,
    *,
    language: str,
    constituents: tuple[str, ...],
    score: float = 0.0,
    how: How = "match",
    explanation: Mapping[str, Any] | None = None,
) -> Hit:
    """A hit for a node with the text that is shown of it."""
    return Hit(
        id=node.id,
        score=score,
        title=node.title,
        breadcrumb=node.breadcrumb,
        breadcrumb_line=node.breadcrumb_line,
        text=shown.text,
        tree=node.tree,
        path=node.path,
        language=language,
        depth=node.depth,
        span=Span(node.start, node.full_end),
        byte_span=Span(node.byte_start, node.byte_full_end),
        lines=(node.line, node.full_last_line),
        tokens=shown.tokens,
        complete=shown.complete,
        parts=shown.spans,
        how=how,
        constituents=constituents,
        explanation=explanation or {},
    )


def _section(result: Result, around: Around | None, trees: Mapping[str, Tree]) -> Section:
    positions = tuple(each.position for each in result.constituents)
    if around is None:
        return Section(result.node, positions)
    bare = [Shown(text="", spans=(), tokens=result.node.full_tokens, complete=complete) for complete in (True, False)]
    language = trees[result.node.tree].language
    costs = [around(make_hit(result.node, each, language=language, constituents=())) for each in bare]
    return Section(result.node, positions, *costs)


def _explanation(question: Question, result: Result) -> dict[str, Any]:
    """The score of every constituent by items and words, and the steps of merging."""
    matching = question.matching
    snapshot, compiler, query = matching.snapshot, matching.compiler, question.query
    words = query_words(compiler.context, query)
    scores = []
    for each in result.constituents:
        ranked = each.score, each.address, (each.number, each.position)
        [again] = second_scores(snapshot, compiler.context, words, [ranked], matching.settings)
        more = [{"item": name, "score": round(score, 3)} for name, score in zip(PARTS, again, strict=True) if score]
        scores.append(
            {
                "id": snapshot.nodes([each.address])[0].id,
                "score": round(each.score, 6),  # many small ones may add up
                "items": [*compiler.item_scores(snapshot.searcher, query, each.address), *more],
                "words": compiler.word_scores(snapshot.searcher, query, each.address),
            }
        )
    return {"scores": scores, "merging": [asdict(step) for step in result.merged.trail] if result.merged else []}
