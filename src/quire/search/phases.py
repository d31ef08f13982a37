"""The order of a search. Each phase counts what it did, for ``--explain``.

    parse -> correct -> rank -> rank the best again -> merge -> spread -> (rerank) -> cut off -> fit

A node that matches is a ``Match``, a result without its text a ``Merged``, with its text a ``Hit``. A search loads
neither the parser nor a tokenizer, as nodes have everything an answer needs. Only a budget so small that a passage must
be cut loads the tokenizer.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from quire.index.engine.snapshot import Match, Snapshot
from quire.index.node import Node
from quire.model import Span
from quire.query import parse, show
from quire.query.lex import KEYED
from quire.search.conditions import Condition
from quire.search.explain import explanation
from quire.search.fusion import RERANKED, Near, Rerank, is_plain_query, reranked
from quire.search.hit import Hit, Results, make_hit
from quire.search.match_ranges import highlighter
from quire.search.matching_nodes import (
    PreparedQuery,
    best_matches,
    best_score,
    matches_by_document,
    normalized,
    prepare,
    without_excluded,
)
from quire.search.merge import Merged, alone, limit_per_document, merge_document
from quire.search.query_terms import within_limit
from quire.search.ranking_settings import SearchSettings
from quire.search.token_budget import fit

_MIN_FETCHED = 50  # how many nodes the engine is asked for, at least
_FETCHED_PER_RESULT = 5
MAX_NODES = 10_000  # the most nodes that a search looks at

Phases = dict[str, dict[str, Any]]  # what each phase counted


def search(
    snapshot: Snapshot,
    text: str,
    *,
    limit: int,
    max_tokens: int | None = None,
    trees: Sequence[str] | None = None,
    paths: Sequence[str] | None = None,
    where: Sequence[Condition] = (),
    without: str | None = None,
    merge: bool = True,
    every: bool = False,
    explain: bool = False,
    settings: SearchSettings | None = None,
    find_near: Callable[[str], Near] | None = None,
    rerank: Rerank | None = None,
) -> Results:
    """The best ``limit`` sections for a query, together at most ``max_tokens`` tokens. See ``Index.search``.

    ``find_near`` finds the nodes nearest to a query by their vectors, ``rerank`` scores the best results.
    """
    settings = settings or SearchSettings()
    keys = snapshot.front_matter_keys if KEYED.search(text) else frozenset()
    query, ignored = within_limit(parse(text, keys), text)
    phases: Phases = {"parse": {"query": show(query)} if explain else {}}
    if query is None or limit < 1:
        return Results(query=text, ignored_terms=ignored, phases=phases)
    prepared = prepare(snapshot, query, settings, trees=trees, paths=paths, where=where, without=without)
    if prepared.unknown_keys:
        known = sorted(snapshot.front_matter_keys)
        return Results(query=text, unknown_keys=prepared.unknown_keys, known_keys=known, phases=phases)
    context = prepared.context
    phases["correct"] = {"words looked up": context.dictionary.lookups, "words corrected": len(context.corrections)}
    near = find_near(text) if find_near is not None and is_plain_query(prepared.query) else None
    results = _results(prepared, max(limit, RERANKED) if rerank else limit, phases, near, merge=merge, explain=explain)
    if rerank:
        phases["rerank"] = {"results": min(len(results), RERANKED)}
        results = reranked(snapshot, text, results, _nodes(snapshot, results[:RERANKED]), rerank)[:limit]
    least = settings.relevance_cutoff * results[0].score if results else 0.0
    relevant = [result for rank, result in enumerate(results) if every or result.score >= rank * least]
    phases["cut off"] = {"results": len(results) - len(relevant)}
    hits = list(_hits(prepared, relevant, max_tokens, phases, explain=explain))
    return Results(
        hits,
        query=text,
        ignored_terms=ignored,
        corrections=dict(context.corrections),
        below_cutoff=len(results) - len(relevant),
        over_budget=len(relevant) - len(hits),
        unknown_words=tuple(prepared.unknown),
        words_alike=() if results or not prepared.unknown else context.dictionary.words_alike(prepared.unknown[0]),
        phases=phases,
    )


def _results(
    prepared: PreparedQuery, limit: int, phases: Phases, near: Near | None, *, merge: bool, explain: bool
) -> list[Merged]:
    """The best results. If merging leaves too few of them, more nodes are looked at."""
    fetched = max(_MIN_FETCHED, _FETCHED_PER_RESULT * limit)
    while True:
        fetched = min(fetched, MAX_NODES) if prepared.settings.match_cutoff else MAX_NODES
        matches, is_all = best_matches(prepared, fetched, near)
        phases["rank"] = {"nodes": len(matches), "best": round(best_score(matches), 3)}
        if merge:
            results = _merged(prepared, matches, limit, phases, explain=explain)
        else:
            kept, _ = without_excluded(prepared, matches)
            results = [_alone(prepared, match) for match in normalized(kept)[:limit]]
        if len(results) >= limit or is_all or fetched == MAX_NODES:
            return results
        fetched *= 4


def _alone(prepared: PreparedQuery, match: Match) -> Merged:
    return alone(prepared.snapshot.document_ids[match.number], match)


def _merged(
    prepared: PreparedQuery, matches: Sequence[Match], limit: int, phases: Phases, *, explain: bool
) -> list[Merged]:
    """The best merged results."""
    snapshot, settings = prepared.snapshot, prepared.settings
    kept, excluded = without_excluded(prepared, matches)
    documents = matches_by_document(prepared, normalized(kept), limit)
    results: list[Merged] = []
    for number, inside in documents.items():
        outline = snapshot.outlines[number]
        results += merge_document(snapshot.document_ids[number], inside, outline, settings, explain=explain)
    phases["merge"] = {"candidates": sum(map(len, documents.values())), "results": len(results)}
    best, demoted = limit_per_document(results, limit, settings.per_document)
    phases["spread"] = {"set back": demoted}
    if not excluded:
        return best
    split = [part for result in best for part in _without_parts(prepared, result, excluded)]
    return sorted(split, key=lambda result: -result.score)[:limit]


def _without_parts(prepared: PreparedQuery, result: Merged, excluded: set[tuple[int, int]]) -> Iterator[Merged]:
    """A result; if it contains something excluded, the sections that matched in it, without those inside another."""
    number = result.constituents[0].number
    if (number, result.position) not in excluded:
        yield result
        return
    positions = {match.position for match in result.constituents}
    outline = prepared.snapshot.outlines[number]
    for match in result.constituents:
        if positions.isdisjoint(outline.ancestors(match.position)):
            yield _alone(prepared, match)


def _hits(
    prepared: PreparedQuery, results: Sequence[Merged], max_tokens: int | None, phases: Phases, *, explain: bool
) -> Iterator[Hit]:
    """The hits, with as much text as the budget allows; results without any are left out."""
    snapshot, context = prepared.snapshot, prepared.context

    def ranges(text: str) -> Sequence[Span]:
        """Where the query's words are. The first language is good enough to choose passages; most answers need none."""
        return highlighter(prepared.query, context.languages[0], context.corrections, every=False)(text)

    positions = [[match.position for match in result.constituents] for result in results]
    excerpts = fit(
        zip(_nodes(snapshot, results), positions, strict=True),
        snapshot.nodes_of,
        max_tokens=max_tokens,
        max_below=prepared.settings.max_below,
        ranges=ranges,
    )
    last = max((rank for rank, excerpt in enumerate(excerpts) if excerpt), default=0)
    phases["fit"] = {
        "results": len(results),
        "given": sum(map(bool, excerpts)),
        "left out": sum(not excerpt for excerpt in excerpts[:last]),
        "tokens": sum([excerpt.cost for excerpt in excerpts]),
    }
    for result, excerpt in zip(results, excerpts, strict=True):
        if excerpt:
            constituents = snapshot.nodes([match.address for match in result.constituents])
            yield make_hit(
                excerpt,
                language=snapshot.settings.trees[excerpt.node.tree].language,
                score=result.score,
                how=result.how,
                constituents=tuple([node.id for node in constituents]),
                explanation=explanation(prepared, result) if explain else None,
            )


def _nodes(snapshot: Snapshot, results: Sequence[Merged]) -> list[Node]:
    """The nodes of results. They are read only now, as most matches are not shown."""
    addresses = []
    for result in results:
        matched = [match.address for match in result.constituents if match.position == result.position]
        addresses.append(
            matched[0]
            if matched
            else snapshot.addresses([(result.document, result.position)])[result.document, result.position]
        )
    return snapshot.nodes(addresses)


def hit_for_node(snapshot: Snapshot, node: Node, max_tokens: int | None) -> Hit:
    """A node that was asked for by its name, with everything below it, as a hit."""
    [excerpt] = fit([(node, (node.position,))], snapshot.nodes_of, max_tokens=max_tokens, worth=1)
    language = snapshot.settings.trees[node.tree].language
    return make_hit(excerpt, language=language, constituents=(node.id,))
