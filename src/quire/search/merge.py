"""Nodes that match to sections that answer, along the heading tree of each document.

``merge`` decides which nodes of a document take part, merges them, orders all results, and demotes further results of a
document. Details of merging:

- A child matches if it is a candidate or replaces its own children. The document replaces its children only if all of
  them match, and the threshold applies there too, so that 1.0 turns aggregation off.
- A candidate above better ones that nothing replaces is passed over, as its text would contain them. The best of them
  scores at least as much as it does: a replacement inherits the rank of the section it replaces. If a section further
  up replaces them, the candidate is a constituent like them.
- An aggregated score is limited by the best candidate's score, so that several levels do not multiply it. A result
  never scores less than one that it replaces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

from quire.index.engine.coverage import TOLERANCE
from quire.index.node import NO_PARENT, Ancestor, parent_of
from quire.search.hit import How
from quire.search.ranking_settings import SearchSettings

DEMOTION = 0.1  # the part of its score that a further result keeps

Rule = Literal["parent", "aggregated", "passed over", "apart", "set back"]


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A node that matches."""

    document: str  # the id of its document
    position: int  # in the document's list of nodes; 0 is the document itself
    depth: int  # 0 for the document, else the heading level
    score: float
    own: float  # the share of the query that its own title and body satisfy
    ancestors: tuple[Ancestor, ...] = ()  # from the document to the parent


