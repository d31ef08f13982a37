"""``quire chunk``: documents to chunks, as JSON lines when piped, as something to read on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Literal

import click
import msgspec

from quire import pipeline
from quire.cli.documents import Tally, cut_options, given, input_options, texts
from quire.cli.main import ERROR, NOTHING_FOUND
from quire.cli.output import Paint, echo, is_terminal, note
from quire.model import Chunk, Chunks, Syntax

_SHOWN_LINES = 6
_SHOWN_WIDTH = 110


@click.command()
@input_options
@cut_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, and nothing else, to standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def command(
    *,
    paths: tuple[str, ...],
    strategy: str,
    syntax: Syntax | None,
    errors: Literal["strict", "replace"],
    follow: bool,
    hidden: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Cut documents into chunks.

    PATH is a file, a directory (its .md and .txt files, without what .gitignore and .quireignore name) or - for
    standard input. Chunks go to standard output: one JSON object a line when piped, a readable view on a terminal.
    """
    tally = Tally()
    documents = texts(paths, tally, errors=errors, follow=follow, hidden=hidden)
    cut = (
        (each.findings, pipeline.chunk(each.text, strategy, path=each.path, syntax=syntax, **given(options)))
        for each in documents
    )
    write = _json_array if as_json else _readable if is_terminal(sys.stdout) else _json_lines
    write(_counted(cut, tally))
    if not quiet:
        tally.show()
    if tally.has_errors:
        return ERROR
    if not tally.documents:
        note(f"quire: no documents in {', '.join(paths)}; quire looks for Markdown and .txt files")
        return NOTHING_FOUND
    return 0


def _counted(cut: Iterator[tuple[Any, Chunks]], tally: Tally) -> Iterator[Chunk]:
    for found, chunks in cut:
        tally.documents += 1
        tally.chunks += len(chunks)
        tally.tokens += sum(chunk.token_stats.tokens for chunk in chunks)
        tally.findings += (*found, *chunks.findings)
        yield from chunks


def _json_lines(chunks: Iterator[Chunk]) -> None:
    for chunk in chunks:
        sys.stdout.buffer.write(_encode(chunk) + b"\n")


def _json_array(chunks: Iterator[Chunk]) -> None:
    out = sys.stdout.buffer
    before = b"["
    for chunk in chunks:
        out.write(before + b"\n" + _encode(chunk))
        before = b","
    out.write(b"[]\n" if before == b"[" else b"\n]\n")


def _encode(chunk: Chunk) -> bytes:
    return msgspec.json.encode(chunk.to_dict())


def _readable(chunks: Iterator[Chunk]) -> None:
    paint = Paint(sys.stdout)
    for chunk in chunks:
        place = chunk.source_position
        size = paint.number(f"{chunk.token_stats.tokens:,} tokens")
        echo(f"{paint.place(chunk.id)}  {size}  {paint.faint(f'lines {place.start_line}-{place.end_line}')}")
        echo(paint.title(chunk.breadcrumb_line))
        lines = chunk.original_text.splitlines()
        for line in lines[:_SHOWN_LINES]:
            echo(f"  {line if len(line) <= _SHOWN_WIDTH else line[: _SHOWN_WIDTH - 1] + '…'}")
        if len(lines) > _SHOWN_LINES:
            echo(paint.faint(f"  … {len(lines) - _SHOWN_LINES} more lines"))
        echo()
