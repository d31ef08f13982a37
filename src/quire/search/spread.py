"""Results of merging -> results of several documents. Pure. Before: ``counting``. After: ``phases`` takes the best.

A page about volumes may have ten sections that say *volume* and no parent that takes their place. Whoever asks wants
to see other pages, too: so the first results of a document count in full, further ones only a part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from quire.search.candidates import Candidate, Merged

IN_FULL = 2
"""So many results of a document count in full."""
FURTHER = 0.1
"""What part of its score a further one keeps."""


def spread(best: Sequence[Merged | Candidate], limit: int) -> tuple[list[Merged | Candidate], int]:
    """The first ``limit`` results after further ones of a document are set back; and how many of these are among them.

    ``best`` are in order, and so is what comes out.
    """
    before: Counter[str] = Counter()
    scores = [each.score * FURTHER ** _is_further(each, before) for each in best]
    order = sorted(range(len(best)), key=lambda at: (-scores[at], best[at].document, best[at].position))[:limit]
    back = [at for at in order if scores[at] < best[at].score]
    return [_scored(best[at], scores[at]) for at in order], len(back)


def _is_further(result: Merged | Candidate, before: Counter[str]) -> bool:
    before[result.document] += 1
    return before[result.document] > IN_FULL


def _scored(result: Merged | Candidate, score: float) -> Merged | Candidate:
    return result if score == result.score else msgspec.structs.replace(result, score=score)
