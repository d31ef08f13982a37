"""A table of SQLite's FTS5 with the sections that a regular expression finds: forty lines that many programs have.

``python -m benchmarks.fts5_table build FILE FOLDER`` and ``search FILE QUERY`` are its commands; quire is not loaded.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_HEADING = re.compile(r"^(?:(```|~~~)(?s:.*?)^\1|(#{1,6})[ \t]+([^\n]*)$)", re.MULTILINE)
_FRONT = re.compile(r"---\n(?:.*\n)*?title:[ ]*(.*)\n")


def sections(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Title, start, end and text of each section of a page, the part above the first heading included."""
    marks = [(match.start(), match[3]) for match in _HEADING.finditer(text) if match[2]]
    front = _FRONT.match(text)
    starts = [(0, front[1] if front else ""), *marks]
    for (start, title), (end, _) in zip(starts, [*marks, (len(text), "")], strict=True):
        if body := text[start:end].strip():
            yield title, start, end, body


def table(file: str | Path, pages: Iterable[str]) -> sqlite3.Connection:
    """A table of FTS5 with the sections of pages, committed."""
    connection = sqlite3.connect(file)
    connection.execute("CREATE VIRTUAL TABLE s USING fts5(title, body, tokenize = 'porter unicode61')")
    rows = ((title, body) for page in pages for title, _, _, body in sections(page))
    connection.executemany("INSERT INTO s VALUES (?, ?)", rows)
    connection.commit()
    return connection


def search(connection: sqlite3.Connection, text: str, limit: int) -> list[tuple[int, str]]:
    """Number and text of the best sections; any word may match."""
    query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
    order = "SELECT rowid, body FROM s WHERE s MATCH ? ORDER BY bm25(s, 4.0, 1.0) LIMIT ?"
    return connection.execute(order, (query, limit)).fetchall() if query else []


def main(action: str, file: str, argument: str) -> None:
    """Build the table of a folder, or print the best ten sections."""
    if action == "build":
        table(file, (page.read_bytes().decode() for page in sorted(Path(argument).rglob("*.md")))).close()
    else:
        print("\n\n".join(text for _, text in search(sqlite3.connect(file), argument, 10)))


if __name__ == "__main__":
    main(*sys.argv[1:])
