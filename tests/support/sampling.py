"""``python -m support.sampling KIND SIZE OPTIONS``: texts of the grammar as a JSON list, the same in every run."""

from __future__ import annotations

import json
import sys

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from support import grammar


def sample(strategy: SearchStrategy[str], size: int) -> list[str]:
    """So many texts. Ten at a time: beyond that Hypothesis mostly varies what it has already drawn."""
    texts: list[str] = []

    @settings(
        max_examples=10,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(text: str) -> None:
        texts.append(text)

    for number in range(size // 10):
        seed(number)(collect)()
    return texts


if __name__ == "__main__":
    kind, size, options = sys.argv[1:]
    sys.stdout.write(json.dumps(sample(getattr(grammar, kind)(**json.loads(options)), int(size))))
