"""Nodes that match -> sections that answer, bottom-up along the heading tree of each document. Pure.

``engine`` brings the candidates with their scores; ``context`` chooses what text of the results is shown. Only the
candidates and the nodes above them are looked at. What the rules leave open is settled like this:

- A child matches if it is a candidate, in its own right or not, or gathers its children. So root is returned for its
  children only if each of them matches; the threshold must be passed there too, so that 1.0 turns gathering off.
- A candidate above better ones that nobody gathers is passed over: a result would contain them. They stay, the trail
  of the best of them names it. If a node further up takes their place, it is a constituent like them.
- The best score, of which a gathered one is at most a multiple, is that of one candidate: gathering on several levels
  does not multiply it several times. A result never scores less than a deeper one whose place it takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from quire.index.node import Ancestor
from quire.search.records import How

Rule = Literal["parent", "aggregated", "passed over", "apart"]

_EQUAL = 1e-9
"""Shares of a query are sums of weights: equal ones may differ in their last digits."""

_NONE = -1
"""The parent of a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A node that matches. No two are the same node."""

    document: str
    """The id of its document."""
    position: int
    """Its place among the nodes of the document; 0 is the document itself."""
    depth: int
    """0 for the document, else the heading's level."""
    score: float
    """How well it matches by itself."""
    own: float
    """The share of the query, 0 to 1, that its own title and body satisfy."""
    ancestors: tuple[Ancestor, ...] = ()
    """From the document down to its parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one rule did at one node, with the numbers that decided."""

    rule: Rule
    """``parent``: matches in its own right; ``aggregated``: enough children match; ``passed over``: a candidate that
    the better ones below it stand for; ``apart``: the result's parent, of which too few children match."""
    position: int
    """The node."""
    score: float = 0.0
    """What the result scores; of a candidate that is passed over, its own score."""
    own: float = 0.0
    """The share of the query that the node itself satisfies."""
    best_own: float = 0.0
    """The best such share of the candidates below it."""
    matching: int = 0
    """How many of its children match."""
    children: int = 0
    """How many children it has."""
    total: float = 0.0
    """The sum of the children's scores."""
    limit: float = 0.0
    """The most that gathering them may score."""
    replaced: tuple[int, ...] = ()
    """The results whose place it takes, in document order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A section that answers."""

    document: str
    """The id of its document."""
    position: int
    """Its place among the nodes of the document."""
    depth: int
    """0 for the document, else the heading's level."""
    score: float
    """By itself or after merging."""
    how: How
    """Whether it is a candidate as it came, takes the place of those below it, or gathers its children."""
    constituents: tuple[int, ...]
    """The candidates in it, the best first; itself among them if it is one."""
    trail: tuple[Step, ...] = ()
    """How it came about, bottom-up."""


def merge(candidates: Iterable[Candidate], *, threshold: float = 0.5, least: int = 2, cap: float = 2.0) -> list[Merged]:
    """The results, the best first; those of equal score by document and position.

    A node gathers its children where more than ``threshold`` of them match, and at least ``least``; the sum of their
    scores is then at most ``cap`` times the best.
    """
    rules = _Rules(threshold, least, cap)
    documents: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        documents[candidate.document].append(candidate)
    results = (each.merged(document) for document, inside in documents.items() for each in _within(inside, rules))
    return sorted(results, key=lambda result: (-result.score, result.document, result.position))


@dataclass(frozen=True, slots=True)
class _Rules:
    threshold: float
    least: int
    cap: float

    def gathers(self, place: _Place, matching: int) -> bool:
        """Whether so many matching children are enough."""
        enough = matching >= self.least and matching / place.children > self.threshold
        return enough and (place.depth > 0 or matching == place.children)


class _Place(NamedTuple):
    """A candidate or a node above one."""

    position: int
    depth: int
    parent: int
    children: int


@dataclass(slots=True)
class _Found:
    """A result that may still give way to one further up."""

    place: _Place
    score: float
    how: How
    members: list[Candidate]
    trail: list[Step] = field(default_factory=list)
    apart: Step | None = None
    """Why its parent did not take its place."""

    @property
    def best(self) -> float:
        """The best score of a candidate in it."""
        return max(member.score for member in self.members)

    def merged(self, document: str) -> Merged:
        best_first = sorted(self.members, key=lambda member: (-member.score, member.position))
        return Merged(
            document=document,
            position=self.place.position,
            depth=self.place.depth,
            score=self.score,
            how=self.how,
            constituents=tuple(member.position for member in best_first),
            trail=(*self.trail, self.apart) if self.apart else tuple(self.trail),
        )


