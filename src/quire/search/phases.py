"""A query's way to its results, phase by phase. Each phase is counted, so that ``--explain`` can tell what happened.

    parse -> correct -> strict, else partial -> own -> merge -> spread -> fit -> highlight

Answering loads neither the parser nor a tokenizer: the nodes bring all that an answer needs. Only a budget so small
that a text must be cut inside a part loads the tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from quire.index.engine.clauses import together
from quire.index.engine.compile import Compiler, filtered
from quire.index.engine.own import SATISFIED
from quire.index.engine.store import Place, Snapshot
from quire.query import parse, show
from quire.query.query_tree import Not, Query
from quire.search import answer, find
from quire.search.candidates import Candidate, Merged, Rules
from quire.search.counting import best_first
from quire.search.find import AHEAD, MOST, Found, Matching
from quire.search.records import Results
from quire.search.settings import SearchSettings
from quire.search.spread import spread
from quire.search.term_limit import within_limit

_POOL = 50
"""How many nodes are merged, at least."""
_POOL_FOR_EACH = 5
"""How many, at least, for each result that is wanted."""

Phases = dict[str, dict[str, Any]]
"""What each phase counted."""


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
    around: answer.Around | None = None,
) -> Results:
    """The sections that answer a query, the best first: at most ``limit``, with at most ``max_tokens`` tokens.

    ``trees`` and ``paths`` (patterns) say where to look. Without ``merge`` each node stands for itself. ``around`` says
    what is shown around each hit and counts, too.
    """
    settings = settings or SearchSettings()
    query, ignored = within_limit(parse(text))
    phases: Phases = {"parse": {"query": show(query)}}
    if query is None or limit < 1:
        return Results(query=text, ignored_terms=ignored, phases=phases)
    find.refuse_unknown_trees(snapshot, query, trees)
    compiler = find.compiler(snapshot, settings, query)
    words = compiler.words
    corrections = find.corrections(words, query)
    phases["correct"] = {"words looked up": words.dictionary.looked_up, "words corrected": len(corrections)}
    compiler = Compiler(msgspec.structs.replace(words, corrections=corrections)) if corrections else compiler

    has_unwanted = any(isinstance(item, Not) for item in together(query))
    pool = max(_POOL, _POOL_FOR_EACH * limit) if merge or has_unwanted else limit
    wanted = _Wanted(query, limit, settings, pool)
    filters = find.filters(snapshot, compiler, trees, paths)
    for phase, matching, found in _matching(compiler, query, snapshot, filters, wanted.pool, merge=merge):
        phases[phase] = {"candidates": len(found)}
        if found:
            phases[phase]["best"] = round(matching.unit, 3)
            merged = _merged(wanted, matching, found, phases) if merge else _unmerged(wanted, matching, found)
            if not merged:  # all of it is unwanted
                continue
            results = _with_nodes(snapshot, merged, whole=max_tokens is None)
            is_partial = phase == "partial"
            question = answer.Question(matching, query, explain=explain, partial=is_partial)
            hits = answer.hits(question, results, max_tokens, phases, around)
            return Results(
                hits, query=text, ignored_terms=ignored, partial=is_partial, corrections=corrections, phases=phases
            )
    return Results(query=text, ignored_terms=ignored, corrections=corrections, phases=phases)


class _Wanted(msgspec.Struct, frozen=True):
    """What the results are to be like."""

    query: Query
    limit: int
    settings: SearchSettings
    pool: int
    """How many nodes are looked at first."""


class _Result(NamedTuple):
    """A result whose nodes are not read yet."""

    place: Place
    score: float
    merged: Merged | None
    constituents: tuple[Found, ...]


def _alone(found: Found) -> _Result:
    return _Result(found.place, found.score, None, (found,))


def _matching(
    compiler: Compiler, query: Query, snapshot: Snapshot, filters: Sequence[Any], pool: int, *, merge: bool
) -> Iterator[tuple[str, Matching, list[Found]]]:
    """What matches all of the query; after it, what matches some of it."""
    for phase, compiled in (("strict", compiler.strict), ("partial", compiler.loose)):
        wanted = compiled(query)
        if wanted is not None:
            ahead = max(AHEAD, pool) if merge else pool
            matching = Matching.of(snapshot, filtered(wanted, *filters), compiler, ahead, partial=phase == "partial")
            yield phase, matching, matching.best(pool)


def _merged(wanted: _Wanted, matching: Matching, found: list[Found], phases: Phases) -> list[_Result]:
    """The best results of merging; with more candidates as long as there are too few results."""
    settings, pool = wanted.settings, wanted.pool
    rules = Rules(settings.aggregation_threshold, settings.min_aggregation_matches, settings.score_cap_multiplier)
    while True:
        able = find.able(found, wanted.limit, settings.score_cap_multiplier)
        everything = able + matching.rest(able, pool) if len(found) >= pool else able
        unwanted = matching.unwanted(wanted.query, everything)
        everything = [each for each in everything if each.place not in unwanted]
        own = matching.own(wanted.query, everything)
        phases["own"] = {"nodes": len(own), "in their own right": sum([share >= SATISFIED for share in own])}
        best, phases["merge"] = best_first(_by_document(everything, own), rules)
        best, set_back = spread(best, wanted.limit)
        phases["spread"] = {"set back": set_back}
        # What is set back may stand behind results of candidates that were not looked at yet.
        unseen = settings.score_cap_multiplier * found[-1].score if set_back else 0.0
        is_enough = len(best) >= wanted.limit and best[-1].score >= unseen
        if is_enough or len(found) < pool or pool >= MOST:
            by_place = {each.place: each for each in everything}
            results = [_with_constituents(each, by_place) for each in best]
            apart = [part for each in results for part in (_parts(each) if each.place in unwanted else [each])]
            return sorted(apart, key=lambda each: -each.score)[: wanted.limit]
        pool = min(2 * pool, MOST)
        found = matching.best(pool)


def _unmerged(wanted: _Wanted, matching: Matching, found: Sequence[Found]) -> list[_Result]:
    unwanted = matching.unwanted(wanted.query, found)
    return [_alone(each) for each in found if each.place not in unwanted][: wanted.limit]


def _parts(result: _Result) -> list[_Result]:
    """The sections that matched in a result, each by itself, and none in another."""
    places = {each.place for each in result.constituents}
    return [
        _alone(each)
        for each in result.constituents
        if places.isdisjoint((each.spot.document_id, above.position) for above in each.spot.ancestors)
    ]


def _by_document(found: Sequence[Found], own: Sequence[float]) -> Iterable[list[Candidate]]:
    """What is to be merged, document by document."""
    documents: dict[str, list[Candidate]] = {}
    for each, share in zip(found, own, strict=True):
        spot = each.spot
        candidate = Candidate(
            document=spot.document_id,
            position=spot.position,
            depth=spot.depth,
            score=each.score,
            own=share,
            ancestors=spot.ancestors,
        )
        documents.setdefault(spot.document_id, []).append(candidate)
    return documents.values()


def _with_constituents(best: Merged | Candidate, found: Mapping[Place, Found]) -> _Result:
    place = best.document, best.position
    if isinstance(best, Candidate):
        return _alone(found[place])
    return _Result(place, best.score, best, tuple([found[best.document, position] for position in best.constituents]))


def _with_nodes(snapshot: Snapshot, results: Sequence[_Result], *, whole: bool) -> list[answer.Result]:
    """The results with their nodes, which are read now: of what matched, most is not shown."""
    keys = {found.place: found.key for result in results for found in result.constituents}
    read = snapshot.sections([result.place for result in results], whole=whole, keys=keys)
    return [
        answer.Result(nodes, result.score, result.merged, result.constituents)
        for nodes, result in zip(read, results, strict=True)
    ]