class Step(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one rule did at one node, for ``--explain``.

    ``parent``: it matches in its own right; ``aggregated``: enough children match; ``passed over``: a
    candidate that better ones below it stand for; ``apart``: too few children of the result's parent match; ``set
    back``: a further result of its document.
    """

    rule: Rule
    position: int
    score: float = 0.0  # of the result; for ``passed over`` the candidate's own, which the result has at least
    own: float = 0.0  # the share of the query that the node itself satisfies
    best_own: float = 0.0  # the best such share below it
    matching: int = 0  # how many of its children match
    children: int = 0
    total: float = 0.0  # the sum of the children's scores
    limit: float = 0.0  # the most that an aggregated result may score
    replaced: tuple[int, ...] = ()  # the results that it replaces


class Merged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A section that answers."""

    document: str  # the id of its document
    position: int
    depth: int
    score: float
    how: How
    constituents: tuple[int, ...]  # the candidates in it, the best first
    trail: tuple[Step, ...] = ()  # bottom-up


def merge_documents(
    documents: Iterable[Sequence[Candidate]], settings: SearchSettings
) -> tuple[list[Merged], dict[str, int]]:
    """All results, the best first, and how many there are; equal scores by document and position."""
    results: list[Merged] = []
    matches = 0
    for inside in documents:
        results += merge_document(inside, settings)
        matches += len(inside)
    results.sort(key=lambda each: (-each.score, each.document, each.position))
    return results, {"candidates": matches, "results": len(results)}


def limit_per_document(best: Sequence[Merged], limit: int, per_document: int) -> tuple[list[Merged], int]:
    """The first ``limit`` results after those beyond ``per_document`` of a document are demoted; and how many were.

    Without this, one page with ten matching sections could fill the whole answer. 0 demotes none.
    """
    full = per_document or len(best)
    seen: Counter[str] = Counter()
    scores: list[float] = []
    for each in best:
        seen[each.document] += 1
        scores.append(each.score * DEMOTION ** (seen[each.document] > full))
    order = sorted(range(len(best)), key=lambda at: (-scores[at], best[at].document, best[at].position))[:limit]
    results = [best[at] if scores[at] == best[at].score else _demoted(best[at], scores[at]) for at in order]
    return results, sum([count - full for count in seen.values() if count > full])


def _demoted(result: Merged, score: float) -> Merged:
    step = Step(rule="set back", position=result.position, score=score)
    return msgspec.structs.replace(result, score=score, trail=(*result.trail, step))


def merge_document(candidates: Sequence[Candidate], settings: SearchSettings) -> list[Merged]:
    """The results of one document, in any order."""
    document = candidates[0].document
    if len(candidates) == 1 and settings.min_aggregation_matches > 1:  # as in half of all documents that match
        return [_single(candidates[0]).merged(document)]
    return [found.merged(document) for found in _merge_bottom_up(candidates, settings)]


class _TreeNode(NamedTuple):
    """A candidate or a node above one."""

    position: int
    depth: int
    parent: int
    children: int


class _Result(msgspec.Struct, gc=False):
    """A result that a section further up may still replace."""

    node: _TreeNode
    score: float
    how: How
    members: list[Candidate]
    trail: list[Step] = []
    apart: Step | None = None  # why its parent does not replace it

    @property
    def best(self) -> float:
        """The best score of its candidates."""
        return max([member.score for member in self.members])

    def merged(self, document: str) -> Merged:
        members = self.members
        if len(members) > 1:
            members = sorted(members, key=lambda member: (-member.score, member.position))
        return Merged(
            document=document,
            position=self.node.position,
            depth=self.node.depth,
            score=self.score,
            how=self.how,
            constituents=tuple([member.position for member in members]),
            trail=(*self.trail, self.apart) if self.apart else tuple(self.trail),
        )


class _Passed(msgspec.Struct, gc=False):
    """A candidate above better ones; it is a constituent if a section further up replaces them."""

    node: _TreeNode
    candidate: Candidate
    step: Step
    reported_by: _Result

    @property
    def score(self) -> float:
        return self.candidate.score

    best = score


class _Below(msgspec.Struct, gc=False):
    """The results below a node."""

    found: list[_Result] = []
    passed: list[_Passed] = []
    best_own: float = 0.0

    def join(self, other: _Below) -> None:
        self.found += other.found
        self.passed += other.passed
        self.best_own = max(self.best_own, other.best_own)

    def scored(self) -> list[_Result | _Passed]:
        return [*self.found, *self.passed]


def _single(candidate: Candidate) -> _Result:
    """The only candidate of its document, if one child is not enough to replace it."""
    found = _leaf(_TreeNode(candidate.position, candidate.depth, parent_of(candidate.ancestors), 0), candidate)
    if candidate.ancestors:
        above = candidate.ancestors[-1]
        found.apart = Step(
            rule="apart", position=above.position, best_own=candidate.own, matching=1, children=above.children
        )
    return found


def _leaf(node: _TreeNode, candidate: Candidate) -> _Result:
    return _Result(node, candidate.score, "match", [candidate])


def _merge_bottom_up(candidates: Sequence[Candidate], settings: SearchSettings) -> list[_Result]:
    """The results of one document. Each node is visited once, after all nodes below it."""
    tree_nodes = _tree_nodes(candidates)
    own = {candidate.position: candidate for candidate in candidates}
    below: dict[int, _Below] = {NO_PARENT: _Below()}
    for position in sorted(tree_nodes, reverse=True):
        node = tree_nodes[position]
        if (above := below.get(node.parent)) is None:
            above = below[node.parent] = _Below()
        if inside := below.pop(position, None):
            above.join(_decide(node, own.get(position), inside, settings))
        else:
            candidate = own[position]
            above.found.append(_leaf(node, candidate))
            above.best_own = max(above.best_own, candidate.own)
    whole = below[NO_PARENT]
    for passed in whole.passed:
        passed.reported_by.trail.append(passed.step)
    return whole.found


def _tree_nodes(candidates: Sequence[Candidate]) -> dict[int, _TreeNode]:
    tree_nodes = {
        each.position: _TreeNode(each.position, each.depth, parent_of(each.ancestors), 0) for each in candidates
    }
    above = {each.ancestors[-1].position: each.ancestors for each in candidates if each.ancestors}
    for ancestors in above.values():
        parent = NO_PARENT
        for above_node in ancestors:
            position = above_node.position
            tree_nodes[position] = _TreeNode(position, above_node.depth, parent, above_node.children)
            parent = position
    return tree_nodes


def _decide(node: _TreeNode, candidate: Candidate | None, below: _Below, settings: SearchSettings) -> _Below:
    """Decide whether a node replaces the results below it."""
    own = candidate.own if candidate else 0.0
    best_own = max(own, below.best_own)
    if candidate and own > 0 and (settings.parent_rule == "any" or own >= below.best_own - TOLERANCE):
        return _Below([_parent(node, candidate, below)], best_own=best_own)
    children = [each for each in below.scored() if each.node.parent == node.position]
    if _gathers(node, len(children), settings):
        cap = settings.score_cap_multiplier
        return _Below([_aggregated(node, candidate, below, children, cap)], best_own=best_own)
    apart = Step(
        rule="apart",
        position=node.position,
        own=own,
        best_own=below.best_own,
        matching=len(children),
        children=node.children,
    )
    for each in children:
        if isinstance(each, _Result):
            each.apart = apart
    if candidate:
        best = max(below.found, key=lambda found: (found.score, -found.node.position))
        best.score = max(best.score, candidate.score)
        step = msgspec.structs.replace(apart, rule="passed over", score=candidate.score)
        below.passed.append(_Passed(node, candidate, step, best))
    return _Below(below.found, below.passed, best_own)


def _gathers(node: _TreeNode, matching: int, settings: SearchSettings) -> bool:
    """Whether enough children match for a node to replace them; for a document all must."""
    enough = matching >= settings.min_aggregation_matches and matching / node.children > settings.aggregation_threshold
    return enough and (node.depth > 0 or matching == node.children)


def _parent(node: _TreeNode, candidate: Candidate, below: _Below) -> _Result:
    """The node replaces all results below it, because it matches in its own right."""
    step = Step(
        rule="parent",
        position=node.position,
        score=max(candidate.score, *(each.score for each in below.scored())),
        own=candidate.own,
        best_own=below.best_own,
        replaced=_positions(below),
    )
    return _Result(node, step.score, "parent", *_replace_all(candidate, below, step))


def _aggregated(
    node: _TreeNode, candidate: Candidate | None, below: _Below, children: Sequence[_Result | _Passed], cap: float
) -> _Result:
    """The node replaces all results below it, because enough of its children match."""
    total = sum(child.score for child in children)
    limit = cap * max(child.best for child in children)
    others = [each.score for each in below.scored() if each.node.parent != node.position]
    step = Step(
        rule="aggregated",
        position=node.position,
        score=max(min(total, limit), candidate.score if candidate else 0.0, *others),
        own=candidate.own if candidate else 0.0,
        best_own=below.best_own,
        matching=len(children),
        children=node.children,
        total=total,
        limit=limit,
        replaced=_positions(below),
    )
    return _Result(node, step.score, "aggregated", *_replace_all(candidate, below, step))


def _replace_all(candidate: Candidate | None, below: _Below, step: Step) -> tuple[list[Candidate], list[Step]]:
    """The constituents and the trail of a node that replaces all results below it."""
    members = [member for found in below.found for member in found.members]
    members += [passed.candidate for passed in below.passed]
    trail = [earlier for found in below.found for earlier in found.trail]
    return [*members, candidate] if candidate else members, [*trail, step]


def _positions(below: _Below) -> tuple[int, ...]:
    return tuple(sorted(found.node.position for found in below.found))
