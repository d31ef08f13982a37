"""``python -m benchmarks [PART…]``: run, print, and write the results down with versions."""

from __future__ import annotations

import compileall
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import quire
from benchmarks import (
    agents,
    commands,
    cost,
    fragments,
    fts5,
    gigabyte,
    growth,
    hostile,
    indexing,
    large,
    many,
    meaning,
    quality,
    questions,
    quotations,
    recall,
    run_memory,
    run_scaling,
    search_cost,
    search_speed,
    shards,
    startup,
    store_search,
    stores,
    versions,
    web,
    weights,
)
from benchmarks.peers import report

PARTS = {
    "cost": ("Cost", cost.run),
    "versions": ("Beside earlier versions", versions.run),
    "peers": ("Peers", report.run),
    "growth": ("Growth", growth.run),
    "hostile": ("Hostile documents", hostile.run),
    "many": ("Many documents", many.run),
    "indexing": ("Indexing", indexing.run),
    "quality": ("Quality of search", quality.run),
    "fts5": ("SQLite FTS5 on the same questions", fts5.run),
    "questions": ("Questions as people ask them", questions.run),
    "fragments": ("Links with a fragment", fragments.run),
    "quotations": ("Quotations", quotations.run),
    "search_cost": ("Cost of search beside FTS5 and qmd", search_cost.run),
    "search_speed": ("Speed of search", search_speed.run),
    "startup": ("Start-up", startup.run),
    "commands": ("Commands beside version 0.1.0", commands.run),
    "agents": ("Agents", agents.run),
    "web": ("The inspector", web.run),
}
LONG = {
    "gigabyte": ("A gigabyte", gigabyte.run),
    "large": ("Large collections", large.run),
    "meaning": ("Search by meaning", meaning.run),
    "store_search": ("Search in a store", store_search.run),
    "recall": ("Which chunks bring the answer", recall.run),
    "run_scaling": ("One worker and two", run_scaling.run),
    "run_memory": ("Ten gigabytes", run_memory.run),
    "shards": ("Two million documents in shards", shards.run),
    "stores": ("Vector stores", stores.run),
    "weights": ("Weights chosen on another collection", weights.run),
}
"""Run only when named."""
RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> None:
    # As pip leaves it: else every process that is measured would compile quire, where no bytecode may be written.
    compileall.compile_dir(str(Path(quire.__file__).parent), quiet=1)
    today = datetime.now(UTC).date().isoformat()
    for name in names or PARTS:
        title, run = {**PARTS, **LONG}[name]
        packages = f"quire {quire.__version__}, pyromark {version('pyromark')}, toktok-rs {version('toktok-rs')}"
        head = [f"# {title}", "", f"{today}. Python {platform.python_version()}, {packages}, {platform.machine()}.", ""]
        text = "\n".join([*head, *run(), ""])
        print(text)
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
