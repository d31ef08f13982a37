"""How ``quire.cite`` judges quotations of documents that nobody here wrote, and how long it takes."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import quire
from benchmarks import passages
from benchmarks.passages import Case, Site, cases, is_right

_PASSAGES = 1_000
_STATUSES = ("found", "found elsewhere", "altered", "stitched", "not in the documents")


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    outcomes: Counter[tuple[str, str]] = Counter()
    wrong: Counter[str] = Counter()
    names = list(passages.SITES)
    for number, name in enumerate(names):
        count = _PASSAGES // len(names) + (number < _PASSAGES % len(names))
        for case, status, is_wrong in judged(data / passages.SITES[name], count):
            outcomes[case.change, status] += 1
            wrong[case.change] += is_wrong
    yield f"{_PASSAGES:,} passages of 5 to 60 words from {', '.join(names)}, as `quire.cite` judges them."
    yield ""
    yield f"| quotation | {' | '.join(_STATUSES)} | wrong |"
    yield "|---" * (len(_STATUSES) + 2) + "|"
    for change in (*passages.HARMLESS, *passages.FALSE, passages.STITCHED):
        counts = [f"{outcomes[change, status] or ''}" for status in _STATUSES]
        yield f"| {change} | {' | '.join(counts)} | {wrong[change]} |"
    yield ""
    yield "A true quotation is wrong if it is not found at its lines, a false one if it is found."
    yield ""
    yield "| pages | quotations, half of them false | processor seconds |"
    yield "|---|---|---|"
    for pages in (100, 200, 400, 800):
        yield f"| {pages} of Kubernetes | 10 | {_seconds(data / 'linkqa/k8s', pages):.2f} |"


def judged(folder: Path, count: int) -> Iterator[tuple[Case, str, bool]]:
    """Each quotation of a site with its status and whether that is wrong."""
    site = Site(folder)
    made = list(cases(site, count))
    quotations = [{"quote": case.quote, "source": f"site:{case.passage.path}"} for case in made]
    with tempfile.TemporaryDirectory() as temporary, quire.Index.open(Path(temporary, ".quire")) as index:
        index.update({"site": folder})
        for case, citation in zip(made, quire.cite(quotations, index), strict=True):
            right = any(is_right(site, case.passage, place.lines) for place in citation.places)
            yield case, citation.status, (citation.status == "found") != case.is_true or (case.is_true and not right)


def _seconds(folder: Path, pages: int) -> float:
    """The processor time for ten quotations of a site with so many pages."""
    with tempfile.TemporaryDirectory() as temporary:
        for file in sorted(folder.rglob("*.md"))[: pages * 2 : 2]:
            copy = Path(temporary, "docs", file.relative_to(folder))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        site, chance = Site(Path(temporary, "docs")), random.Random(2)
        chosen = list(site.passages(10, chance))
        false = [passages.other_word(passage.text, chance) or passage.text for passage in chosen[5:]]
        quotes = [passage.text for passage in chosen[:5]] + false
        named = [{"quote": quote, "source": f"docs:{each.path}"} for quote, each in zip(quotes, chosen, strict=True)]
        with quire.Index.open(Path(temporary, ".quire")) as index:
            index.update({"docs": Path(temporary, "docs")})
            started = time.process_time()
            quire.cite(named, index)
            return time.process_time() - started
