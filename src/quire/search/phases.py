"""The order of a search. Each phase counts what it did, for ``--explain``.

    parse -> correct -> rank -> rank the best again -> merge -> spread -> cut off -> fit

A search loads neither the parser nor a tokenizer, as nodes have everything an answer needs. Only a budget so small that
a passage must be cut loads the tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from quire.index.engine.compile import Compiler
from quire.index.engine.snapshot import Location, Snapshot
from quire.query import parse, show
from quire.search import build_hits, matching_nodes
from quire.search.fusion import Near, is_plain_query
from quire.search.hit import Results
from quire.search.matching_nodes import MAX_NODES, Match, Matching
from quire.search.merge import Merged, limit_per_document, merge_documents
from quire.search.ranking_settings import SearchSettings
from quire.search.term_limit import within_limit

_MIN_FETCHED = 50  # how many nodes the engine is asked for, at least
_FETCHED_PER_RESULT = 5

Phases = dict[str, dict[str, Any]]  # what each phase counted


def search(
    snapshot: Snapshot,
    text: str,
    *,
    limit: int,
    max_tokens: int | None = None,
    max_extended: int | None = None,
    trees: Sequence[str] | None = None,
    paths: Sequence[str] | None = None,
    without: str | None = None,
    merge: bool,
    every: bool = False,
    explain: bool = False,
    settings: SearchSettings | None = None,
    around: build_hits.Around | None = None,
    find_near: Callable[[str], Near] | None = None,
) -> Results:
    """The best ``limit`` sections for a query, together at most ``max_tokens`` tokens. See ``Index.search``.

    What is below a section is shown only as far as the answer has at most ``max_extended`` tokens.

    ``find_near`` finds the nodes nearest to a query by their vectors.
    """
    settings = settings or SearchSettings()
    query, ignored = within_limit(parse(text))
    phases: Phases = {"parse": {"query": show(query)} if explain else {}}
    if query is None or limit < 1:
        return Results(query=text, ignored_terms=ignored, phases=phases)
    matching_nodes.refuse_unknown_trees(snapshot, query, trees)
    compiler = matching_nodes.make_compiler(snapshot, settings, query)
    context = compiler.context
    query, corrections, unknown = matching_nodes.corrected(context, query)
    phases["correct"] = {"words looked up": context.dictionary.lookups, "words corrected": len(corrections)}
    compiler = Compiler(msgspec.structs.replace(context, corrections=corrections)) if corrections else compiler
    filters = matching_nodes.make_filters(snapshot, compiler, trees, paths, without)

    near = find_near(text) if find_near is not None and is_plain_query(query) else None
    fetched = max(_MIN_FETCHED, _FETCHED_PER_RESULT * limit)
    while True:
        fetched = min(fetched, MAX_NODES) if settings.match_cutoff else MAX_NODES
        matching = Matching.of(snapshot, compiler, query, settings, filters=filters, limit=fetched, near=near)
        phases["rank"] = {"nodes": len(matching.top), "best": round(matching.best_score, 3)}
        found = _merged(matching, limit, phases) if merge else _unmerged(matching, limit)
        if len(found) >= limit or matching.is_all or fetched == MAX_NODES:
            break
        fetched *= 4
    least = settings.relevance_cutoff * found[0].score if found else 0.0
    relevant = [each for rank, each in enumerate(found) if every or each.score >= rank * least]
    phases["cut off"] = {"results": len(found) - len(relevant)}
    results = [  # nodes are read only now, as most matches are not shown
        build_hits.Result(snapshot.nodes_of(*location, location[1])[0], score, merged, constituents)
        for location, score, merged, constituents in relevant
    ]
    question = build_hits.Question(matching, query, explain=explain)
    hits = build_hits.build_hits(
        question, results, phases, max_tokens=max_tokens, max_extended=max_extended, around=around
    )
    return Results(
        hits,
        query=text,
        ignored_terms=ignored,
        corrections=corrections,
        below_cutoff=len(found) - len(relevant),
        over_budget=len(relevant) - len(hits),
        unknown_words=unknown,
        words_alike=() if found or not unknown else context.dictionary.words_alike(unknown[0]),
        phases=phases,
    )


class _Result(NamedTuple):
    """A result whose nodes are not read yet."""

    location: Location
    score: float
    merged: Merged | None
    constituents: tuple[Match, ...]


def _single(match: Match) -> _Result:
    return _Result((match.document, match.position), match.score, None, (match,))


def _merged(matching: Matching, limit: int, phases: Phases) -> list[_Result]:
    """The best merged results."""
    settings = matching.settings
    matching, excluded = matching.without_excluded()
    matches = matching.matches_in_documents(limit)
    documents: dict[str, list[Match]] = {}
    for each in matches:
        documents.setdefault(each.document, []).append(each)
    best, phases["merge"] = merge_documents(documents.values(), settings)
    best, demoted = limit_per_document(best, limit, settings.per_document)
    phases["spread"] = {"set back": demoted}
    found = {(each.document, each.position): each for each in matches}
    results = [
        _Result(
            (each.document, each.position),
            each.score,
            each,
            tuple(found[each.document, at] for at in each.constituents),
        )
        for each in best
    ]
    split = [each for result in results for each in (_split(result) if result.location in excluded else [result])]
    return sorted(split, key=lambda each: -each.score)[:limit]


def _unmerged(matching: Matching, limit: int) -> list[_Result]:
    return [_single(each) for each in matching.without_excluded()[0].matches(limit)]


def _split(result: _Result) -> list[_Result]:
    """The sections that matched in a result, each by itself, without those inside another."""
    locations = {each.position for each in result.constituents}
    return [
        _single(each)
        for each in result.constituents
        if locations.isdisjoint(above.position for above in each.ancestors)
    ]
