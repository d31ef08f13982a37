"""Which nodes of a document count when its results are merged, and which stand alone beside them. Pure.

Before: ``find`` brings all that match, ``phases`` by document. ``merge`` gets those that count. After: ``answer``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from quire.index.engine.own import EQUAL
from quire.search.candidates import Candidate, Merged, Rules, Step
from quire.search.merge import within
from quire.search.settings import NEAR


def best_first(
    documents: Iterable[Sequence[Candidate]], rules: Rules
) -> tuple[list[Merged | Candidate], dict[str, int]]:
    """The results of merging each document and the candidates that stand apart from them; and how many there are.

    Those of equal score are in the order of their documents and positions.
    """
    results: list[Merged] = []
    apart: list[Candidate] = []
    matches = 0
    for inside in documents:
        counting = by_themselves(inside)
        merged = within(counting, rules)
        matches += len(counting)
        taken = {position for result in merged for position in result.constituents}
        if len(taken) < len(inside):
            members = [each for each in inside if each.position in taken]
            outside = [each for each in inside if each.position not in taken]
            merged = lifted(merged, members, outside)
            apart += left_alone(merged, members, outside)
        results += merged
    both: list[Merged | Candidate] = [*results, *apart]
    both.sort(key=lambda each: (-each.score, each.document, each.position))
    return both, {"candidates": matches, "results": len(results), "apart": len(apart)}


def by_themselves(found: Sequence[Candidate]) -> Sequence[Candidate]:
    """Those of a document that count as matches when results are merged: at least one.

    A node counts if it satisfies the query itself as well as the best of its document, or scores nearly as much as the
    best. So mentions are gathered with mentions, but an answer is not swallowed with the mentions around it, and what
    has its words only from above (headings, front matter, the path) does not count beside what says them.
    """
    if len(found) == 1:
        return found
    near = NEAR * max([each.score for each in found])
    most = max([each.own for each in found]) - EQUAL
    some = [each for each in found if each.own > 0]
    best = {each.position for each in some if each.own >= most}
    # What lies below one of the best is going to be a part of it.
    counting = [
        each
        for each in some
        if each.score >= near or each.position in best or any(above.position in best for above in each.ancestors)
    ]
    return counting or [each for each in found if each.position == 0] or found


def lifted(results: Sequence[Merged], members: Sequence[Candidate], outside: Sequence[Candidate]) -> list[Merged]:
    """The results; the best below a node that stands outside of them, and scores more, has that node's score.

    So it is with nodes that count, when results are merged: who answers in another's place stands where it would have.
    """
    nodes = {each.position: each for each in members}
    lifting = {each.position: each for each in outside}
    made = list(results)
    for index in sorted(range(len(made)), key=lambda index: (-made[index].score, made[index].position)):
        result = made[index]
        above = [each.position for each in nodes[result.constituents[0]].ancestors if each.position < result.position]
        holders = [lifting.pop(position) for position in above if position in lifting]
        higher = [each for each in holders if each.score > result.score]
        steps = [Step(rule="passed over", position=each.position, score=each.score, own=each.own) for each in higher]
        if higher:
            score = max(each.score for each in higher)
            made[index] = msgspec.structs.replace(result, score=score, trail=(*result.trail, *steps))
    return made


def left_alone(
    results: Sequence[Merged], members: Sequence[Candidate], outside: Sequence[Candidate]
) -> list[Candidate]:
    """Those outside of a document's results that say something of the query, stand in no result and hold none.

    Of two of them, one in the other, the better.
    """
    taken = {result.position for result in results}
    above = {holder.position for each in members for holder in each.ancestors}
    kept: list[Candidate] = []
    saying = [each for each in outside if each.own > 0]
    for each in sorted(saying, key=lambda each: (-each.score, each.position)):
        holders = [holder.position for holder in each.ancestors]
        if each.position not in above and taken.isdisjoint((each.position, *holders)):
            kept.append(each)
            taken.add(each.position)
            above.update(holders)
    return kept
