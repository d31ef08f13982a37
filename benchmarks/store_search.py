"""Search in a store of sections beside the index that was copied to it.

``python -m benchmarks.store_search Docker 6`` asks every sixth question about Docker. ``… large INDEX STORE`` asks for
texts of links what an index, and a store with a copy of it, find. ``… kill INDEX STORE`` copies the index to copies of
the store, and kills that at several moments; ``… readers INDEX STORE`` searches meanwhile.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from benchmarks.quality import Collection, cell, read_collection
from quire.evals.link_free_index import FOLDS, build_index
from quire.evals.outcomes import Outcome, ask
from quire.index.link_words import decode_links
from quire.search.index_api import Index
from quire.stores import NodeIndex, copy_nodes

_COLLECTIONS = ("Docker", "Kubernetes")
_QUESTIONS, _SEARCHES = 300, 100
_LIMITS = (50, 100, 300, 1_000)
EDITION = re.compile(r"edition number of the ledger is \d+")  # what documents that change have
_MOMENTS = (0, 1, 3, 5, 6)  # after so many commits a writer is killed


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


def large(folder: str, target: str) -> Iterator[str]:
    """How many of an index's first results are among the candidates of a store, and whole searches in both."""
    index, stored = Index.open(folder), NodeIndex.open(target)
    questions = list(_link_texts(index))
    found = [index.search(question, limit=3, every=True) for question in questions]
    wanted = [[hit.id for hit in hits] for hits in found]
    tables_of_nodes = import_module("quire.stores.lancedb").NodeTables  # needs the extra
    seconds, shares, best_nodes = list[float](), list[Any](), tables_of_nodes.best

    def recorded(tables: Any, words: Any, flags: Any, boosts: Any, condition: str, limit: int) -> Any:
        started = time.process_time()
        shares.append(best_nodes(tables, words, flags, boosts, condition, _LIMITS[-1]))
        seconds.append(1000 * (time.process_time() - started))
        return shares[-1][:limit]

    tables_of_nodes.best = recorded
    for question in questions:
        stored.search(question)
    tables_of_nodes.best = best_nodes
    yield "| candidates of the store | " + " | ".join(f"{limit:,}" for limit in _LIMITS) + " | CPU ms p50, p95 |"
    yield "|---" * (len(_LIMITS) + 2) + "|"
    rows = {"the first section": [], "its document": [], "sections of the first three": []}
    for limit in _LIMITS:
        best = [{node for node, _ in candidates[:limit]} for candidates in shares]
        documents = [{document for _, document in candidates[:limit]} for candidates in shares]
        pairs = [*zip(wanted, best, documents, strict=True)]
        rows["the first section"].append(_share([ids[0] in nodes for ids, nodes, _ in pairs]))
        rows["its document"].append(_share([ids[0].partition("#")[0] in some for ids, _, some in pairs]))
        rows["sections of the first three"].append(_share([name in nodes for ids, nodes, _ in pairs for name in ids]))
    for number, (name, cells) in enumerate(rows.items()):
        yield f"| {name} | " + " | ".join(cells) + f" | {'' if number else _percentiles(seconds)} |"
    times: tuple[list[float], list[float], list[float]] = ([], [], [])
    same = [0, 0]
    for question in questions[:_SEARCHES]:
        hits = []
        for number, searched in enumerate((index, stored)):
            started, clock = time.process_time(), time.perf_counter()
            hits.append([hit.id for hit in searched.search(question)])
            times[number].append(1000 * (time.process_time() - started))
        times[2].append(1000 * (time.perf_counter() - clock))
        same = [same[0] + (hits[0][:1] == hits[1][:1]), same[1] + (hits[0][:3] == hits[1][:3])]
    yield f"same first result {same[0]}, same first three {same[1]} of {_SEARCHES}"
    yield f"CPU ms p50, p95: index {_percentiles(times[0])}; store {_percentiles(times[1])}, ms {median(times[2]):.0f}"


