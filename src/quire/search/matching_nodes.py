"""Finds the nodes that match a query, with their scores. Filters are part of the engine's query."""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

import msgspec
from msgspec import structs

from quire.index.engine.clauses import (
    LONG_QUERY,
    QueryContext,
    all_but,
    all_items,
    compiled,
    filtered,
    is_plain,
    one_of,
)
from quire.index.engine.corrections import Dictionary
from quire.index.engine.coverage import own_shares
from quire.index.engine.index_schema import DOC, TREE
from quire.index.engine.snapshot import Match, Snapshot
from quire.model import Span
from quire.query import leaves
from quire.query.lex import KEYED
from quire.query.query_tree import Either, Group, Not, Phrase, Query, Word
from quire.search.argument_checks import known_trees
from quire.search.conditions import Condition, condition, condition_of, documents, matches_path, unknown_keys, weights
from quire.search.fusion import Near, fused
from quire.search.ranking_settings import SHARPNESS, SearchSettings
from quire.search.second_pass import rescored

MAX_CORRECTED = 8  # for how many unknown words of a query corrections are looked up
_JOINED = 0.5  # the weight of two words as one


class PreparedQuery(msgspec.Struct, frozen=True):
    """A query that is ready to be searched in a snapshot."""

    snapshot: Snapshot
    context: QueryContext  # has the corrections of its words
    query: Query
    settings: SearchSettings
    filters: Sequence[Any]  # for the engine
    unknown: Sequence[str]  # words that do not occur and have no correction
    unknown_keys: Sequence[str] = ()  # keys of conditions that no document has
    weights: Mapping[int, float] = {}  # of some documents by their numbers
    second: dict[tuple[int, int], Sequence[float]] = {}  # what the second pass added; ``best_matches`` fills it


def prepare(
    snapshot: Snapshot,
    query: Query,
    settings: SearchSettings,
    *,
    trees: Sequence[str] | None = None,
    paths: Sequence[str] | None = None,
    where: Sequence[Condition] = (),
    without: str | None = None,
) -> PreparedQuery:
    """Correct a query, and restrict it to some trees, path patterns and conditions, without the document ``without``.

    A word with which others start becomes a prefix: ``auth`` finds *authentication*.
    """
    _refuse_unknown_trees(snapshot, query, trees)
    words = list(leaves(query))
    context = QueryContext(
        schema=snapshot.schema,
        languages=snapshot.settings.languages,
        dictionary=Dictionary(snapshot),
        boosts=structs.asdict(settings.boosts),
        tie=settings.tie,
        coordination=settings.coordination,
        first_word=words[0].text if words else "",
        documents_with=lambda leaf: documents(snapshot, [condition_of(leaf)]),
    )
    dictionary = context.dictionary
    phrases = [leaf for leaf in words if isinstance(leaf, Phrase) and leaf.field is None and " " in leaf.text]
    clauses = {leaf.text: compiled(context, leaf) for leaf in phrases}
    apart = {text: tuple(text.split()) for text, clause in clauses.items() if clause and not snapshot.top(clause, 1)}
    if apart:
        query = _with_words(query, apart)
        context = msgspec.structs.replace(context, corrections=apart)
    texts = dict.fromkeys([word.text for word in words if is_plain(word) and not context.is_optional(word)])
    unknown = list(islice((text for text in texts if not dictionary.has(text)), MAX_CORRECTED))
    if unknown:
        prefixes = {text: (f"{text}*",) for text in unknown if dictionary.is_prefix(text)}
        instead = {text: prefixes.get(text) or dictionary.corrections(text) for text in unknown}
        corrections = {text: words for text, words in instead.items() if words}
        unknown = [text for text in unknown if text not in corrections]
        query = _with_prefixes(query, prefixes) if prefixes else query
        context = msgspec.structs.replace(context, corrections=apart | corrections)
    query = _with_joined(query, context)
    filters = [] if trees is None else [one_of(context.schema, TREE, trees)]
    if without is not None:
        filters.append(all_but(context.schema, DOC, [without]))
    if paths is not None:
        records = snapshot.files.values()
        matching = [record.id for record in records if matches_path(record.tree, record.path, paths)]
        filters.append(one_of(context.schema, DOC, matching))
    if where:
        filters.append(one_of(context.schema, DOC, documents(snapshot, where)))
    # ``localhost:8080`` is text where documents say *localhost*.
    keyed = [match[1] for word in words if is_plain(word) and (match := KEYED.match(word.text))]
    named = [key.lower() for key in keyed if snapshot.front_matter_keys and not dictionary.has(key)]
    keys = unknown_keys(snapshot, [*where, *(condition(key, "") for key in named)]) if where or named else []
    factors = weights(snapshot, settings.where) if settings.where else {}
    return PreparedQuery(snapshot, context, query, settings, filters, unknown, keys, factors)


