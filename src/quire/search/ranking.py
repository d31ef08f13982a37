"""The best nodes for a query: those that the engine finds, the best of them scored again by titles and links."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, islice, pairwise
from math import fsum, log, log1p
from typing import NamedTuple

from msgspec.structs import replace

from quire.index.engine.analysis import spellings
from quire.index.engine.first_pass import QueryContext, all_but, all_items, compiled, filtered, is_plain, one_of
from quire.index.engine.node_fields import DOC, IN_LINKS, PAGE_LINKS
from quire.index.engine.own_shares import own_shares
from quire.index.engine.pasted_text import PastedText, find_pasted
from quire.index.engine.snapshot import Location, Match, Snapshot
from quire.model.patterns import pattern
from quire.model.query_tree import Not, Query, leaves
from quire.search.query_terms import PreparedQuery
from quire.search.search_settings import SHARPNESS

MAX_RESCORED = 100  # how many of the nodes are scored again
_STUB = 4  # a stub has less than a fourth of the tokens of the average document
_EQUAL = 0.7  # nodes with so much of the best evidence satisfy a query about equally
_BOUND = 4  # how steeply priors fall below that
_FIRST = 1.1  # the score of a body with the whole query, in scores of the best: no two others together have as much
_MOSTLY = 0.8  # with more news than that among the nodes, more nodes are looked at
_WELL = 0.8  # sections with so much of the best score in their page match about as well
PARTS = ("title", "adjacent", "adjacent_body", "links", "page_links", "explained", "page_sections", "news", "verbatim")
# What the second pass adds to the score of a node, as ``[search]`` calls it; ``verbatim`` is for a body with all of it.
_EXPLAINED, _PAGE, _NEWS = (PARTS.index(name) for name in ("explained", "page_sections", "news"))
_NAME = pattern(r"\w[._:/-]\w|[a-z0-9][A-Z]|^--?\w|^[@$.]\w")  # no ordinary word: ``maxSurge``, ``a.b``, ``--from``
_READ = 20  # in how many of the best nodes a name may be explained


class VectorMatches(NamedTuple):
    """The nodes nearest to a query by their vectors."""

    similarity: Mapping[Location, float]  # from -1 to 1, the largest first
    baseline: float  # the similarity of a node that has nothing to do with the query
    weight: float  # the part of a score that is the vectors'; the rest is the words'


def best_matches(prepared: PreparedQuery, limit: int, near: VectorMatches | None) -> tuple[list[Match], bool]:
    """The best ``limit`` nodes after both passes, and whether no others match."""
    # Documents with a weight and those without one are searched apart, so that neither hide the others.
    snapshot, context = prepared.snapshot, prepared.context
    query, sides = compiled(context, prepared.query), [prepared.filters]
    if prepared.weights:
        weighted = [record.id for record in snapshot.files.values() if record.number in prepared.weights]
        sides = [[*prepared.filters, only(context.schema, DOC, weighted)] for only in (one_of, all_but)]
    sided = [filtered(query, *filters) for filters in sides if query is not None]
    by_side = [snapshot.matches(side, limit) for side in sided]
    best = list(islice(chain.from_iterable(by_side), MAX_RESCORED))
    if sum([bool(prepared.news.path(match.number)) for match in best]) > _MOSTLY * min(limit, MAX_RESCORED):
        limit *= 2
        by_side = [snapshot.matches(side, limit) for side in sided]
    matches = _rescored(prepared, sorted(chain.from_iterable(by_side), key=lambda match: -match.score))
    if near is not None:
        matches = fused(snapshot, matches, best_score(matches), near)
    if prepared.weights:
        again = [replace(match, score=match.score * score_factor(prepared, match)) for match in matches]
        matches = sorted(again, key=lambda match: -match.score)
    return matches, all(len(side) < limit for side in by_side)


def fused(snapshot: Snapshot, matches: Sequence[Match], best: float, near: VectorMatches) -> list[Match]:
    """The nodes found by words, of which the best has the score ``best``, and by meaning; with scores up to 1."""
    base, matches = near.baseline, matches if near.weight < 1 else []
    scale = max(max(near.similarity.values(), default=1.0) - base, 1e-6)
    meanings = {location: max(similarity - base, 0.0) / scale for location, similarity in near.similarity.items()}
    by_words = {(snapshot.document_id(match.number), match.position): match for match in matches}
    others = snapshot.addresses([location for location in meanings if location not in by_words])
    by_meaning = snapshot.matches_at([(near.weight * meanings[location], others[location]) for location in others])
    both = [
        replace(match, score=(1 - near.weight) * match.score / best + near.weight * meanings.get(location, 0.0))
        for location, match in by_words.items()
    ]
    return sorted([*both, *by_meaning], key=lambda match: -match.score)


def score_factor(prepared: PreparedQuery, match: Match) -> float:
    """The root of the weight of a match's document: ``normalized`` raises scores to a power."""
    return float(prepared.weights.get(match.number, 1.0) ** (1 / SHARPNESS))