@dataclass(slots=True)
class _Passed:
    """A candidate that better ones below it stand for, as long as nobody takes their place."""

    place: _Place
    candidate: Candidate
    step: Step
    named_by: _Found

    @property
    def score(self) -> float:
        return self.candidate.score

    best = score


@dataclass(slots=True)
class _Below:
    """What became of the candidates below a node."""

    found: list[_Found] = field(default_factory=list)
    passed: list[_Passed] = field(default_factory=list)
    best_own: float = 0.0

    def join(self, other: _Below) -> None:
        self.found += other.found
        self.passed += other.passed
        self.best_own = max(self.best_own, other.best_own)

    def scored(self) -> list[_Found | _Passed]:
        return [*self.found, *self.passed]


def _within(candidates: Sequence[Candidate], rules: _Rules) -> list[_Found]:
    """The results of one document. Nodes come after those below them, so each is looked at once."""
    places = _places(candidates)
    own = {candidate.position: candidate for candidate in candidates}
    below: defaultdict[int, _Below] = defaultdict(_Below)
    for position in sorted(places, reverse=True):
        place = places[position]
        below[place.parent].join(_decided(place, own.get(position), below.pop(position, _Below()), rules))
    whole = below[_NONE]
    for passed in whole.passed:
        passed.named_by.trail.append(passed.step)
    return whole.found


def _places(candidates: Sequence[Candidate]) -> dict[int, _Place]:
    places = {each.position: _Place(each.position, each.depth, _parent_of(each.ancestors), 0) for each in candidates}
    above = {each.ancestors[-1].position: each.ancestors for each in candidates if each.ancestors}
    for ancestors in above.values():
        for number, node in enumerate(ancestors):
            parent = _parent_of(ancestors[:number])
            places[node.position] = _Place(node.position, node.depth, parent, node.children)
    return places


def _parent_of(ancestors: Sequence[Ancestor]) -> int:
    return ancestors[-1].position if ancestors else _NONE


def _decided(place: _Place, candidate: Candidate | None, below: _Below, rules: _Rules) -> _Below:
    """What becomes of a node and of all below it."""
    own = candidate.own if candidate else 0.0
    best_own = max(own, below.best_own)
    if candidate and not below.found:
        return _Below([_Found(place, candidate.score, "match", [candidate])], best_own=best_own)
    if candidate and own > 0 and own >= below.best_own - _EQUAL:
        return _Below([_parent(place, candidate, below)], best_own=best_own)
    children = [each for each in below.scored() if each.place.parent == place.position]
    if rules.gathers(place, len(children)):
        return _Below([_gathered(place, candidate, below, children, rules.cap)], best_own=best_own)
    apart = Step(
        rule="apart",
        position=place.position,
        own=own,
        best_own=below.best_own,
        matching=len(children),
        children=place.children,
    )
    for each in children:
        if isinstance(each, _Found):
            each.apart = apart
    if candidate:
        best = max(below.found, key=lambda found: (found.score, -found.place.position))
        below.passed.append(_Passed(place, candidate, replace(apart, rule="passed over", score=candidate.score), best))
    return _Below(below.found, below.passed, best_own)


def _parent(place: _Place, candidate: Candidate, below: _Below) -> _Found:
    """The node in the place of all below it, because it matches as well as they do."""
    step = Step(
        rule="parent",
        position=place.position,
        score=max(candidate.score, *(each.score for each in below.scored())),
        own=candidate.own,
        best_own=below.best_own,
        replaced=_positions(below),
    )
    return _Found(place, step.score, "parent", *_taken(candidate, below, step))


def _gathered(
    place: _Place, candidate: Candidate | None, below: _Below, children: Sequence[_Found | _Passed], cap: float
) -> _Found:
    """The node in the place of all below it, because enough of its children match."""
    total = sum(child.score for child in children)
    limit = cap * max(child.best for child in children)
    others = [each.score for each in below.scored() if each.place.parent != place.position]
    step = Step(
        rule="aggregated",
        position=place.position,
        score=max(min(total, limit), candidate.score if candidate else 0.0, *others),
        own=candidate.own if candidate else 0.0,
        best_own=below.best_own,
        matching=len(children),
        children=place.children,
        total=total,
        limit=limit,
        replaced=_positions(below),
    )
    return _Found(place, step.score, "aggregated", *_taken(candidate, below, step))


def _taken(candidate: Candidate | None, below: _Below, step: Step) -> tuple[list[Candidate], list[Step]]:
    """The constituents and the trail of a node that takes the place of all below it."""
    members = [member for found in below.found for member in found.members]
    members += [passed.candidate for passed in below.passed]
    trail = [earlier for found in below.found for earlier in found.trail]
    return [*members, candidate] if candidate else members, [*trail, step]


def _positions(below: _Below) -> tuple[int, ...]:
    return tuple(sorted(found.place.position for found in below.found))