def _with_joined(query: Query, context: QueryContext) -> Query:
    """The query, and adjacent words of it as one word if that is how they are mostly written: *file system*.

    A query does not become a long one by that.
    """
    items = all_items(query)
    joined = [
        Word(text=left.text + right.text, span=Span(left.span.start, right.span.end), boost=_JOINED)
        for left, right in pairwise(context.required(items) if len(items) < LONG_QUERY - 1 else ())
        if is_plain(left) and is_plain(right) and context.dictionary.is_joined(left.text, right.text)
    ]
    return Group(items=(*items, *joined)[: LONG_QUERY - 1]) if joined else query


def _with_words(query: Query, apart: Mapping[str, Sequence[str]]) -> Query:
    """The query with the words of phrases that no node has."""
    if isinstance(query, Phrase) and query.field is None and query.text in apart:
        return Group(items=tuple([Word(text=text, span=query.span, boost=query.boost) for text in apart[query.text]]))
    if isinstance(query, Group | Either):
        return structs.replace(query, items=tuple([_with_words(item, apart) for item in query.items]))
    return query


def _with_prefixes(query: Query, prefixes: Container[str]) -> Query:
    """The query with some of its words as prefixes."""
    if isinstance(query, Not | Phrase):
        return query
    if isinstance(query, Word):
        return msgspec.structs.replace(query, prefix=True) if is_plain(query) and query.text in prefixes else query
    return msgspec.structs.replace(query, items=tuple(_with_prefixes(item, prefixes) for item in query.items))


def _refuse_unknown_trees(snapshot: Snapshot, query: Query, trees: Iterable[str] | None) -> None:
    """Refuse a tree that does not exist, in an option or in the query: nothing would be found."""
    names = snapshot.settings.trees
    known_trees("trees", trees or (), names)
    for item in all_items(query):
        if isinstance(item, Word | Phrase) and item.field == "tree":
            prefix = isinstance(item, Word) and item.prefix
            if not any(name == item.text or (prefix and name.startswith(item.text)) for name in names):
                known_trees("tree:", [f"{item.text}{'*' * prefix}"], names)


def best_matches(prepared: PreparedQuery, limit: int, near: Near | None) -> tuple[list[Match], bool]:
    """The best ``limit`` nodes after both passes, and whether no others match."""
    snapshot, context = prepared.snapshot, prepared.context
    query = compiled(context, prepared.query)
    first = [] if query is None else snapshot.matches(filtered(query, *prepared.filters), limit)
    is_all = len(first) < limit
    if prepared.weights and query is not None and not is_all:
        first, is_all = _first_of_each_weight(prepared, query, limit)
    matches, second = rescored(
        snapshot, context, prepared.query, first, settings=prepared.settings, filters=prepared.filters
    )
    prepared.second.update(second)
    if near is not None:
        matches = fused(snapshot, matches if near.weight < 1 else [], near)
    if prepared.weights:
        again = [structs.replace(match, score=match.score * score_factor(prepared, match)) for match in matches]
        matches = sorted(again, key=lambda match: -match.score)
    return matches, is_all