def _link_texts(index: Index) -> Iterator[str]:
    """Texts of links, each of another document, drawn with a fixed seed."""
    snapshot, chosen = index._snapshot(), Random(1)  # noqa: SLF001
    names, known = sorted(snapshot.files), set[str]()
    while len(known) < _QUESTIONS:
        [record] = [*snapshot.blobs_of_documents("id", [chosen.choice(names)], decode_links)] or [None]
        texts = [link.text for link in record.links if len(link.text.split()) > 1] if record else []
        text = " ".join(chosen.choice(texts).replace('"', " ").split()) if texts else ""
        if text and text not in known and index.search(text, limit=1):
            known.add(text)
            yield text


def _share(are_found: Sequence[bool]) -> str:
    return f"{sum(are_found) / len(are_found):.3f}"


def _percentiles(values: Sequence[float]) -> str:
    return f"{median(values):.1f}, {sorted(values)[len(values) * 95 // 100]:.1f}"


def kill(folder: str, place: str) -> Iterator[str]:
    """Copy an index that has changed to copies of a store; kill each with -9 once it has written so many commits."""
    expected = ""
    for moment in (None, *_MOMENTS):
        with tempfile.TemporaryDirectory(dir=Path(place).parent) as home:
            copy = Path(home, "store")
            shutil.copytree(place, copy, copy_function=os.link)  # files of LanceDB do not change
            writer = multiprocessing.get_context("spawn").Process(target=_copy, args=(folder, f"lancedb:{copy}"))
            before = len(_commits(copy))
            writer.start()
            while moment is not None and writer.is_alive() and len(_commits(copy)) <= before + moment:
                time.sleep(0.01)
            if moment is not None:
                time.sleep(0.05)
                writer.kill()
            writer.join()
            commits, copied = len(_commits(copy)) - before, copy_nodes(Index.open(folder), f"lancedb:{copy}")
            rows = _digest(copy)
            expected = expected or rows
            yield f"killed after {commits} commits: {copied}, rows are {'equal' if rows == expected else 'DIFFERENT'}"


def _commits(place: Path) -> list[Path]:
    return [*place.glob("*/_versions/*.manifest")]


def _copy(folder: str, target: str) -> None:
    copy_nodes(Index.open(folder), target)


def _digest(place: Path) -> str:
    """A text that is equal if all rows are."""
    parts = []
    for name in ("quire__nodes", "quire__terms"):
        table = import_module("lancedb").connect(place).open_table(name)
        hashes = 0
        for batch in table.search().to_batches():
            names = [column for column in batch.schema.names if not column.startswith("_")]
            hashes ^= _xor(map(repr, zip(*[batch[column].to_pylist() for column in names], strict=True)))
        parts.append(f"{name} {table.count_rows()} {hashes:x}")
    return "; ".join(parts)


def _xor(texts: Iterator[str]) -> int:
    total = 0
    for text in texts:
        total ^= int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")
    return total


def readers(folder: str, target: str) -> Iterator[str]:
    """Two processes search without pause while an index that has changed is copied."""
    context = multiprocessing.get_context("spawn")
    is_done, counts = context.Event(), context.Queue()
    processes = [context.Process(target=_search, args=(target, is_done, counts)) for _ in range(2)]
    for process in processes:
        process.start()
    yield str(copy_nodes(Index.open(folder), target))
    is_done.set()
    yield f"searches, and answers by their editions: {[counts.get() for _ in processes]}"


def _search(target: str, is_done: Any, counts: Any) -> None:
    editions, searches = Counter[str](), 0
    with NodeIndex.open(target) as stored:
        while not is_done.is_set():
            for question in ("edition number of the ledger", "rolling update of a deployment"):
                found = stored.search(question, limit=5, max_tokens=0)
                searches += 1
                editions.update(EDITION.findall("".join(hit.text for hit in found)))
    counts.put((searches, dict(editions)))


if __name__ == "__main__":
    modes = {"large": large, "kill": kill, "readers": readers}
    name, *arguments = sys.argv[1:]
    for line in modes[name](*arguments) if name in modes else run([name], int(arguments[0])):
        print(line, flush=True)
