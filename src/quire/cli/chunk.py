"""``quire chunk``: documents to chunks, as JSON lines when piped, as something to read on a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

import click

from quire.cli.documents import OnUndecodable, Tally, cut_all, cut_options, cutter, exit_code, input_options, texts
from quire.cli.output import (
    Paint,
    count_of,
    echo,
    is_terminal,
    lines_of,
    terminal_width,
    write_json_array,
    write_json_lines,
)
from quire.cli.shown import clip, visible
from quire.model import Chunk

_SHOWN_LINES = 6
_SHOWN_WIDTH = 112
_LINE_END = re.compile("\r\n?|\n")


@click.command()
@input_options
@cut_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, and nothing else, to standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No summary; errors only.")
def command(
    *,
    paths: tuple[str, ...],
    errors: OnUndecodable,
    follow: bool,
    hidden: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Cut documents into chunks.

    PATH is a file, a directory (its Markdown and .txt files, without what .gitignore and .quireignore name) or - for
    standard input. Chunks go to standard output: one JSON object a line when piped, a readable view on a terminal.
    """
    tally = Tally()
    cut = cutter(**options)
    documents = texts(paths, tally, errors=errors, follow=follow, hidden=hidden, distinct=True)
    chunks = (chunk for _, chunks in cut_all(documents, cut, tally) for chunk in chunks)
    if as_json:
        write_json_array(chunk.to_dict() for chunk in chunks)
    elif is_terminal(sys.stdout):
        _show(chunks)
    else:
        write_json_lines(chunk.to_dict() for chunk in chunks)
    tally.show(quiet=quiet)
    return exit_code(tally, paths)


def _show(chunks: Iterable[Chunk]) -> None:
    paint = Paint(sys.stdout)
    room = terminal_width(_SHOWN_WIDTH)
    for chunk in chunks:
        place = chunk.source_position
        size = paint.number(count_of(chunk.token_stats.tokens, "token"))
        echo(f"{paint.place(chunk.id)}  {size}  {paint.faint(lines_of(place.start_line, place.end_line))}")
        echo(paint.title(chunk.breadcrumb_line))
        *lines, rest = _LINE_END.split(chunk.original_text, _SHOWN_LINES)
        for line in [*lines, rest] if len(lines) < _SHOWN_LINES else lines:
            echo(f"  {clip(visible(line[: 4 * room]), room - 2)}")
        if len(lines) == _SHOWN_LINES:
            more = len(_LINE_END.findall(rest)) + 1
            echo(paint.faint(f"  … {count_of(more, 'more line')}"))
        echo()