def best_score(matches: Sequence[Match]) -> float:
    """The score of the best node, which all scores are divided by."""
    return matches[0].score if matches and matches[0].score > 0 else 1.0


def normalized(matches: Sequence[Match]) -> list[Match]:
    """The matches with scores up to 1. If none has a score, as for ``tree:docs``, all are equally good."""
    best, power = best_score(matches), SHARPNESS if matches and matches[0].score > 0 else 0
    return [Match((hit.score / best) ** power, hit.address, hit.number, hit.position) for hit in matches]


def _rescored(prepared: PreparedQuery, matches: Sequence[Match]) -> list[Match]:
    """The nodes, the best first, after the second pass over the best of them."""
    if not matches:
        return []
    snapshot, context, query = prepared.snapshot, prepared.context, prepared.query
    is_compared, filters = prepared.settings.adjacent_body, prepared.filters
    pasted = find_pasted(snapshot, context, query, matches, filters) if is_compared else PastedText()
    if pasted.verbatim:
        verbatim = {(match.number, match.position): replace(match, score=0.0) for match in pasted.verbatim}
        by_key = {(match.number, match.position): match for match in matches}
        matches = list((verbatim | by_key).values())  # in the order of the first: those with the whole query come first
    best = matches[:MAX_RESCORED]
    scores = _second_scores(prepared, best, pasted)
    prepared.second.update({(match.number, match.position): parts for match, parts in zip(best, scores, strict=True)})
    again = [replace(match, score=score) for match, score in zip(best, _sums(best, scores), strict=True)]
    return sorted([*again, *matches[MAX_RESCORED:]], key=lambda match: -match.score)


