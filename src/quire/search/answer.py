"""Results -> hits: the text that is given for each, where the words stand in it, and how it came about.

Before: ``phases`` has found and merged. After: the surfaces show the hits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial as bound
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import asdict

from quire.index.engine.analysis import beginnings, word_terms
from quire.index.engine.explain import contributions, worths
from quire.index.engine.store import Snapshot
from quire.index.engine.words import pairs, runs, spelled
from quire.index.node import Node
from quire.model import Span
from quire.query import leaves
from quire.query.query_tree import Phrase, Query, Word
from quire.search.candidates import Merged
from quire.search.context import Given, ToGive, fit
from quire.search.find import Found, Matching
from quire.search.highlight import Marker, Wanted
from quire.search.records import Hit, hit_of

Around = Callable[[Hit], int]
"""How many tokens are shown around the text of a hit, besides its breadcrumb line; the hit has no text yet."""


class Result(NamedTuple):
    """A section that answers."""

    nodes: Sequence[Node]
    """The section, and all below it if all will be shown."""
    score: float
    """How well it answers."""
    merged: Merged | None
    """How it came about; None for a node that stands for itself."""
    constituents: tuple[Found, ...]
    """The nodes that matched in it, the best first."""

    @property
    def node(self) -> Node:
        """The section."""
        return self.nodes[0]


class Question(msgspec.Struct, frozen=True):
    """What was asked."""

    matching: Matching
    """What the engine looked for."""
    query: Query
    """What that was made from."""
    explain: bool
    """Whether the hits are to say how they came about."""
    partial: bool = False
    """Whether nothing has all of it, so that parts of it are enough."""

    def wanted(self, language: str, *, partial: bool) -> list[Wanted]:
        """What is marked in a text: the words that must match, or those that may be missing where they are all.

        In a partial match two that follow each other are enough of a run, so each two are marked.
        """
        words = self.matching.compiler.words
        found = list(leaves(self.query))
        marked = [leaf for leaf in found if not words.is_optional(leaf)] or found
        marked = [leaf for leaf in marked if leaf.field in (None, "title", "body")]
        return list(dict.fromkeys(wanted for leaf in marked for wanted in self._of(leaf, language, partial=partial)))

    def _of(self, leaf: Word | Phrase, language: str, *, partial: bool) -> Iterator[Wanted]:
        if isinstance(leaf, Phrase):
            yield _as_typed(leaf.text, language)
            yield from (Wanted(spelling.terms) for spelling in spelled(leaf.text, language)[:1])
        elif leaf.prefix:
            yield from (Wanted(spelling.terms, prefix=True) for spelling in spelled(leaf.text, "none")[:1])
            yield from map(Wanted, self.matching.compiler.words.shorter_than(leaf.text, language))
        else:
            for text in self.matching.compiler.words.texts(leaf):
                yield _as_typed(text, language)
                for spelling in spelled(text, language):
                    yield Wanted(spelling.terms)
                    yield from (Wanted(part) for run in runs(spelling) for part in (pairs(run) if partial else (run,)))


def _as_typed(text: str, language: str) -> Wanted:
    """A word with what is left out when it is looked for: ``don't`` is found by ``don``, but marked whole."""
    return Wanted(word_terms(text, language))


def hits(
    question: Question,
    results: Sequence[Result],
    max_tokens: int | None,
    phases: dict[str, Any],
    around: Around | None = None,
) -> list[Hit]:
    """The hits, with as much text as the budget has room for; those for which it has none are left out."""
    snapshot = question.matching.snapshot
    trees = snapshot.settings.trees
    languages = {trees[result.node.tree].language for result in results}
    marks = {language: _marker(question, language, partial=question.partial) for language in languages}
    wanted = [_to_give(result, around) for result in results]
    # The budget is shared by trees of several languages; what marks one of them is good enough to choose parts.
    first = marks[trees[results[0].node.tree].language] if results else None
    given = fit(wanted, snapshot.nodes_of, max_tokens=max_tokens, ranges=first)
    phases["fit"] = {
        "results": len(results),
        "given": sum(each is not None for each in given),
        "left out": _better_left_out(given),
        "tokens": sum(
            each.tokens + (section.above_whole if each.complete else section.above_parts)
            for section, each in zip(wanted, given, strict=True)
            if each
        ),
    }
    made = [
        _hit(question, result, text, marks[trees[result.node.tree].language](text.text))
        for result, text in zip(results, given, strict=True)
        if text is not None
    ]
    phases["highlight"] = {"ranges": sum(len(hit.match_ranges) for hit in made)}
    return made


def _better_left_out(given: Sequence[Given | None]) -> int:
    """How many there is no room for above the last one that is given."""
    last = max((rank for rank, each in enumerate(given) if each), default=0)
    return sum(each is None for each in given[:last])


def _to_give(result: Result, around: Around | None) -> ToGive:
    positions = tuple(each.spot.position for each in result.constituents)
    if around is None:
        return ToGive(result.node, positions, result.nodes)
    bare = [Given(text="", parts=(), tokens=result.node.full_tokens, complete=complete) for complete in (True, False)]
    costs = [around(hit_of(result.node, each, constituents=())) for each in bare]
    return ToGive(result.node, positions, result.nodes, *costs)


def _marker(question: Question, language: str, *, partial: bool) -> Marker:
    wanted = question.wanted(language, partial=partial)
    return Marker(wanted, bound(word_terms, language=language), bound(beginnings, language=language))


def _hit(question: Question, result: Result, given: Given, marked: tuple[Span, ...]) -> Hit:
    return hit_of(
        result.node,
        given,
        score=result.score,
        match_ranges=marked,
        how=result.merged.how if result.merged else "match",
        constituents=tuple([each.id for each in _constituents(question.matching.snapshot, result)]),
        explanation=_explanation(question, result) if question.explain else None,
    )


def _constituents(snapshot: Snapshot, result: Result) -> Sequence[Node]:
    """The nodes that matched in a result; nearly always they are at hand."""
    first, last = result.node.position, result.node.last
    if len(result.nodes) > last - first:
        return [result.nodes[each.spot.position - first] for each in result.constituents]
    return snapshot.nodes(each.key for each in result.constituents)


def _explanation(question: Question, result: Result) -> dict[str, Any]:
    """What the query and its words are worth in every constituent, the best first, and what merging did.

    Merging adds and compares the scores of all of them; what else it names has its score in a step.
    """
    matching = question.matching
    scores = [
        {
            "id": matching.snapshot.node(each.key).id,
            "score": round(each.score, 6),  # many small ones may add up
            "items": worths(
                matching.compiler, matching.snapshot.searcher, question.query, each.key, partial=question.partial
            ),
            "words": contributions(matching.compiler, matching.snapshot.searcher, question.query, each.key),
        }
        for each in result.constituents
    ]
    return {"scores": scores, "merging": [asdict(step) for step in result.merged.trail] if result.merged else []}
