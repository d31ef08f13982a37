"""The order of a search. Each phase counts what it did, for ``--explain``.

A node that matches is a ``Match``, a result without its text a ``Merged``, with its text a ``Hit``.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from quire.index.engine.first_pass import all_items, is_plain
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import EXPECTED, FILES
from quire.index.node import Node
from quire.model.breadcrumbs import joined
from quire.model.document import Span
from quire.model.page_markers import NOTEBOOK
from quire.model.query_tree import Group
from quire.search import ranking
from quire.search.conditions import Filter
from quire.search.explain_score import explanation
from quire.search.hit import Hit, Results
from quire.search.limit_per_document import limit_per_document
from quire.search.match_ranges import highlighter
from quire.search.merge import Merged, alone, merge_document
from quire.search.query_syntax import KEYED, parse, show
from quire.search.query_terms import PreparedQuery, prepare, within_limit
from quire.search.ranking import VectorMatches
from quire.search.search_settings import SearchSettings
from quire.search.token_budget import Excerpt, fit

MIN_NODES, MAX_NODES = 50, 10_000  # how many nodes a search looks at: at first, and at most
NODES_PER_RESULT = 5  # at first, if many results are wanted
RERANKED = 50  # how many results the model of ``search.rerank`` sees
Rerank = Callable[[str, Sequence[str]], Sequence[float]]  # the scores of texts for a query
Phases = dict[str, dict[str, Any]]  # what each phase counted


def search(
    snapshot: Snapshot,
    text: str,
    settings: SearchSettings,
    wanted: Filter,
    *,
    find_near: Callable[[str], VectorMatches] | None = None,
    rerank: Rerank | None = None,
    merge: bool = True,
    every: bool = False,
    explain: bool = False,
) -> Results:
    """The best sections for a query in the documents that are wanted. See ``Index.search``.

    ``find_near`` finds the nodes nearest to a query by their vectors, ``rerank`` scores the best results.
    """
    keys = snapshot.front_matter_keys if KEYED.search(text) else frozenset()
    query, ignored = within_limit(parse(text, keys), text)
    phases: Phases = {"parse": {"query": show(query)} if explain else {}}
    if query is None:
        return Results(query=text, ignored_terms=ignored, phases=phases)
    prepared = prepare(snapshot, query, settings, wanted)
    if prepared.unknown_keys:
        all_keys = sorted(snapshot.front_matter_keys)
        return Results(query=text, unknown_keys=prepared.unknown_keys, known_keys=all_keys, phases=phases)
    context, near = prepared.context, None
    phases["correct"] = {"words looked up": context.dictionary.lookups, "words corrected": len(context.corrections)}
    # A query with operators is searched by words: vectors know no operators.
    if find_near and all(is_plain(item) or isinstance(item, Group) for item in all_items(prepared.query)):
        near = find_near(text)
    limit = max(settings.limit, RERANKED) if rerank else settings.limit
    results = _results(prepared, limit, phases, near, merge=merge)
    if rerank:
        phases["rerank"] = {"results": min(len(results), RERANKED)}
        results = _reranked(snapshot, text, results, rerank)[: settings.limit]
    per_rank = settings.relevance_cutoff * results[0].score if results and not every else 0.0
    relevant = [result for rank, result in enumerate(results) if result.score >= rank * per_rank]
    phases["cut off"] = {"results": len(results) - len(relevant)}
    hits, files = list(_hits(prepared, relevant, phases, explain=explain)), snapshot.totals.get(FILES, 0)
    return Results(
        hits,
        query=text,
        ignored_terms=ignored,
        corrections=dict(context.corrections),
        below_cutoff=len(results) - len(relevant),
        over_budget=len(relevant) - len(hits),
        unknown_words=tuple(prepared.unknown),
        progress=(files, snapshot.totals.get(EXPECTED, files)),
        phases=phases,
    )


def _results(
    prepared: PreparedQuery, limit: int, phases: Phases, near: VectorMatches | None, *, merge: bool
) -> list[Merged]:
    """The best results. If merging leaves too few of them, more nodes are looked at."""
    settings, document_id = prepared.settings, prepared.snapshot.document_id
    fetched = max(MIN_NODES, NODES_PER_RESULT * limit)
    while True:
        fetched = min(fetched, MAX_NODES) if settings.match_cutoff else MAX_NODES
        matches, is_all = ranking.best_matches(prepared, fetched, near)
        phases["rank"] = {"nodes": len(matches), "best": round(ranking.best_score(matches), 3)}
        excluded = ranking.excluded_nodes(prepared, matches)
        if excluded:
            matches = [match for match in matches if match.position not in excluded.get(match.number, ())]
        kept = ranking.normalized(matches)
        results = [alone(document_id(match.number), match) for match in kept[:limit]] if not merge else []
        if merge:
            documents = ranking.matches_by_document(prepared, kept, limit)
            for number, inside in documents.items():
                outline, refused = prepared.snapshot.outlines(number), excluded.get(number, ())
                results += merge_document(inside, outline, settings, refused)
            phases["merge"] = {"candidates": sum(map(len, documents.values())), "results": len(results)}
            results, demoted = limit_per_document(results, limit, settings.per_document)
            phases["spread"] = {"set back": demoted}
        if len(results) >= limit or is_all or fetched == MAX_NODES:
            return results
        fetched *= 4


def _reranked(snapshot: Snapshot, query: str, results: Sequence[Merged], rerank: Rerank) -> list[Merged]:
    """The results in the order of their scores by ``rerank``, with the scores that results of these ranks had."""
    # Scores of models have no common scale, and the cut-off needs one. Equal scores keep their order.
    best, texts = results[:RERANKED], []
    for result, node in zip(best, _nodes(snapshot, best), strict=True):
        inside = snapshot.nodes([match.address for match in result.constituents if match.position != result.position])
        texts.append("\n\n".join([" > ".join(node.breadcrumb), *[part.body_text for part in (node, *inside)]]))
    by_model = rerank(query, texts) if texts else ()
    order = sorted(range(len(best)), key=lambda index: -by_model[index])
    return [*(replace(best[index], score=best[rank].score) for rank, index in enumerate(order)), *results[RERANKED:]]


def _hits(prepared: PreparedQuery, results: Sequence[Merged], phases: Phases, *, explain: bool) -> Iterator[Hit]:
    """The hits, with as much text as the budget allows; results without any are left out."""
    snapshot, context, settings = prepared.snapshot, prepared.context, prepared.settings

    def ranges(text: str) -> Sequence[Span]:
        """Where the query's words are. The first language is good enough to choose passages; most answers need none."""
        return highlighter(prepared.query, context.languages[0], context.corrections, every=False)(text)

    matched = [[match.position for match in result.constituents] for result in results]
    sections, most_below = zip(_nodes(snapshot, results), matched, strict=True), settings.max_below
    excerpts = fit(sections, snapshot.nodes_of, max_tokens=settings.max_tokens, max_below=most_below, ranges=ranges)
    given = [rank for rank, excerpt in enumerate(excerpts) if excerpt]
    left_out, tokens = max(given, default=-1) + 1 - len(given), sum([excerpt.cost for excerpt in excerpts])
    phases["fit"] = {"results": len(results), "given": len(given), "left out": left_out, "tokens": tokens}
    for result, excerpt in zip(results, excerpts, strict=True):
        if excerpt:
            constituents = [node.id for node in snapshot.nodes([match.address for match in result.constituents])]
            reasons = explanation(prepared, result) if explain else {}
            yield _hit(snapshot, excerpt, constituents, score=result.score, how=result.how, explanation=reasons)


