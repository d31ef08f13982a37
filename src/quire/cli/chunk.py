"""``quire chunk``: documents to chunks, as JSON lines when piped, as something to read on a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import click

from quire import wire
from quire.cli.arguments import not_empty
from quire.cli.documents import Distinct, Reading, Tally, exit_code, readings
from quire.cli.encoded import Use, chunks_of, rows_of
from quire.cli.jobs import Cut, workers_for
from quire.cli.options import cut_options, input_options, jobs_option
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
from quire.errors import InputError
from quire.model import doc_name
from quire.read.discover import Skipped
from quire.read.source import OnUndecodable
from quire.record import Chunk, Chunks
from quire.write import FileWriter, write_jsonl, write_parquet
from quire.write.names import twin_key
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
    "given_output",
    callback=not_empty,
    metavar="DIR|FILE",
    help="Write there instead of standard output; replaced whole or not at all.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="One JSON file a chunk, JSON lines, Parquet, or the compact or node records as JSON lines (nodes: with "
    "-s tree). [default: by the name of the output]",
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
    given_output: str | None,
    form: str | None,
    as_json: bool,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Cut documents into chunks.

    PATH is a file, a directory (its Markdown and .txt files, without what .gitignore and .quireignore name) or - for
    standard input. Chunks go to standard output: one JSON object a line when piped, a readable view on a terminal;
    or to OUTPUT: a .jsonl or .parquet file, or a folder with one file a chunk. In a folder, what an earlier run wrote
    for a document is replaced; the files of a document that is gone stay until you remove them.
    """
    output = None if given_output in (None, "-") else Path(given_output)
    _check(output, form, as_json=as_json, strategy=options["strategy"])
    form = form or (_format_of(output) if output is not None else None)
    tally = Tally()
    cut = Cut.of(**options)
    distinct = _distinct(options["strategy"], form)
    found = readings(paths, tally, errors=errors, follow=follow, hidden=hidden, distinct=distinct)
    if output is not None and form != "files":
        _refuse_input(output, found, tally)
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
            if output is not None and form == "files":
                _write_files(output, chunked, tally, {each.path: each.name for each in found})
            elif output is not None:
                _write_lines(output, chunked, left)
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
    if output is not None and form is None and _format_of(output) == "files" and _is_file(output):
        raise click.UsageError(
            f"-o {output} is no folder, and its name says no format; add --format jsonl, or name a folder"
        )
    if form == "nodes" and strategy != "tree":
        raise click.UsageError("--format nodes is about the heading tree; add -s tree")


def _distinct(strategy: str, form: str | None) -> Distinct:
    """By what documents must differ: names of files on any file system, ids with or without the ending of a name."""
    if form == "files":
        return Distinct("files", lambda path: twin_key(doc_name(path)))
    return Distinct("ids", str if strategy == "tree" or form == "compact" else doc_name)


def _refuse_input(output: Path, documents: Iterable[Reading], tally: Tally) -> None:
    """Refuse an output that is one of the documents, be it one that is not taken: it would be overwritten."""
    files = [str(each.found.file) if each.found else 0 for each in documents]  # 0 is standard input
    files += [each.path for each in tally.skipped if each.is_error]
    if os.path.isfile(output) and any(_is_same(output, each) for each in files):  # noqa: PTH113  Path's may fail
        raise InputError(str(output), "is one of the documents, and would be overwritten; choose another output")


def _is_same(output: Path, file: str | int) -> bool:
    try:
        return os.path.samestat(output.stat(), os.stat(file))  # noqa: PTH116  of an open file, too
    except (OSError, ValueError):  # it cannot be read, and will be named
        return False


def _is_file(output: Path) -> bool:
    """Whether there is something that is no folder: a file, a device, a pipe."""
    return os.path.exists(output) and not os.path.isdir(output)  # noqa: PTH110, PTH112  Path's may fail


def _use(form: str | None, *, as_json: bool) -> Use:
    """What becomes of chunks that are written."""
    return "records" if as_json or form == "files" else "lines"


def _format_of(output: Path) -> str:
    return {".jsonl": "jsonl", ".parquet": "parquet"}.get(output.suffix.lower(), "files")


def _write_files(output: Path, chunked: Iterable[Chunks], tally: Tally, names: Mapping[str | None, str]) -> None:
    """Write files; what is refused counts as skipped, under its name in ``names``."""
    some = _unless_empty(chunked)
    if some is None:
        return
    counts = (0, 0, 0)
    with FileWriter(output, on_wait=note) as writer:
        for chunks in some:
            if writer.add(chunks):
                counts = tally.counts
                continue
            tally.documents, tally.chunks, tally.tokens = counts
            refused = writer.written.refused[-1]
            name = names.get(chunks.document.path, refused.path)
            tally.skipped.append(Skipped(path=name, reason=refused.reason, is_error=True))


def _write_lines(output: Path, chunked: Iterable[Chunks], record: wire.Form) -> None:
    some = _unless_empty(chunked)
    if some is not None:
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
