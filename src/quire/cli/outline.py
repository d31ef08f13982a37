"""``quire outline``: the heading tree of a document, with token counts and lines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from quire import options as run_options
from quire import pipeline, size
from quire.blank import text_end
from quire.cli.arguments import not_empty
from quire.cli.documents import STANDARD_INPUT, STANDARD_INPUT_NAME, read_file, read_standard_input, renamed
from quire.cli.options import errors_option, syntax_option, title_option, tokenizer_option
from quire.cli.output import MOST_SHOWN, Paint, echo, fitted, lines_of, show_findings, write_json
from quire.cli.shown import width
from quire.counter import TokenCounter
from quire.index.file_records import storable
from quire.model import Document, Section, Syntax
from quire.offsets import lines_at
from quire.read.source import OnUndecodable

_WIDTH = 72
"""The widest that a title and the lines before it may be, in columns."""
_NO_TITLE = "(no title)"


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
@click.argument("file", metavar="FILE", callback=not_empty)
@tokenizer_option
@title_option
@syntax_option
@errors_option
@click.option("-d", "--depth", type=click.IntRange(0, 6), default=6, help="Show headings down to this depth.")
@click.option("--json", "as_json", is_flag=True, help="Print the tree as JSON, and nothing else.")
def command(
    *,
    file: str,
    tokenizer: TokenCounter | None,
    title: str | None,
    syntax: Syntax | None,
    errors: OnUndecodable,
    depth: int,
    as_json: bool,
) -> int:
    """Show a document's headings with token counts and lines.

    FILE is a file, or - for standard input. A section's tokens are those of all that belongs to it, its children too.
    """
    name = STANDARD_INPUT_NAME if file == STANDARD_INPUT else file
    text, found = read_standard_input(errors) if file == STANDARD_INPUT else read_file(Path(file), file, errors)
    path = None if file == STANDARD_INPUT else Path(file).name
    document = pipeline.parse(text, path=path, title=title, syntax=syntax)
    counter = tokenizer or size.resolve(None, run_options.DEFAULT_TOKENIZER)
    shown = [row for row in outline(document, counter) if row.section.depth <= depth]
    if as_json:
        write_json(_tree(document, shown))
    else:
        _draw(shown, _labels(document, shown))
        sys.stdout.flush()
        findings = (*found, *document.findings)
        show_findings(renamed(findings[:MOST_SHOWN], name), len(findings))
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
    last = [max(section.start, text_end(text, section.start, section.end) - 1) for section in sections]
    order = sorted(range(len(last)), key=last.__getitem__)
    lines = dict(zip(order, lines_at(text, [last[index] for index in order]), strict=True))
    return [lines[index] for index in range(len(last))]


def _labels(document: Document, rows: Sequence[Row]) -> list[str]:
    """What each row is called: the document by its file, and its title where no heading says that already."""
    name = STANDARD_INPUT_NAME if document.path is None else document.path
    headings = (section.title for section in document.sections if section.depth == 1)
    is_said = document.title in ("", Path(name).stem, next(headings, None))
    return [name if is_said else f"{name} · {document.title}", *(row.section.title or _NO_TITLE for row in rows[1:])]


def _draw(rows: Sequence[Row], labels: Sequence[str]) -> None:
    """The tree as lines, counts and lines to the right of the titles."""
    paint = Paint(sys.stdout)
    branches = _branches(rows)
    names = [fitted(label, _WIDTH - len(branch)) for branch, label in zip(branches, labels, strict=True)]
    room = min(max(len(branch) + width(name) for branch, name in zip(branches, names, strict=True)), _WIDTH)
    digits = len(f"{rows[0].total:,}")
    for row, branch, name in zip(rows, branches, names, strict=True):
        title = paint.title(name) if row.section.depth < 2 else name
        space = " " * (room - len(branch) - width(name))
        count = f"{paint.number(f'{row.total:>{digits},}')} {paint.faint('token ' if row.total == 1 else 'tokens')}"
        echo(f"{paint.faint(branch)}{title}{space}  {count}  {paint.faint(lines_of(row.start_line, row.end_line))}")


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
    return {"path": None if document.path is None else storable(document.path), **made[0]}
