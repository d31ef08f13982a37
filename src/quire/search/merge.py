"""Nodes that match to sections that answer, along the heading tree of each document: docs/search.md has the rules.

A match above better ones is passed over, as its text would contain them. A result never scores less than one that it
replaces.
"""

from collections.abc import Container, Sequence
from typing import Any, Literal

import msgspec

from quire.index.engine.own_shares import TOLERANCE
from quire.index.engine.snapshot import Match
from quire.index.node import NO_PARENT, Outline
from quire.model.validation import NO_LIMIT
from quire.search.hit import How
from quire.search.search_settings import SearchSettings

_SMALL = 500  # a section with so many tokens, and all below it, is never too large
_NEARLY_ALL = 0.9  # the share of a parent's words that a section below it has if it is the answer

Rule = Literal["parent", "aggregated", "passed over", "apart", "set back"]
# It matches in its own right; enough children match; better ones below it replace the match; too few children of the
# result's parent match; it is a further result of its document.


class Step(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one rule did at one node, for ``--explain``."""

    rule: Rule
    position: int
    score: float = 0.0  # of the result; for ``passed over`` the match's own, which the result has at least
    own: float = 0.0  # the share of the query that the node itself satisfies
    best_own: float = 0.0  # the best such share below it
    matching: int = 0  # how many of its children match
    children: int = 0
    total: float = 0.0  # the sum of the children's scores
    limit: float = 0.0  # the most that an aggregated result may score
    replaced: tuple[int, ...] = ()  # the results that it replaces


class Merged(msgspec.Struct, gc=False):
    """A section that answers. While a document is merged, a section further up may still replace it."""

    document: str  # the id of its document
    position: int
    score: float
    how: How
    constituents: list[Match]  # the matches in it, the best first
    is_passed_over: bool = False  # a match above better ones: no result, only a constituent of one further up
    trail: list[Step] = []  # how it came about, bottom-up


def alone(document: str, match: Match) -> Merged:
    """A match as a result by itself."""
    return Merged(document, match.position, match.score, "match", [match])


def merge_document(
    matches: Sequence[Match], outline: Outline, settings: SearchSettings, excluded: Container[int]
) -> list[Merged]:
    """The results of one document, in any order. Each node is visited once, after all nodes below it."""
    # ``excluded`` are the positions of nodes that cannot be results.
    merging = _Merging(outline, settings, excluded)
    by_position = {match.position: match for match in matches}
    positions = set(by_position).union(*[outline.ancestors(position) for position in by_position])
    below: dict[int, list[Merged]] = {}  # the results below each node, by its position
    for position in sorted(positions, reverse=True):
        match, inside = by_position.get(position), below.pop(position, None)
        if inside is not None:
            inside = merging.decide(position, match, inside)
        elif match is not None:
            inside = [alone(outline.document_id, match)]
        below.setdefault(outline.parents[position], []).extend(inside or ())
    results = [result for result in below[NO_PARENT] if not result.is_passed_over]
    for result in results:
        result.constituents.sort(key=lambda match: (-match.score, match.position))
        result.trail.sort(key=lambda step: step.rule == "apart")
    return results


class _Merging(msgspec.Struct, frozen=True):
    outline: Outline
    settings: SearchSettings
    excluded: Container[int]

    def decide(self, position: int, match: Match | None, below: list[Merged]) -> list[Merged]:
        """What answers in a node's subtree: the node instead of the results below it, or these."""
        parents, settings, own = self.outline.parents, self.settings, match.own if match else 0.0
        best_own = max([inner.own for result in below for inner in result.constituents])
        step: dict[str, Any] = {"position": position, "own": own, "best_own": best_own}
        if match and own > 0 and (settings.parent_rule == "any" or self._is_as_good(match, best_own, below)):
            step["score"] = max(match.score, *[result.score for result in below])
            return self._replacement("parent", match, below, step)
        children = [result for result in below if parents[result.position] == position]
        step |= {"matching": len(children), "children": self.outline.children[position]}
        if self._gathers(position, len(children)):
            total = sum([child.score for child in children])
            scores = [inner.score for child in children for inner in child.constituents]
            limit = settings.score_cap_multiplier * max(scores)
            others = [result.score for result in below if parents[result.position] != position]
            score = max(min(total, limit), match.score if match else 0.0, *others)
            step |= {"total": total, "limit": limit, "score": score}
            return self._replacement("aggregated", match, below, step)
        for child in children:
            child.trail.append(Step(rule="apart", **step))
        if match is None:
            return below
        answers = [result for result in below if not result.is_passed_over]
        best = max(answers, key=lambda result: (result.score, -result.position))
        best.score = max(best.score, match.score)
        best.trail.append(Step(rule="passed over", **{**step, "score": match.score}))
        return [*below, Merged(self.outline.document_id, position, match.score, "match", [match], True)]

    def _is_as_good(self, match: Match, best_own: float, below: Sequence[Merged]) -> bool:
        """Whether a node has as many of the words as the best below it, and is not too large for the answer in it."""
        # That is the only section below it that scores as much and has nearly all of the words.
        if match.own < best_own - TOLERANCE:
            return False
        tokens, times = self.outline.tokens, self.settings.parent_size
        good = [result for result in below if not result.is_passed_over and result.score >= match.score]
        enough = _NEARLY_ALL * match.own
        answers = [result for result in good if max([inner.own for inner in result.constituents]) >= enough]
        most = max(times * tokens[answers[0].position], _SMALL) if times and len(answers) == 1 else NO_LIMIT
        return tokens[match.position] <= most

    def _gathers(self, position: int, matching: int) -> bool:
        """Whether enough children match for a node to replace them; for a document all must."""
        children, settings = self.outline.children[position], self.settings
        if matching < settings.min_aggregation_matches or matching / children <= settings.aggregation_threshold:
            return False
        return position not in self.excluded and (self.outline.depths[position] > 0 or matching == children)

    def _replacement(
        self, how: Literal["parent", "aggregated"], match: Match | None, below: Sequence[Merged], step: dict[str, Any]
    ) -> list[Merged]:
        """The node as a result that replaces all results below it."""
        constituents = [inner for result in below for inner in result.constituents] + ([match] if match else [])
        trail = [earlier for result in below for earlier in result.trail if earlier.rule in ("parent", "aggregated")]
        merged = Merged(self.outline.document_id, step["position"], step["score"], how, constituents, trail=trail)
        replaced = sorted([result.position for result in below if not result.is_passed_over])
        merged.trail.append(Step(rule=how, **{**step, "replaced": tuple(replaced)}))
        return [merged]
