"""How long until a command answers, beside Python itself: whole processes, best of several."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import measure
from benchmarks.shapes import prose

ROUNDS = 15


def run() -> list[str]:
    """A table as lines of Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        page.write_text(prose(10_000), encoding="utf-8")
        commands = {
            "`python -c pass`": ["-c", "pass"],
            "`import quire`": ["-c", "import quire"],
            "`quire --version`": ["-m", "quire", "--version"],
            "`quire --help`": ["-m", "quire", "--help"],
            "`quire outline` of 10 KB, `estimate`": ["-m", "quire", "outline", str(page), "-t", "estimate"],
            "`quire outline` of 10 KB, `o200k_base`": ["-m", "quire", "outline", str(page)],
            "`quire chunk` of 10 KB, `o200k_base`": ["-m", "quire", "chunk", "-q", str(page)],
            "`quire search` in 100 pages, nothing changed": _search(Path(folder) / "docs", Path(folder) / "index"),
        }
        taken = {
            name: measure.seconds(
                lambda arguments=arguments: subprocess.run(
                    [sys.executable, *arguments], check=True, capture_output=True
                ),
                ROUNDS,
            )
            for name, arguments in commands.items()
        }
    first = next(iter(taken.values()))
    rows = [f"| {name} | {time * 1e3:.0f} | {(time - first) * 1e3:+.0f} |" for name, time in taken.items()]
    return ["| whole process | ms | beside Python |", "|---|---|---|", *rows]


def _search(docs: Path, index: Path) -> list[str]:
    """A search whose index is up to date: it has been asked once before."""
    docs.mkdir()
    for number in range(100):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\n{prose(5_000)}", encoding="utf-8")
    command = ["-m", "quire", "search", "page 17", str(docs), "--index", str(index)]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    return command