def _second_scores(prepared: PreparedQuery, matches: Sequence[Match], pasted: PastedText) -> list[list[float]]:
    """What the second pass adds to the score of each node, as ``PARTS``. Nodes with the whole query are the first."""
    snapshot, context, settings = prepared.snapshot, prepared.context, prepared.settings
    terms, rarity = _query_terms(context, prepared.query)
    any_language = frozenset().union(*terms.values())
    adjacent_terms = {language: _adjacent_terms(context, prepared.query, language) for language in terms}
    languages = {name: tree.language for name, tree in snapshot.settings.trees.items()}
    for_links, for_page_links = rarity * settings.in_links, rarity * settings.page_links
    stub = min(settings.stub_tokens, snapshot.mean_tokens / _STUB)
    links = snapshot.numbers([match.address for match in matches], IN_LINKS, PAGE_LINKS)
    for_body = settings.adjacent_body * pasted.rarity
    in_bodies = [for_body * pasted.shares.get((match.number, match.position), 0.0) for match in matches]
    evidences = [match.score + in_body for match, in_body in zip(matches, in_bodies, strict=True)]
    enough = _EQUAL * max(evidences)
    scores: list[list[float]] = []
    for match, (to_node, to_page), in_body, evidence in zip(matches, links, in_bodies, evidences, strict=True):
        outline = snapshot.outlines(match.number)
        title = outline.titles[match.position]
        for_title = adjacent = 0.0
        if not any_language.isdisjoint(title):
            language = languages[outline.document_id.partition(":")[0]]
            rarities = {term: context.dictionary.statistics(term, language).rarity for term in title}
            shared = sum([rarities[term] for term in rarities if term in terms[language]])
            if shared and rarity:  # a title of one word among five is worth little more than that word
                for_title = settings.title_coverage * shared / sum(rarities.values()) * 2 / (1 / rarity + 1 / shared)
            if outline.tokens[0] < stub:  # a glossary entry has the title, and another page explains it
                for_title *= outline.tokens[0] / stub
            if adjacent_terms[language]:
                pairs = adjacent_terms[language].intersection(pairwise(title))
                # ``fsum``: the order of a set differs between processes.
                adjacent = settings.adjacent * fsum([rarities[left] + rarities[right] for left, right in pairs])
        # Priors choose between nodes with about the same evidence, and do not lift one that has little.
        bound = 1.0 if evidence >= enough else (evidence / enough) ** _BOUND
        in_links = bound * for_links * log1p(to_node) if to_node else 0.0
        in_page_links = bound * for_page_links * log1p(to_page) if to_page else 0.0
        scores.append([bound * for_title, adjacent, in_body, in_links, in_page_links, 0.0, 0.0, 0.0, 0.0])
    if settings.explained:
        _add_explained(prepared, matches, scores, settings.explained * rarity)
    _add_pages(prepared, matches, scores)
    if pasted.verbatim:
        sums = _sums(matches, scores)
        for parts, score in zip(scores[: len(pasted.verbatim)], sums, strict=False):
            parts[-1] = _FIRST * max(sums) + score / 10 - score
    return scores


def _sums(matches: Sequence[Match], scores: Sequence[Sequence[float]]) -> list[float]:
    return [match.score + sum(parts) for match, parts in zip(matches, scores, strict=True)]


def _add_pages(prepared: PreparedQuery, matches: Sequence[Match], scores: Sequence[list[float]]) -> None:
    """Add what the pages of nodes say: a page with several sections that match is about the query, news is not."""
    settings, sums, news = prepared.settings, _sums(matches, scores), prepared.news
    pages: dict[int, list[int]] = {}
    for index, match in enumerate(matches):
        pages.setdefault(match.number, []).append(index)
    for number, inside in pages.items():
        if len(inside) > 1:
            enough = _WELL * max([sums[index] for index in inside])
            share = settings.page_sections * log(max(sum([sums[index] >= enough for index in inside]), 1))
            for index in inside:
                scores[index][_PAGE] = share * sums[index]
        for index in inside if news.path(number) else ():
            if news.has(matches[index]):
                scores[index][_NEWS] = (settings.news - 1) * (sums[index] + scores[index][_PAGE])


def _add_explained(prepared: PreparedQuery, matches: Sequence[Match], scores: list[list[float]], most: float) -> None:
    """Add to nodes that explain the name that is searched, such as ``maxSurge``. The texts of the best are read."""
    # A name is explained as a heading, in the first cell of a row, as a term, and at the start of a list item.
    names = prepared.context.required(all_items(prepared.query))
    if len(names) != 1 or not is_plain(names[0]) or not _NAME.search(names[0].text):
        return
    text, end = names[0].text, r"[`*]*[ \t]*"
    name = rf"(?:[`*]|<\w+>)*{re.escape(text)}"
    lines = (rf"#+[ \t]+{name}{end}(?:\{{.*)?$", rf"(?:\|[ \t]*|<t[dh][^>]*>){name}\b", rf"`{name}{end}$")
    explained = re.compile(rf"^[ \t]*(?:{'|'.join(lines)}|[-*+][ \t]+\**`{name}{end}[:–—-])", re.MULTILINE)
    sums = _sums(matches, scores)
    best = sorted(range(len(matches)), key=lambda number: -sums[number])[:_READ]
    for number, node in zip(best, prepared.snapshot.nodes([matches[number].address for number in best]), strict=True):
        scores[number][_EXPLAINED] = most if text in node.text and explained.search(node.text) else 0.0


