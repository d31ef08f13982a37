"""Nodes that match -> sections that answer, bottom-up along the heading tree of each document. Pure.

``counting`` says which candidates count, and takes the results. Only the candidates and the nodes above them are looked
at. What the rules leave open is settled like this:

- A child matches if it is a candidate, in its own right or not, or gathers its children. So root is returned for its
  children only if each of them matches; the threshold must be passed there too, so that 1.0 turns gathering off.
- A candidate above better ones that nobody gathers is passed over: a result would contain them. They stay, the best of
  them scores at least as much as it does, and its trail names it: who answers in another's place stands where the other
  would have stood. If a node further up takes their place, it is a constituent like them.
- The best score, of which a gathered one is at most a multiple, is that of one candidate: gathering on several levels
  does not multiply it several times. A result never scores less than a deeper one whose place it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from quire.index.engine.own import EQUAL
from quire.index.node import NO_PARENT, parent_of
from quire.search.candidates import Candidate, Merged, Rules, Step
from quire.search.records import How


def within(candidates: Sequence[Candidate], rules: Rules) -> list[Merged]:
    """The results of one document, in no order."""
    document = candidates[0].document
    if len(candidates) == 1 and rules.least > 1:  # as in half of all documents that match
        return [_left_alone(candidates[0]).merged(document)]
    return [found.merged(document) for found in _decided_bottom_up(candidates, rules)]


class _Place(NamedTuple):
    """A candidate or a node above one."""

    position: int
    depth: int
    parent: int
    children: int


class _Found(msgspec.Struct, gc=False):
    """A result that may still give way to one further up."""

    place: _Place
    score: float
    how: How
    members: list[Candidate]
    trail: list[Step] = []
    apart: Step | None = None
    """Why its parent did not take its place."""

    @property
    def best(self) -> float:
        """The best score of a candidate in it."""
        return max([member.score for member in self.members])

    def merged(self, document: str) -> Merged:
        members = self.members
        if len(members) > 1:
            members = sorted(members, key=lambda member: (-member.score, member.position))
        return Merged(
            document=document,
            position=self.place.position,
            depth=self.place.depth,
            score=self.score,
            how=self.how,
            constituents=tuple([member.position for member in members]),
            trail=(*self.trail, self.apart) if self.apart else tuple(self.trail),
        )


class _Passed(msgspec.Struct, gc=False):
    """A candidate that better ones below it stand for, as long as nobody takes their place."""

    place: _Place
    candidate: Candidate
    step: Step
    named_by: _Found

    @property
    def score(self) -> float:
        return self.candidate.score

    best = score


class _Below(msgspec.Struct, gc=False):
    """What became of the candidates below a node."""

    found: list[_Found] = []
    passed: list[_Passed] = []
    best_own: float = 0.0

    def join(self, other: _Below) -> None:
        self.found += other.found
        self.passed += other.passed
        self.best_own = max(self.best_own, other.best_own)

    def scored(self) -> list[_Found | _Passed]:
        return [*self.found, *self.passed]


def _left_alone(candidate: Candidate) -> _Found:
    """The only candidate of its document, where one child is not enough for any parent."""
    found = _leaf(_Place(candidate.position, candidate.depth, parent_of(candidate.ancestors), 0), candidate)
    if candidate.ancestors:
        above = candidate.ancestors[-1]
        found.apart = Step(
            rule="apart", position=above.position, best_own=candidate.own, matching=1, children=above.children
        )
    return found


def _leaf(place: _Place, candidate: Candidate) -> _Found:
    return _Found(place, candidate.score, "match", [candidate])


def _decided_bottom_up(candidates: Sequence[Candidate], rules: Rules) -> list[_Found]:
    """The results of one document. Nodes come after those below them, so each is looked at once."""
    places = _places(candidates)
    own = {candidate.position: candidate for candidate in candidates}
    below: dict[int, _Below] = {NO_PARENT: _Below()}
    for position in sorted(places, reverse=True):
        place = places[position]
        if (above := below.get(place.parent)) is None:
            above = below[place.parent] = _Below()
        if inside := below.pop(position, None):
            above.join(_decided(place, own.get(position), inside, rules))
        else:
            candidate = own[position]
            above.found.append(_leaf(place, candidate))
            above.best_own = max(above.best_own, candidate.own)
    whole = below[NO_PARENT]
    for passed in whole.passed:
        passed.named_by.trail.append(passed.step)
    return whole.found


def _places(candidates: Sequence[Candidate]) -> dict[int, _Place]:
    places = {each.position: _Place(each.position, each.depth, parent_of(each.ancestors), 0) for each in candidates}
    above = {each.ancestors[-1].position: each.ancestors for each in candidates if each.ancestors}
    for ancestors in above.values():
        parent = NO_PARENT
        for node in ancestors:
            position = node.position
            places[position] = _Place(position, node.depth, parent, node.children)
            parent = position
    return places


def _decided(place: _Place, candidate: Candidate | None, below: _Below, rules: Rules) -> _Below:
    """What becomes of a node and of all below it."""
    own = candidate.own if candidate else 0.0
    best_own = max(own, below.best_own)
    if candidate and own > 0 and own >= below.best_own - EQUAL:
        return _Below([_parent(place, candidate, below)], best_own=best_own)
    children = [each for each in below.scored() if each.place.parent == place.position]
    if rules.gathers(place.depth, place.children, len(children)):
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
        best.score = max(best.score, candidate.score)
        step = msgspec.structs.replace(apart, rule="passed over", score=candidate.score)
        below.passed.append(_Passed(place, candidate, step, best))
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
