"""Search in a store of sections beside the index that was copied to it: the same questions, and the CPU of a query.

``python -m benchmarks.store_search Docker 6`` asks every sixth question about Docker.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.quality import Collection, cell, read_collection
from quire.evals.link_free_index import FOLDS, build_index
from quire.evals.outcomes import Outcome, ask
from quire.search.index_api import Index
from quire.stores import NodeIndex, copy_nodes

_COLLECTIONS = ("Docker", "Kubernetes")


def run(names: Sequence[str] = _COLLECTIONS, step: int = 1) -> Iterator[str]:
    """The page as lines of Markdown, with one of ``step`` questions."""
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (data / "linkqa").is_dir():
        yield f"Not run: no link questions at {data / 'linkqa'}; set QUIRE_SHARED."
        return
    for name in names:
        yield from _measured(read_collection(data, name), step)


def _measured(collection: Collection, step: int) -> Iterator[str]:
    kinds = {kind: questions[::step] for kind, questions in collection.questions.items() if questions}
    folds = [{"links": kinds["links"][number::FOLDS]} for number in range(FOLDS)]
    folds.append({kind: questions for kind, questions in kinds.items() if kind != "links"})
    outcomes: dict[str, tuple[list[Outcome], list[Outcome]]] = {kind: ([], []) for kind in kinds}
    seconds = [0.0, 0.0]
    for fold in folds:
        documents = {"docs": collection.documents}
        with build_index(documents, {}, fold.get("links", ())) as folder, tempfile.TemporaryDirectory() as place:
            index, target = Index.open(folder), f"lancedb:{place}"
            copy_nodes(index, target)
            for number, searched in enumerate((index, NodeIndex.open(target))):
                started = time.process_time()
                for kind, questions in fold.items():
                    outcomes[kind][number].extend(ask(searched, questions))
                seconds[number] += time.process_time() - started
    searches = 2 * sum(map(len, kinds.values()))  # each question is asked with and without a budget
    yield f"## {collection.name}: {len(collection.documents):,} pages"
    yield ""
    titles = [f"{kind}, {len(questions):,}" for kind, questions in kinds.items()]
    yield "| | " + " | ".join([*titles, "CPU ms per search"]) + " |"
    yield "|---" * (len(kinds) + 2) + "|"
    for number, name in enumerate(("index", "LanceDB, difference")):
        cells = [cell(kind, outcomes[kind][0], outcomes[kind][number]) for kind in kinds]
        yield f"| {name} | " + " | ".join([*cells, f"{1000 * seconds[number] / searches:.1f}"]) + " |"
    yield ""


if __name__ == "__main__":
    for line in run([sys.argv[1]], int(sys.argv[2])):
        print(line)
