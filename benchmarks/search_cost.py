"""What a build and a query cost in CPU time, beside a table of FTS5 and beside qmd without its models.

qmd is not a package of Python: ``npm install -g @tobilu/qmd``, or name the program by ``QUIRE_QMD``.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import quire
from benchmarks import fts5_table

ROOT = Path(__file__).parents[1]
QUESTIONS = 40
LIMIT = 10
ROUNDS = 3
Command = Sequence[str | Path]


class Tool(NamedTuple):
    """How a tool is called from a shell."""

    build: Command
    search: Callable[[str], Command]
    variables: Mapping[str, str]


def run() -> Iterator[str]:
    """The page as lines of Markdown."""
    data = Path(os.environ.get("QUIRE_SHARED", ROOT.parent / "shared" / "data")) / "linkqa"
    if not data.is_dir():
        yield f"Not run: no pages at {data}; set QUIRE_SHARED."
        return
    lines = (data / "k8s.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [" ".join(json.loads(line)["query"].split()) for line in lines[:: len(lines) // QUESTIONS]][:QUESTIONS]
    pages = data / "k8s"
    with tempfile.TemporaryDirectory() as folder:
        tools = _tools(Path(folder), pages)
        built = {name: spent(tool.build, tool.variables) for name, tool in tools.items()}
        asked = {name: [spent(tool.search(query), tool.variables) for query in queries] for name, tool in tools.items()}
        inside = _in_a_program(Path(folder), queries)
    count = sum(1 for _ in pages.rglob("*.md"))
    yield f"Kubernetes' documentation, {count:,} pages, {len(queries)} questions, ten results. CPU time: of all"
    yield "processes for a build and for a command, start-up included; in a program of Python the best of"
    yield f"{ROUNDS} rounds. FTS5 has sections that a regular expression finds ([fts5](fts5.md)). qmd searches whole"
    yield "pages by words (`qmd search`); what its models add must be downloaded, and was not measured. `quire search`"
    yield "looks for changed files before it answers; the others answer from what was built."
    yield ""
    yield "| | build, s | a command, ms | a query in a program, ms |"
    yield "|---|---|---|---|"
    for name in tools:
        command, query = 1000 * statistics.median(asked[name]), inside.get(name)
        shown = "–" if query is None else f"{1000 * query:.1f}"
        yield f"| {name} | {built[name]:.1f} | {command:.0f} | {shown} |"
    if len(tools) < len(("quire", "FTS5", "qmd")):
        yield from ("", "qmd is not installed here.")


def _tools(folder: Path, pages: Path) -> dict[str, Tool]:
    index, table = folder / "index", folder / "table.sqlite"
    own = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    script = (sys.executable, "-m", "benchmarks.fts5_table")
    command = (sys.executable, "-m", "quire")
    tools = {
        f"quire {quire.__version__}": Tool(
            (*command, "index", pages, "--index", index),
            lambda query: (*command, "search", query, pages, "--index", index, "-n", str(LIMIT)),
            own,
        ),
        f"FTS5, SQLite {sqlite3.sqlite_version}": Tool(
            (*script, "build", table, pages), lambda query: (*script, "search", table, query), own
        ),
    }
    qmd = os.environ.get("QUIRE_QMD") or shutil.which("qmd")
    if qmd:
        homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), str(folder))
        version = subprocess.run([qmd, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        tools[f"qmd {version}, words alone"] = Tool(
            (qmd, "collection", "add", pages, "--name", "pages"),
            lambda query: (qmd, "search", query, "-n", str(LIMIT)),
            homes,
        )
    return tools


def spent(command: Command, variables: Mapping[str, str]) -> float:
    """The CPU seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(word) for word in command], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:  # 1: nothing found
        raise RuntimeError(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _in_a_program(folder: Path, queries: Sequence[str]) -> dict[str, float]:
    """The median over the queries of the best CPU times, with an index or table that is open."""
    connection = sqlite3.connect(folder / "table.sqlite")
    with quire.Index.open(folder / "index") as index:
        works: dict[str, Callable[[str], object]] = {
            f"quire {quire.__version__}": lambda query: [hit.text for hit in index.search(query, limit=LIMIT)],
            f"FTS5, SQLite {sqlite3.sqlite_version}": lambda query: fts5_table.search(connection, query, LIMIT),
        }
        times: dict[str, list[float]] = {name: [float("inf")] * len(queries) for name in works}
        for _ in range(ROUNDS):
            for number, query in enumerate(queries):
                for name, work in works.items():
                    started = time.process_time()
                    work(query)
                    times[name][number] = min(times[name][number], time.process_time() - started)
    return {name: statistics.median(each) for name, each in times.items()}
