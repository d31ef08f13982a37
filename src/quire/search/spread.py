"""Results of merging -> results of several documents. Pure. Before: ``counting``. After: ``phases`` takes the best.

A page about volumes may have ten sections that say *volume* and no parent that takes their place. Whoever asks wants
to see other pages, too: so the first results of a document count in full, further ones only a part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from quire.search.candidates import Candidate, Merged, Step

IN_FULL = 2
"""So many results of a document count in full."""
FURTHER = 0.1
"""What part of its score a further one keeps."""


def spread(best: Sequence[Merged | Candidate], limit: int) -> tuple[list[Merged | Candidate], int]:
    """The first ``limit`` results after further ones of a document are set back; and how many were, in all.

    ``best`` are in order, and so is what comes out.
    """
    before: Counter[str] = Counter()
    scores = [each.score * FURTHER ** _is_further(each, before) for each in best]
    order = sorted(range(len(best)), key=lambda at: (-scores[at], best[at].document, best[at].position))[:limit]
    results = [best[at] if scores[at] == best[at].score else _set_back(best[at], scores[at]) for at in order]
    return results, sum([count - IN_FULL for count in before.values() if count > IN_FULL])


def _is_further(result: Merged | Candidate, before: Counter[str]) -> bool:
    before[result.document] += 1
    return before[result.document] > IN_FULL


def _set_back(result: Merged | Candidate, score: float) -> Merged:
    """A result with a smaller score, which its trail names."""
    step = Step(rule="set back", position=result.position, score=score)
    if isinstance(result, Merged):
        return msgspec.structs.replace(result, score=score, trail=(*result.trail, step))
    return Merged(
        document=result.document,
        position=result.position,
        depth=result.depth,
        score=score,
        how="match",
        constituents=(result.position,),
        trail=(step,),
    )
