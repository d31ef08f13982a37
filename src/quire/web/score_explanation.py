"""Hits as the page shows them: the merging drawn on the heading tree, and the reasons for each score in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quire.index.node import Node
from quire.model.document import Span
from quire.search.hit import Hit, Results
from quire.search.index_api import Index
from quire.search.match_ranges import match_ranges

MOST_TEXT = 20_000  # the most characters of a hit that the page shows; the document has the rest
_FIELDS = ("id", "title", "breadcrumb", "lines", "tokens", "how", "complete")
_MOST_WORDS = 12  # the most words and sections that are explained one by one


def search_record(index: Index, results: Results, keys: Sequence[str | None]) -> dict[str, Any]:
    """The hits of a search, with the keys of their documents, and notes about the query."""
    hits = []
    for hit, key in zip(results, keys, strict=True):
        matches = match_ranges(hit, results.query, results.corrections)
        hits.append(_hit_record(hit, index.outline(f"{hit.tree}:{hit.path}"), key, matches))
    weaker = results.below_cutoff
    left_out = [f"{weaker} more score much less than the best and are left out"] if weaker else []
    return {"hits": hits, "notes": [*results.notes(), *left_out]}


def _hit_record(hit: Hit, nodes: Sequence[Node], key: str | None, matches: Sequence[Span]) -> dict[str, Any]:
    titles = {node.position: node.title for node in nodes}
    steps = (_step_reason(step, titles) for step in hit.explanation.get("merging", ()))
    return {
        **{name: getattr(hit, name) for name in _FIELDS},
        "document": key,
        "score": round(hit.score, 4),
        "start": hit.span.start,
        "text": hit.text[:MOST_TEXT],
        "matches": [span for span in matches if span.end <= MOST_TEXT],
        "tree": list(_drawn_tree(hit, nodes)),
        "reasons": [*_score_reasons(hit, {node.id: node.title for node in nodes}), *steps],
    }


def _drawn_tree(hit: Hit, nodes: Sequence[Node]) -> Iterator[dict[str, Any]]:
    """The headings above a hit, and those in it that matched; a document with the title of a heading has its path."""
    result = next((node for node in nodes if node.id == hit.id), nodes[0])
    roles = dict.fromkeys(result.ancestors, "above") | {result.position: "result"}
    drawn = [node for node in nodes if node.id in hit.constituents or node.position in roles]
    headings = {node.title for node in drawn if node.position}
    for node in drawn:
        title = node.path if not node.position and node.title in headings else node.title
        role, is_matched = roles.get(node.position, "match"), node.id in hit.constituents
        yield {"role": role, "depth": len(node.ancestors), "title": title, "matched": is_matched}


def _score_reasons(hit: Hit, titles: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each section that matched: which words it has, where, and what they add."""
    scores = hit.explanation.get("scores", ())
    for section in scores[:_MOST_WORDS]:
        words: dict[str, list[tuple[float, str]]] = {}
        for word in section.get("words", ()):
            words.setdefault(word["word"], []).append((word["score"], word["field"]))
        reasons = []
        for word, shares in list(words.items())[:_MOST_WORDS]:
            (best, field), *others = sorted(shares, reverse=True)
            also = f", and counts a little for the {_listed([other for _, other in others])}" if others else ""
            reasons.append(f"“{word}” in the {field} adds {best:.1f}{also}")
        name, score = f"“{titles.get(section['id'], section['id'])}”", section["score"]
        share = "the best score of this search" if score >= 1 else f"{score:.0%} of the best score"
        yield f"{name} has {share}: {'; '.join(reasons)}." if reasons else f"{name} has {share}."
    if len(scores) > _MOST_WORDS:
        yield f"{len(scores) - _MOST_WORDS} more sections in it match."


def _step_reason(step: Mapping[str, Any], titles: Mapping[int, str]) -> str:
    name = f"“{titles.get(step['position'], 'the document')}”"
    replaced = _listed([f"“{titles.get(position, '?')}”" for position in step.get("replaced", ())])
    match step["rule"]:
        case "parent":
            beside = f"; it replaces {replaced}" if replaced else ""
            return f"{name} matches in its own right{beside}."
        case "aggregated":
            number = f"{step['matching']} of {step['children']} sections below {name} match"
            limit = f", limited to {step['limit']:.2f}" if step["total"] > step["limit"] else ""
            score = f"its score is the sum of theirs, {step['total']:.2f}{limit}"
            return f"{number}, so it replaces {replaced or 'them'}; {score}."
        case "passed over":
            return f"{name} matches, too, but sections below it answer better; they inherit its rank."
        case "apart":
            of_several = f"only {step['matching']} of {step['children']} match"
            return f"{name} does not replace its sections: {of_several if step['children'] > 1 else 'one is too few'}."
    score = f"{step['score']:.3f}"  # the rule is "set back"
    return f"Better results of this document come before it, so it counts a tenth of its score: {score}."


def _listed(words: Sequence[str]) -> str:
    *first, last = words or [""]
    return f"{', '.join(first)} and {last}" if first else last
