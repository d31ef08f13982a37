"""``quire chunk``: documents to chunks, as JSON lines when piped, as something to read on a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar
from unicodedata import normalize

import click

from quire import wire
from quire.cli.documents import OnUndecodable, Tally, exit_code, readings
from quire.cli.encoded import Use, chunks_of, rows_of
from quire.cli.jobs import Cut, jobs_option, workers_for
from quire.cli.options import cut_options, input_options
from quire.cli.output import (
    Paint,
    count_of,
    echo,
    is_terminal,
    lines_of,
    note,
    terminal_width,
    write_json_array,
    write_json_lines,
)
from quire.cli.shown import clip, visible
from quire.model import doc_name
from quire.read.discover import Skipped
from quire.record import Chunk, Chunks
from quire.write import write_files, write_jsonl, write_parquet
from quire.write.parquet import Rows

Made = TypeVar("Made")

FORMATS = ("files", "jsonl", "parquet", "compact", "nodes")
_RECORDS: Mapping[str, wire.Form] = MappingProxyType({"jsonl": "chunk", "compact": "compact", "nodes": "node"})
_SHOWN_LINES = 6
_SHOWN_WIDTH = 112
_LINE_END = re.compile("\r\n?|\n")


@click.command()
@input_options
@cut_options
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR|FILE",
    help="Write there instead of standard output; replaced whole or not at all.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="One JSON file a chunk, JSON lines, Parquet, or the compact or node records as JSON lines. "
    "[default: by the name of the output]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, and nothing else, to standard output.")
@jobs_option
@click.option("-q", "--quiet", is_flag=True, help="No summary; errors only.")
def command(
    *,
    paths: tuple[str, ...],
    errors: OnUndecodable,
    follow: bool,
    hidden: bool,
    output: Path | None,
    form: str | None,
    as_json: bool,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Cut documents into chunks.

    PATH is a file, a directory (its Markdown and .txt files, without what .gitignore and .quireignore name) or - for
    standard input. Chunks go to standard output: one JSON object a line when piped, a readable view on a terminal;
    or to OUTPUT: a .jsonl or .parquet file, or a folder with one file a chunk.
    """
    output = None if output == Path("-") else output
    _check(output, form, as_json=as_json, strategy=options["strategy"])
    form = form or (_format_of(output) if output is not None else None)
    tally = Tally()
    cut = Cut.of(**options)
    names = _names(options["strategy"], form)
    found = readings(paths, tally, errors=errors, follow=follow, hidden=hidden, distinct=names)
    is_view = output is None and form is None and not as_json and is_terminal(sys.stdout)
    record = _RECORDS.get(form or "jsonl", "chunk")
    workers = workers_for(found, jobs)
    use = "whole" if is_view else _use(form, as_json=as_json)
    if output is not None and form == "parquet":
        with closing(rows_of(found, cut, tally, workers=workers)) as rows:
            _write_table(output, rows)
    else:
        with closing(chunks_of(found, cut, tally, workers=workers, form=record, use=use)) as chunked:
            left = record if workers == 1 else "chunk"  # several processes send records that have their form
            if output is not None:
                _write(output, form or "files", left, chunked, tally)
            elif is_view:
                _show(chunk for chunks in chunked for chunk in chunks)
            else:
                records = (each for chunks in chunked for each in wire.records(chunks, left))
                (write_json_array if as_json else write_json_lines)(records)
    tally.show(quiet=quiet)
    return exit_code(tally, paths)


def _check(output: Path | None, form: str | None, *, as_json: bool, strategy: str) -> None:
    if output is None and form in ("files", "parquet"):
        raise click.UsageError(f"--format {form} needs an output; say where with -o")
    if output is not None and as_json:
        raise click.UsageError("--json prints to standard output; leave it out, or leave out -o")
    if form == "nodes" and strategy != "tree":
        raise click.UsageError("--format nodes is about the heading tree; add -s tree")


def _names(strategy: str, form: str | None) -> Callable[[str], str]:
    """By what documents must differ: files on any file system, ids of chunks, or ids of nodes."""
    if form == "files":
        return lambda path: normalize("NFC", doc_name(path)).casefold()
    return str if strategy == "tree" else doc_name


def _use(form: str | None, *, as_json: bool) -> Use:
    """What becomes of chunks that are written."""
    return "records" if as_json or form == "files" else "lines"


def _format_of(output: Path) -> str:
    return {".jsonl": "jsonl", ".parquet": "parquet"}.get(output.suffix.lower(), "files")


def _write(output: Path, form: str, record: wire.Form, chunked: Iterable[Chunks], tally: Tally) -> None:
    some = _unless_empty(chunked)
    if some is None:
        return
    if form == "files":
        written = write_files(output, some, on_wait=note)
        tally.skipped += [
            Skipped(path=refused.path, reason=refused.reason, is_error=True) for refused in written.refused
        ]
    else:
        write_jsonl(output, some, form=record)


def _write_table(output: Path, rows: Iterable[Chunks | Rows]) -> None:
    some = _unless_empty(rows)
    if some is not None:
        write_parquet(output, some)


def _unless_empty(made: Iterable[Made]) -> Iterator[Made] | None:
    """What there is to write; None if nothing could be read: then what was written before stays."""
    made = iter(made)
    first = next(made, None)
    return None if first is None else chain((first,), made)


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