def _query_terms(context: QueryContext, query: Query) -> tuple[Mapping[str, set[str]], float]:
    """The terms that a query looks for anywhere or in titles, by language; and how rare they are together."""
    terms: dict[str, set[str]] = {language: set() for language in context.languages}
    rarity, words = 0.0, list(leaves(query))
    required = [leaf for leaf in words if not context.is_optional(leaf)]
    for leaf in required or words:
        if leaf.field not in (None, "title"):
            continue
        rarities = [0.0]
        for language in context.languages:
            readings = [spellings(text, language) for text in context.corrections.get(leaf.text, (leaf.text,))]
            terms[language].update([term for reading in readings for spelling in reading for term in spelling.terms])
            first = [term for spelling in readings[0][:1] for term in spelling.terms]
            statistics = [context.dictionary.statistics(term, language) for term in first]
            rarities.append(sum([term.rarity for term in statistics if term.fields]))
        rarity += max(rarities) if required else 0.0
    return terms, rarity


def _adjacent_terms(context: QueryContext, query: Query, language: str) -> set[tuple[str, str]]:
    """The terms of words that are adjacent in the query, apart from function words."""
    adjacent = set()
    for left, right in pairwise(context.required(all_items(query))):
        if is_plain(left) and is_plain(right):
            before, after = (spellings(context.corrected(word)[0], language) for word in (left, right))
            if before and after:
                adjacent.add((before[0].terms[-1], after[0].terms[0]))
    return adjacent


def matches_by_document(prepared: PreparedQuery, matches: Sequence[Match], limit: int) -> dict[int, list[Match]]:
    """The nodes near the best of their document, in all documents that can have one of ``limit`` results."""
    # A result scores at least as much as its best node and at most ``score_cap_multiplier`` times that. The matches
    # have normalized scores, the best first.
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
    nested = []  # shares are compared only where one match is below another
    for number, inside in by_document.items():
        if len(inside) > 1:
            positions, outline = {match.position for match in inside}, prepared.snapshot.outlines(number)
            if any(not positions.isdisjoint(outline.ancestors(position)) for position in positions):
                nested.append(number)
    shares = own_shares(prepared.snapshot, prepared.context, prepared.query, nested) if nested else {}
    for number in nested if shares else ():
        inside = by_document[number]
        by_document[number] = [replace(match, own=shares.get((number, match.position), 0.0)) for match in inside]
    return by_document


def excluded_nodes(prepared: PreparedQuery, matches: Sequence[Match]) -> dict[int, set[int]]:
    """The positions of nodes that have, or contain, something the query excludes, by the numbers of documents."""
    snapshot, context = prepared.snapshot, prepared.context
    refused = [item.item for item in all_items(prepared.query) if isinstance(item, Not)]
    queries = [query for item in refused if (query := compiled(context, item, strict=True)) is not None]
    if not queries or not matches:
        return {}
    numbers = {match.number for match in matches}
    documents = list(map(snapshot.document_id, numbers))
    inside, excluded = one_of(context.schema, DOC, documents), defaultdict[int, set[int]](set)
    for query in queries:
        for match in snapshot.matches_at(snapshot.top(filtered(query, inside), snapshot.node_count(numbers))):
            excluded[match.number].update([match.position, *snapshot.outlines(match.number).ancestors(match.position)])
    return excluded
