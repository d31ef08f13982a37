"""The order of a search. Each phase counts what it did, for ``--explain``.

    parse -> correct -> strict, else partial -> own -> merge -> spread -> fit -> highlight

A search loads neither the parser nor a tokenizer, as nodes have everything an answer needs. Only a budget so small that
a passage must be cut loads the tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from quire.index.engine.clauses import all_items
from quire.index.engine.compile import Compiler, filtered
from quire.index.engine.coverage import FULLY_COVERED
from quire.index.engine.snapshot import Location, Snapshot
from quire.query import parse, show
from quire.query.query_tree import Not, Query
from quire.search import build_hits, matching_nodes
from quire.search.hit import Results
from quire.search.matching_nodes import FETCHED, MAX_NODES, Match, Matching
from quire.search.merge import Candidate, Merged, Rules, limit_per_document, merge_documents
from quire.search.ranking_settings import SearchSettings
from quire.search.term_limit import within_limit

_MIN_POOL = 50  # how many nodes are merged, at least
_POOL_PER_RESULT = 5  # how many nodes are merged for each requested result, at least

Phases = dict[str, dict[str, Any]]  # what each phase counted


def search(
    snapshot: Snapshot,
    text: str,
    *,
    limit: int,
    max_tokens: int | None = None,
    trees: Sequence[str] | None = None,
    paths: Sequence[str] | None = None,
    merge: bool,
    explain: bool = False,
    settings: SearchSettings | None = None,
    around: build_hits.Around | None = None,
) -> Results:
    """The best ``limit`` sections for a query, together at most ``max_tokens`` tokens. See ``Index.search``."""
    settings = settings or SearchSettings()
    query, ignored = within_limit(parse(text))
    phases: Phases = {"parse": {"query": show(query)}}
    if query is None or limit < 1:
        return Results(query=text, ignored_terms=ignored, phases=phases)
    matching_nodes.refuse_unknown_trees(snapshot, query, trees)
    compiler = matching_nodes.make_compiler(snapshot, settings, query)
    context = compiler.context
    corrections = matching_nodes.find_corrections(context, query)
    phases["correct"] = {"words looked up": context.dictionary.lookups, "words corrected": len(corrections)}
    compiler = Compiler(msgspec.structs.replace(context, corrections=corrections)) if corrections else compiler

    has_exclusions = any(isinstance(item, Not) for item in all_items(query))
    pool = max(_MIN_POOL, _POOL_PER_RESULT * limit) if merge or has_exclusions else limit
    wanted = _Wanted(query, limit, settings, pool)
    filters = matching_nodes.make_filters(snapshot, compiler, trees, paths)
    for phase, matching, matches in _strict_then_partial(compiler, query, snapshot, filters, pool, merge=merge):
        phases[phase] = {"candidates": len(matches)}
        if matches:
            phases[phase]["best"] = round(matching.best_score, 3)
            found = _merged(wanted, matching, matches, phases) if merge else _unmerged(wanted, matching, matches)
            if not found:  # everything is excluded
                continue
            results = _with_nodes(snapshot, found, whole=max_tokens is None)
            is_partial = phase == "partial"
            question = build_hits.Question(matching, query, explain=explain, partial=is_partial)
            hits = build_hits.build_hits(question, results, max_tokens, phases, around)
            return Results(
                hits, query=text, ignored_terms=ignored, partial=is_partial, corrections=corrections, phases=phases
            )
    return Results(query=text, ignored_terms=ignored, corrections=corrections, phases=phases)


class _Wanted(msgspec.Struct, frozen=True):
    query: Query
    limit: int
    settings: SearchSettings
    pool: int  # how many nodes are merged at first


class _Result(NamedTuple):
    """A result whose nodes are not read yet."""

    location: Location
    score: float
    merged: Merged | None
    constituents: tuple[Match, ...]


def _single(match: Match) -> _Result:
    return _Result(match.location, match.score, None, (match,))


def _strict_then_partial(
    compiler: Compiler, query: Query, snapshot: Snapshot, filters: Sequence[Any], pool: int, *, merge: bool
) -> Iterator[tuple[str, Matching, list[Match]]]:
    """The nodes that match the whole query, then those that match a part of it."""
    for phase in ("strict", "partial"):
        is_partial = phase == "partial"
        compiled = compiler.compile(query, partial=is_partial)
        if compiled is not None:
            limit = max(FETCHED, pool) if merge else pool
            matching = Matching.of(snapshot, filtered(compiled, *filters), compiler, limit, partial=is_partial)
            yield phase, matching, matching.best(pool)


def _merged(wanted: _Wanted, matching: Matching, matches: list[Match], phases: Phases) -> list[_Result]:
    """The best merged results, from more nodes as long as there are too few results."""
    settings, pool = wanted.settings, wanted.pool
    rules = Rules(settings.aggregation_threshold, settings.min_aggregation_matches, settings.score_cap_multiplier)
    while True:
        competitive = matching_nodes.competitive(matches, wanted.limit, settings.score_cap_multiplier)
        is_full = len(matches) >= pool
        everything = competitive + matching.others_in_documents(competitive, pool) if is_full else competitive
        excluded = matching.excluded(wanted.query, everything)
        everything = [each for each in everything if each.location not in excluded]
        shares = matching.coverage(wanted.query, everything)
        phases["own"] = {"nodes": len(shares), "in their own right": sum([share >= FULLY_COVERED for share in shares])}
        best, phases["merge"] = merge_documents(_by_document(everything, shares), rules)
        best, demoted = limit_per_document(best, wanted.limit)
        phases["spread"] = {"set back": demoted}
        # Results of nodes outside the pool may rank above demoted ones.
        unseen = settings.score_cap_multiplier * matches[-1].score if demoted else 0.0
        is_enough = len(best) >= wanted.limit and best[-1].score >= unseen
        if is_enough or not is_full or pool >= MAX_NODES:
            by_location = {each.location: each for each in everything}
            results = [_with_constituents(each, by_location) for each in best]
            split = [
                each for result in results for each in (_split(result) if result.location in excluded else [result])
            ]
            return sorted(split, key=lambda each: -each.score)[: wanted.limit]
        pool = min(2 * pool, MAX_NODES)
        matches = matching.best(pool)


def _unmerged(wanted: _Wanted, matching: Matching, matches: Sequence[Match]) -> list[_Result]:
    excluded = matching.excluded(wanted.query, matches)
    return [_single(each) for each in matches if each.location not in excluded][: wanted.limit]


def _split(result: _Result) -> list[_Result]:
    """The sections that matched in a result, each by itself, without those inside another."""
    locations = {each.location for each in result.constituents}
    return [
        _single(each)
        for each in result.constituents
        if locations.isdisjoint((each.ref.document_id, above.position) for above in each.ref.ancestors)
    ]


def _by_document(matches: Sequence[Match], shares: Sequence[float]) -> Iterable[list[Candidate]]:
    documents: dict[str, list[Candidate]] = {}
    for each, share in zip(matches, shares, strict=True):
        ref = each.ref
        candidate = Candidate(
            document=ref.document_id,
            position=ref.position,
            depth=ref.depth,
            score=each.score,
            own=share,
            ancestors=ref.ancestors,
        )
        documents.setdefault(ref.document_id, []).append(candidate)
    return documents.values()


def _with_constituents(best: Merged | Candidate, matches: Mapping[Location, Match]) -> _Result:
    location = best.document, best.position
    if isinstance(best, Candidate):
        return _single(matches[location])
    constituents = tuple([matches[best.document, position] for position in best.constituents])
    return _Result(location, best.score, best, constituents)


def _with_nodes(snapshot: Snapshot, results: Sequence[_Result], *, whole: bool) -> list[build_hits.Result]:
    """The results with their nodes. They are read only now, as most matches are not shown."""
    addresses = {match.location: match.address for result in results for match in result.constituents}
    found = []
    for location, score, merged, constituents in results:
        nodes = snapshot.section(location, whole=whole, address=addresses.get(location))
        found.append(build_hits.Result(nodes, score, merged, constituents))
    return found