def _first_of_each_weight(prepared: PreparedQuery, query: Any, limit: int) -> tuple[list[Match], bool]:
    """The best nodes of documents with a weight and of those without one, so that neither hide the others."""
    snapshot, schema = prepared.snapshot, prepared.context.schema
    weighted = [snapshot.document_ids[number] for number in prepared.weights]
    sides = [
        snapshot.matches(filtered(query, *prepared.filters, side), limit)
        for side in (one_of(schema, DOC, weighted), all_but(schema, DOC, weighted))
    ]
    matches = sorted([match for side in sides for match in side], key=lambda match: -match.score)
    return matches, all(len(side) < limit for side in sides)


def score_factor(prepared: PreparedQuery, match: Match) -> float:
    """The root of the weight of a match's document: ``normalized`` raises scores to a power."""
    return float(prepared.weights.get(match.number, 1.0) ** (1 / SHARPNESS))


def best_score(matches: Sequence[Match]) -> float:
    """The score of the best node, which all scores are divided by."""
    return matches[0].score if matches and matches[0].score > 0 else 1.0


def normalized(matches: Sequence[Match]) -> list[Match]:
    """The matches with scores up to 1. If none has a score, as for ``tree:docs``, all are equally good."""
    best = best_score(matches)
    is_text = bool(matches) and matches[0].score > 0
    return [
        Match((match.score / best) ** SHARPNESS if is_text else 1.0, match.address, match.number, match.position)
        for match in matches
    ]


def matches_by_document(prepared: PreparedQuery, matches: Sequence[Match], limit: int) -> dict[int, list[Match]]:
    """The nodes near the best of their document, in all documents that can have one of ``limit`` results.

    A result scores at least as much as its best node and at most ``score_cap_multiplier`` times that. The matches have
    normalized scores, the best first.
    """
    bests: dict[int, float] = {}
    for match in matches:
        bests.setdefault(match.number, match.score)
    least = sorted(bests.values(), reverse=True)[limit - 1] if len(bests) > limit else 0.0
    cap, cutoff = max(prepared.settings.score_cap_multiplier, 1.0), prepared.settings.match_cutoff
    by_document: dict[int, list[Match]] = {}
    for match in matches:
        best = bests[match.number]
        if cap * best >= least and match.score >= cutoff * best:
            by_document.setdefault(match.number, []).append(match)
    # Shares are compared only where one match is below another.
    nested = [number for number, inside in by_document.items() if len(inside) > 1 and _are_nested(prepared, inside)]
    if nested and (shares := own_shares(prepared.snapshot, prepared.context, prepared.query, nested)):
        for number in nested:
            by_document[number] = [
                Match(match.score, match.address, number, match.position, shares.get((number, match.position), 0.0))
                for match in by_document[number]
            ]
    return by_document


def _are_nested(prepared: PreparedQuery, matches: Sequence[Match]) -> bool:
    """Whether one of the matches of a document is below another."""
    outline = prepared.snapshot.outlines[matches[0].number]
    positions = {match.position for match in matches}
    return any(not positions.isdisjoint(outline.ancestors(position)) for position in positions)


Excluded = set[tuple[int, int]]
"""Nodes that have something the query excludes, also below them: the numbers of documents, and positions."""


def without_excluded(prepared: PreparedQuery, matches: Sequence[Match]) -> tuple[Sequence[Match], Excluded]:
    """The matches without the nodes that a query excludes, and these nodes."""
    snapshot, context = prepared.snapshot, prepared.context
    refused = [item.item for item in all_items(prepared.query) if isinstance(item, Not)]
    queries = [query for item in refused if (query := compiled(context, item, strict=True)) is not None]
    excluded: Excluded = set()
    if not queries or not matches:
        return matches, excluded
    matched = list(dict.fromkeys([snapshot.document_ids[match.number] for match in matches]))
    inside = one_of(context.schema, DOC, matched)
    for query in queries:
        for match in snapshot.matches_at(snapshot.top(filtered(query, inside), snapshot.node_count(matched))):
            above = snapshot.outlines[match.number].ancestors(match.position)
            excluded.update((match.number, position) for position in (match.position, *above))
    return [match for match in matches if (match.number, match.position) not in excluded], excluded
