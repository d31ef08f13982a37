"""Results to hits: the text of each within the token budget, highlighted words, and the explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial as bound
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import asdict

from quire.index.engine.analysis import adjacent_terms, beginnings, spellings, term_pairs, word_terms
from quire.index.engine.snapshot import Snapshot
from quire.index.node import Node
from quire.model import Span
from quire.query import leaves
from quire.query.query_tree import Phrase, Query, Word
from quire.search.highlight import Highlighter, Wanted
from quire.search.hit import Hit, How
from quire.search.matching_nodes import Match, Matching
from quire.search.merge import Merged
from quire.search.token_budget import NO_TEXT, Section, Shown, fit

Around = Callable[[Hit], int]
"""The number of tokens shown around a hit's text, besides its breadcrumb line. The hit has no text yet."""


class Result(NamedTuple):
    """A section that answers."""

    nodes: Sequence[Node]  # the section, and all nodes below it if all will be shown
    score: float
    merged: Merged | None  # None for a node that was not merged
    constituents: tuple[Match, ...]  # the nodes that matched in it, the best first

    @property
    def node(self) -> Node:
        """The section's own node."""
        return self.nodes[0]


class Question(msgspec.Struct, frozen=True):
    """A query and how it was searched."""

    matching: Matching
    query: Query
    explain: bool

    def wanted(self, language: str) -> list[Wanted]:
        """What is highlighted: all words but function words, or these if there are no others.

        A match needs only two adjacent characters of a script without spaces, so each pair is highlighted.
        """
        context = self.matching.compiler.context
        found = list(leaves(self.query))
        marked = [leaf for leaf in found if not context.is_optional(leaf)] or found
        marked = [leaf for leaf in marked if leaf.field in (None, "title", "body")]
        return list(dict.fromkeys(wanted for leaf in marked for wanted in self._leaf(leaf, language)))

    def _leaf(self, leaf: Word | Phrase, language: str) -> Iterator[Wanted]:
        context = self.matching.compiler.context
        if isinstance(leaf, Phrase):
            yield Wanted(word_terms(leaf.text, language))
            yield from (Wanted(spelling.terms) for spelling in spellings(leaf.text, language)[:1])
        elif leaf.prefix:
            yield from (Wanted(spelling.terms, prefix=True) for spelling in spellings(leaf.text, "none")[:1])
            yield from map(Wanted, context.shorter_stems(leaf.text, language))
        else:
            for text in context.corrected(leaf):
                yield Wanted(word_terms(text, language))  # ``don't`` is found by ``don``, but highlighted whole
                for spelling in spellings(text, language):
                    yield Wanted(spelling.terms)
                    for group in adjacent_terms(spelling):
                        yield from map(Wanted, term_pairs(group))

    def highlighter(self, language: str) -> Highlighter:
        """Highlights the query's words in texts of a language."""
        terms, starts = bound(word_terms, language=language), bound(beginnings, language=language)
        return Highlighter(self.wanted(language), terms, starts)


def build_hits(
    question: Question,
    results: Sequence[Result],
    max_tokens: int | None,
    phases: dict[str, Any],
    around: Around | None = None,
) -> list[Hit]:
    """The hits, with as much text as the budget allows; results without any are left out."""
    snapshot = question.matching.snapshot
    trees = snapshot.settings.trees
    languages = [trees[result.node.tree].language for result in results]
    highlighters = {language: question.highlighter(language) for language in set(languages)}
    sections = [_section(result, around) for result in results]
    # One highlighter is good enough to choose passages, whatever the languages.
    first = highlighters[languages[0]] if results else None
    shown = fit(sections, snapshot.nodes_of, max_tokens=max_tokens, ranges=first)
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
    hits = [
        make_hit(
            result.node,
            text,
            score=result.score,
            match_ranges=highlighters[language](text.text),
            how=result.merged.how if result.merged else "match",
            constituents=tuple([each.id for each in _constituents(snapshot, result)]),
            explanation=_explanation(question, result) if question.explain else None,
        )
        for result, language, text in zip(results, languages, shown, strict=True)
        if text is not None
    ]
    phases["highlight"] = {"ranges": sum(len(hit.match_ranges) for hit in hits)}
    return hits


def hit_for_node(snapshot: Snapshot, node: Node, max_tokens: int | None) -> Hit:
    """A node that was asked for by its name, with everything below it, as a hit."""
    [shown] = fit([Section(node, (node.position,))], snapshot.nodes_of, max_tokens=max_tokens, worth=1)
    return make_hit(node, shown or NO_TEXT, constituents=(node.id,))


def make_hit(
    node: Node,
    shown: Shown,
    *,
    constituents: tuple[str, ...],
    score: float = 0.0,
    match_ranges: tuple[Span, ...] = (),
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
        depth=node.depth,
        span=Span(node.start, node.full_end),
        byte_span=Span(node.byte_start, node.byte_full_end),
        lines=(node.line, node.full_last_line),
        tokens=shown.tokens,
        complete=shown.complete,
        parts=shown.spans,
        match_ranges=match_ranges,
        how=how,
        constituents=constituents,
        explanation=explanation or {},
    )


def _section(result: Result, around: Around | None) -> Section:
    positions = tuple(each.ref.position for each in result.constituents)
    if around is None:
        return Section(result.node, positions, result.nodes)
    bare = [Shown(text="", spans=(), tokens=result.node.full_tokens, complete=complete) for complete in (True, False)]
    costs = [around(make_hit(result.node, each, constituents=())) for each in bare]
    return Section(result.node, positions, result.nodes, *costs)


def _constituents(snapshot: Snapshot, result: Result) -> Sequence[Node]:
    """The nodes that matched in a result; usually they are read already."""
    first, last = result.node.position, result.node.last
    if len(result.nodes) > last - first:
        return [result.nodes[each.ref.position - first] for each in result.constituents]
    return snapshot.nodes(each.address for each in result.constituents)


def _explanation(question: Question, result: Result) -> dict[str, Any]:
    """The score of every constituent by items and words, and the steps of merging."""
    snapshot, compiler = question.matching.snapshot, question.matching.compiler
    scores = [
        {
            "id": snapshot.nodes([each.address])[0].id,
            "score": round(each.score, 6),  # many small ones may add up
            "items": compiler.item_scores(snapshot.searcher, question.query, each.address),
            "words": compiler.word_scores(snapshot.searcher, question.query, each.address),
        }
        for each in result.constituents
    ]
    return {"scores": scores, "merging": [asdict(step) for step in result.merged.trail] if result.merged else []}
