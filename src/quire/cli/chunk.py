"""``quire chunk``: documents to chunks, as JSON lines when piped, as something to read on a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click
from msgspec import Raw

from quire import wire
from quire.cli.arguments import not_empty
from quire.cli.configured import configured
from quire.cli.documents import Counted, Tally, ToRead, exit_code, to_read
from quire.cli.encoded import Documents, Made, made, records, with_own_ids
from quire.cli.jobs import Cutter, workers_for
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
from quire.read.source import OnUndecodable
from quire.record import Chunk, Chunks
from quire.write import FileWriter, json_files, jsonl, parquet
from quire.write.json_files import Encoded

FORMATS = ("files", "jsonl", "parquet", "compact", "nodes")
_RECORDS: Mapping[str, wire.Form] = MappingProxyType({"jsonl": "chunk", "compact": "compact", "nodes": "node"})
_SHOWN_LINES = 6
_SHOWN_WIDTH = 112
_LINE_END = re.compile("\r\n?|\n")
_OTHER_FORMATS = (".json", ".csv")
"""Endings of files that quire does not write."""


class _Sink(NamedTuple):
    """Where chunks go."""

    make: Callable[[Chunks], Any]
    """What is made of the chunks of a document, in the process that cuts it."""
    write: Callable[[Documents, Tally], None]
    """Writes what was made of the documents, as they come."""


@click.command()
@input_options
@cut_options
@click.option(
    "-o",
    "--output",
    "given_output",
    callback=not_empty,
    metavar="DIR|FILE",
    help="Write there instead of standard output. A file, or each document in a folder, is replaced whole or not at "
    "all.",
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
    standard input; without PATH, the trees of quire.toml are read. Chunks go to standard output: one JSON object a line
    when piped, a readable view on a terminal; or to OUTPUT: a .jsonl (.ndjson) or .parquet file, or a folder with one
    file a chunk. In a folder, what an earlier run wrote for a document is replaced; the files of a document that is
    gone stay until you remove them.
    """
    output = None if given_output in (None, "-") else given_output
    known = configured(paths)
    paths, options = known.paths, known.options(options)
    _check(output, form, as_json=as_json, strategy=options["strategy"])
    form = form or (_format_of(output) if output is not None else None)
    tally = Tally()
    cut = Cutter.of(**options)
    found = to_read(
        paths,
        tally,
        errors=errors,
        follow=follow,
        hidden=hidden,
        distinct="files" if form == "files" else "ids",
        trees=known.trees,
    )
    if output is not None and form != "files":
        _refuse_input(Path(output), found, tally)
    sink = _sink(output, form, as_json=as_json)
    with closing(made(found, cut, sink.make, tally, workers=workers_for(found, jobs))) as documents:
        is_by_files = form == "files" and options["strategy"] != "tree"  # where they do not meet, ids do not
        own = documents if is_by_files else with_own_ids(documents, tally, options["strategy"], form)
        sink.write(own, tally)
    tally.show(quiet=quiet)
    return exit_code(tally, paths)


def _check(output: str | None, form: str | None, *, as_json: bool, strategy: str) -> None:
    if output is None and form in ("files", "parquet"):
        raise click.UsageError(f"--format {form} needs an output; say where with -o")
    if form == "nodes" and strategy != "tree":
        raise click.UsageError("--format nodes is about the heading tree; add -s tree")
    if output is None:
        return
    if as_json:
        raise click.UsageError("--json prints to standard output; leave it out, or leave out -o")
    if form not in (None, "files") and _ends_as_folder(output):
        raise click.UsageError(f"-o {output} is a folder, and --format {form} one file; name a file")
    if form is None and _format_of(output) == "files" and not os.path.isdir(output):  # noqa: PTH112  Path's may fail
        if os.path.exists(output):  # noqa: PTH110  a file, a device, a pipe
            raise click.UsageError(
                f"-o {output} is no folder, and its name says no format; add --format jsonl, or name a folder"
            )
        if output.lower().endswith(_OTHER_FORMATS):
            raise click.UsageError(
                f"-o {output}: chunk files go into a folder, and one file is .jsonl or .parquet; name one of those"
            )


def _sink(output: str | None, form: str | None, *, as_json: bool) -> _Sink:
    record = _RECORDS.get(form or "jsonl", "chunk")
    if as_json:
        return _Sink(partial(records, form=record), _print_array)
    if output is None and form is None and is_terminal(sys.stdout):
        return _Sink(list, _show)
    if output is None:
        return _Sink(partial(records, form=record), _print_lines)
    if form == "files":
        return _Sink(json_files.encoded, partial(_write_files, Path(output)))
    if form == "parquet":
        parquet.check_installed()  # another process would have it for the fault of a document
        return _Sink(parquet.encoded, partial(_write_file, parquet.write_encoded, Path(output)))
    return _Sink(partial(records, form=record), partial(_write_file, jsonl.write_encoded, Path(output)))


def _refuse_input(output: Path, documents: Iterable[ToRead], tally: Tally) -> None:
    """Refuse an output that is one of the documents, be it one that is not taken: it would be overwritten."""
    files = [str(each.found.file) if each.found else 0 for each in documents]  # 0 is standard input
    files += [each.path for each in tally.skipped if each.is_error]
    if os.path.isfile(output) and any(_is_same(output, each) for each in files):  # noqa: PTH113  Path's may fail
        raise InputError(str(output), "is one of the documents, and would be overwritten", "choose another output")


def _is_same(output: Path, file: str | int) -> bool:
    try:
        return os.path.samestat(output.stat(), os.stat(file))  # noqa: PTH116  of an open file, too
    except (OSError, ValueError):  # it cannot be read, and will be named
        return False


def _ends_as_folder(output: str) -> bool:
    return output.endswith(("/", os.sep))


def _format_of(output: str) -> str:
    ending = "" if _ends_as_folder(output) else Path(output).suffix.lower()
    return {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}.get(ending, "files")


def _write_files(output: Path, documents: Iterable[Made[Encoded]], tally: Tally) -> None:
    """Write files; what is refused counts as skipped."""
    some = _unless_empty(documents)
    if some is None:
        return
    known: dict[str, tuple[str, Counted]] = {}
    with FileWriter(output, on_wait=note) as writer:
        for each in some:
            name = each.path or each.name
            known[name] = each.name, tally.last
            writer.add_encoded(each.content, name)
    for refused in writer.written.refused:
        name, counted = known[refused.path]
        tally.refuse(name, refused.reason, counted)


def _write_file(write: Callable[[Path, Iterable[Any]], None], output: Path, documents: Documents, _: Tally) -> None:
    some = _unless_empty(documents)
    if some is not None:
        write(output, (each.content for each in some))


def _print_lines(documents: Iterable[Made[Iterable[bytes]]], _: Tally) -> None:
    write_json_lines(Raw(record) for each in documents for record in each.content)


def _print_array(documents: Iterable[Made[Iterable[bytes]]], _: Tally) -> None:
    write_json_array(Raw(record) for each in documents for record in each.content)


def _unless_empty(documents: Documents) -> Iterator[Made[Any]] | None:
    """What there is to write; None if nothing could be read: then what was written before stays."""
    documents = iter(documents)
    first = next(documents, None)
    return None if first is None else chain((first,), documents)


def _show(documents: Iterable[Made[list[Chunk]]], _: Tally) -> None:
    paint = Paint(sys.stdout)
    room = terminal_width(_SHOWN_WIDTH)
    for chunk in (chunk for each in documents for chunk in each.content):
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
