"""``quire outline``: the heading tree of a document, with token counts and lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import click

from quire import options as run_options
from quire import pipeline, size
from quire.cli import output
from quire.cli.cut_options import errors_option, syntax_option, title_option, tokenizer_option
from quire.cli.input_documents import STANDARD_INPUT, STANDARD_INPUT_NAME, read_text, renamed
from quire.cli.shared_options import json_option, not_empty
from quire.counter import TokenCounter
from quire.index.file_records import storable
from quire.model import Document, Section, Syntax
from quire.offsets import lines_at, text_end
from quire.read.source import OnUndecodable


class Row(NamedTuple):
    """A section in the outline."""

    section: Section
    own: int
    """The tokens of its heading and own text."""
    total: int
    """The tokens of the whole section."""
    start_line: int
    end_line: int


@click.command()
@click.argument("file", metavar="FILE", callback=not_empty)
@tokenizer_option
@title_option
@syntax_option
@errors_option
@click.option("-d", "--depth", type=click.IntRange(0, 6), default=6, help="Show headings down to this depth.")
@json_option
def command(
    *,
    file: str,
    tokenizer: str | None,
    title: str | None,
    syntax: Syntax | None,
    errors: OnUndecodable,
    depth: int,
    as_json: bool,
) -> int:
    """Show a document's headings with token counts and lines.

    FILE is a file, or - for standard input. The tokens of a section include those of its children.
    """
    path = None if file == STANDARD_INPUT else Path(file)
    name = file if path else STANDARD_INPUT_NAME
    text, found = read_text(path, name, errors)
    document = pipeline.parse(text, path=path and path.name, title=title, syntax=syntax)
    counter = size.resolve(tokenizer, run_options.DEFAULT_TOKENIZER)
    rows = [row for row in _rows(document, counter) if row.section.depth <= depth]
    if as_json:
        output.write_json(_tree(document, rows))
        return 0
    bold = output.Paint(sys.stdout).title
    output.print_token_table(
        [
            output.TokenRow(label, row.total, output.lines_of(row.start_line, row.end_line), style, branch, link)
            for row, label, branch in zip(rows, _labels(document, rows), _branches(rows), strict=True)
            for style in [bold if row.section.depth < 2 else output.visible]
            for link in [file if row.section.depth == 0 else ""]
        ]
    )
    sys.stdout.flush()
    findings = (*found, *document.findings)
    output.show_findings(renamed(findings[: output.MOST_SHOWN], name), len(findings))
    return 0


def _rows(document: Document, counter: TokenCounter) -> list[Row]:
    """A row for the document and for each of its headings, in order."""
    text, sections = document.text, document.sections
    edges = [*(section.start for section in sections), len(text)]
    own = [counter.count(text[start:end]) for start, end in pairwise(edges)]
    total = own.copy()
    for section in reversed(sections):
        if section.parent is not None:
            total[section.parent] += total[section.number]
    starts = lines_at(text, edges[:-1])
    return [Row(*each) for each in zip(sections, own, total, starts, _end_lines(text, sections), strict=True)]


def node_rows(text: str, path: str, tokenizer: str) -> list[Row]:
    """The rows of a document and of its headings that have text, which are the nodes of the index."""
    rows = _rows(pipeline.parse(text, path=path), size.resolve(tokenizer, tokenizer))
    return [row for row in rows if row.section.is_node]


def _end_lines(text: str, sections: Sequence[Section]) -> list[int]:
    """The line of the last character of each section that is not a line end."""
    last = [max(section.start, text_end(text, section.start, section.end) - 1) for section in sections]
    positions = sorted(set(last))
    lines = dict(zip(positions, lines_at(text, positions), strict=True))
    return [lines[position] for position in last]


def _labels(document: Document, rows: Sequence[Row]) -> list[str]:
    """The titles; the document's row has its file name, and its title if no heading has it."""
    name = document.path or STANDARD_INPUT_NAME
    first = next((section.title for section in document.sections if section.depth == 1), None)
    has_title = document.title not in ("", Path(name).stem, first)
    return [
        f"{name} · {document.title}" if has_title else name,
        *(row.section.title or "(no title)" for row in rows[1:]),
    ]


def _branches(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of the tree before each title."""
    last_child = {row.section.parent: row.section.number for row in rows}
    below: dict[int | None, str] = {}
    for section in (row.section for row in rows):
        if section.parent is None:
            yield ""
            below[section.number] = ""
        else:
            is_last = last_child[section.parent] == section.number
            yield below[section.parent] + ("└─ " if is_last else "├─ ")
            below[section.number] = below[section.parent] + ("   " if is_last else "│  ")


def _tree(document: Document, rows: Sequence[Row]) -> dict[str, Any]:
    """The tree as nested JSON objects."""
    made: dict[int, dict[str, Any]] = {}
    for section, own, total, start_line, end_line in rows:
        made[section.number] = {
            "title": section.title,
            "depth": section.depth,
            "slug": section.slug,
            "tokens": total,
            "ownTokens": own,
            "startLine": start_line,
            "endLine": end_line,
            "children": [],
        }
        if section.parent is not None:
            made[section.parent]["children"].append(made[section.number])
    return {"path": None if document.path is None else storable(document.path), **made[0]}
