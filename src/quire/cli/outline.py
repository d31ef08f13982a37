"""``quire outline``: the heading tree of a document, with token counts and lines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from quire import config, pipeline, read, size
from quire.cli.output import Paint, echo, show_findings
from quire.model import Document, Section, Syntax, TokenCounter
from quire.offsets import lines_at

_WIDTH = 72
"""The widest column of titles, in characters."""


@dataclass(frozen=True, slots=True)
class Row:
    """A section as the outline shows it."""

    section: Section
    own: int
    """Tokens of its heading and its own text."""
    total: int
    """Tokens of all that belongs to it."""
    start_line: int
    end_line: int


@click.command()
@click.argument("file", metavar="FILE")
@click.option("-t", "--tokenizer", default=config.DEFAULT_TOKENIZER, show_default=True, help="What counts the tokens.")
@click.option("--title", help="The document's title, in place of its own.")
@click.option("--syntax", type=click.Choice(["markdown", "text"]), help="Override what the file name says.")
@click.option("--errors", type=click.Choice(["strict", "replace"]), default="strict", help="What to do with bad bytes.")
@click.option("-d", "--depth", type=click.IntRange(0, 6), default=6, help="Show headings down to this depth.")
@click.option("--json", "as_json", is_flag=True, help="Print the tree as JSON, and nothing else.")
def command(
    *,
    file: str,
    tokenizer: str,
    title: str | None,
    syntax: Syntax | None,
    errors: Literal["strict", "replace"],
    depth: int,
    as_json: bool,
) -> int:
    """Show a document's headings with token counts and lines.

    FILE is a file, or - for standard input. A section's tokens are those of all that belongs to it, its children too.
    """
    if file == "-":
        text, found = read.decode(sys.stdin.buffer.read(), "<stdin>", errors)
        document = pipeline.parse(text, title=title, syntax=syntax)
    else:
        text, found = read.read_file(Path(file), file, errors)
        document = pipeline.parse(text, path=Path(file).name, title=title, syntax=syntax)
    rows = outline(document, size.resolve(tokenizer, config.DEFAULT_TOKENIZER))
    shown = [row for row in rows if row.section.depth <= depth]
    if as_json:
        echo(msgspec.json.encode(_tree(document, shown)).decode())
    else:
        _draw(shown)
        show_findings((*found, *document.findings))
    return 0


def outline(document: Document, counter: TokenCounter) -> list[Row]:
    """A row for the document and for each of its headings, in order."""
    text, sections = document.text, document.sections
    edges = [*(section.start for section in sections), len(text)]
    own = [counter.count(text[start:end]) for start, end in pairwise(edges)]
    total = own.copy()
    for section in reversed(sections):
        if section.parent is not None:
            total[section.parent] += total[section.number]
    starts = lines_at(text, edges[:-1])
    ends = _end_lines(text, sections)
    return [Row(*each) for each in zip(sections, own, total, starts, ends, strict=True)]


def _end_lines(text: str, sections: tuple[Section, ...]) -> list[int]:
    """The line of the last character of each section that is not a line end."""
    last = [
        max(section.start, section.start + len(text[section.start : section.end].rstrip()) - 1) for section in sections
    ]
    order = sorted(range(len(last)), key=last.__getitem__)
    lines = dict(zip(order, lines_at(text, [last[index] for index in order]), strict=True))
    return [lines[index] for index in range(len(last))]


def _draw(rows: Sequence[Row]) -> None:
    """The tree as lines, counts and lines to the right of the titles."""
    paint = Paint(sys.stdout)
    lead = _branches(rows)
    titles = [row.section.title or "(no title)" for row in rows]
    width = min(max(len(branch) + len(title) for branch, title in zip(lead, titles, strict=True)), _WIDTH)
    counts = [f"{row.total:,}" for row in rows]
    for row, branch, title, count in zip(rows, lead, titles, counts, strict=True):
        room = max(width - len(branch), 8)
        name = title if len(title) <= room else title[: room - 1] + "…"
        tokens = f"{count:>{max(map(len, counts))}}"
        echo(
            f"{paint.faint(branch)}{paint.title(name) if row.section.depth < 2 else name}"
            f"{' ' * (room - len(name))}  {paint.number(tokens)} {paint.faint('tokens')}  "
            f"{paint.faint(f'lines {row.start_line}-{row.end_line}')}"
        )


def _branches(rows: Sequence[Row]) -> list[str]:
    """What stands before each title: the lines of the tree."""
    level: dict[int, int] = {}
    for row in rows:
        parent = row.section.parent
        level[row.section.number] = 0 if parent is None else level[parent] + 1
    branches: list[str] = []
    open_below = [False] * 8
    for row in reversed(rows):
        depth = level[row.section.number]
        lines = ["│  " if open_below[above] else "   " for above in range(1, depth)]
        corner = "├─ " if open_below[depth] else "└─ "
        branches.append("".join(lines) + corner if depth else "")
        open_below[depth] = True
        open_below[depth + 1 :] = [False] * (len(open_below) - depth - 1)
    return branches[::-1]


def _tree(document: Document, rows: Sequence[Row]) -> dict[str, Any]:
    """The tree as nested JSON objects."""
    made: dict[int, dict[str, Any]] = {}
    for row in rows:
        section = row.section
        made[section.number] = {
            "title": section.title,
            "depth": section.depth,
            "slug": section.slug,
            "tokens": row.total,
            "ownTokens": row.own,
            "startLine": row.start_line,
            "endLine": row.end_line,
            "children": [],
        }
        if section.parent is not None:
            made[section.parent]["children"].append(made[section.number])
    return {"path": document.path, **made[0]}