def _nodes(snapshot: Snapshot, results: Sequence[Merged]) -> list[Node]:
    """The nodes of results. They are read only now, as most matches are not shown."""
    addresses = []
    for result in results:
        matched = [match.address for match in result.constituents if match.position == result.position]
        location = result.document, result.position
        addresses.append(matched[0] if matched else snapshot.addresses([location])[location])
    return snapshot.nodes(addresses)


def hit_for_node(snapshot: Snapshot, node: Node, max_tokens: int) -> Hit:
    """A node that was asked for by its name, with everything below it, as a hit."""
    [excerpt] = fit([(node, [node.position])], snapshot.nodes_of, max_tokens=max_tokens, min_excerpt=1)
    return _hit(snapshot, excerpt, [node.id], score=0.0)


def _hit(snapshot: Snapshot, excerpt: Excerpt, constituents: Sequence[str], **result: Any) -> Hit:
    """The hit for an excerpt; ``result`` has its other fields."""
    node, spans = excerpt.node, excerpt.spans
    span = Span(node.start, node.full_end)
    pages, is_notebook = node.pages[:1] + node.pages[-1:], node.path.lower().endswith(NOTEBOOK)
    return Hit(
        id=node.id,
        title=node.title,
        breadcrumb=node.breadcrumb,
        breadcrumb_line=joined(node.breadcrumb),
        text=excerpt.text,
        tree=node.tree,
        path=node.path,
        language=snapshot.settings.trees[node.tree].language,
        depth=node.depth,
        span=span,
        byte_span=Span(node.byte_start, node.byte_full_end),
        lines=(node.line, node.full_last_line),
        tokens=excerpt.tokens,
        complete=spans == (span,),
        parts=spans,
        pages=() if is_notebook else pages,
        cells=pages if is_notebook else (),
        constituents=tuple(constituents),
        **result,
    )
