"""Further results of a document are set back, so that one page does not fill the whole answer."""

from collections import Counter
from collections.abc import Sequence

from quire.search.merge import Merged, Step

DEMOTION = 0.1  # the part of its score that a further result keeps


def limit_per_document(results: Sequence[Merged], limit: int, per_document: int) -> tuple[list[Merged], int]:
    """The best ``limit`` results after those beyond ``per_document`` of a document are demoted; and how many were."""
    ordered = sorted(results, key=_rank)
    full = per_document or len(ordered)
    seen: Counter[str] = Counter()
    for result in ordered:
        seen[result.document] += 1
        if seen[result.document] > full:
            result.score *= DEMOTION
            result.trail.append(Step(rule="set back", position=result.position, score=result.score))
    return sorted(ordered, key=_rank)[:limit], sum([count - full for count in seen.values() if count > full])


def _rank(result: Merged) -> tuple[float, str, int]:
    return -result.score, result.document, result.position
