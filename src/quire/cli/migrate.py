"""``quire migrate``: chunk records of the old format in, current ones out. wire/legacy.py has the rules."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from quire import wire
from quire.cli.command_group import ERROR
from quire.cli.output import count_of, note, show_findings, show_problem, write_json_array, write_json_lines
from quire.cli.shared_options import json_option, not_empty, quire_command
from quire.errors import InputError
from quire.model import Finding
from quire.read.source import unread
from quire.wire.chunk_json import parse
from quire.wire.legacy import incomplete, is_legacy, missing


@quire_command("quire migrate old.jsonl > chunks.jsonl", "quire migrate --reverse < chunks.jsonl")
@click.argument("files", nargs=-1, metavar="[FILE...]", callback=not_empty)
@click.option("--title", help="The fileTitle of records that have none.")
@click.option("--reverse", is_flag=True, help="Convert current records to the old format.")
@json_option
def command(*, files: tuple[str, ...], title: str | None, reverse: bool, as_json: bool) -> int:
    """Convert chunk records of the old format.

    FILE has one record, a list of records, or one record per line; without FILE, quire reads standard input. The
    records go to standard output, one per line. Records in the current format stay as they are. A file with a record
    that cannot be converted is left out as a whole; the exit code is then 2.
    """
    if reverse and title is not None:
        raise click.UsageError("--title has no meaning with --reverse; leave it out")
    findings: list[Finding] = []
    problems: list[InputError] = []

    def converted() -> Iterator[dict[str, Any]]:
        for file in files or ("-",):
            try:
                yield from _converted(file, title, findings, is_reverse=reverse)
            except InputError as error:
                problems.append(error)

    (write_json_array if as_json else write_json_lines)(converted())
    sys.stdout.flush()
    show_findings(findings)
    for error in problems:
        show_problem(error.path, error.reason, "skipped")
    note(f"{count_of(len(files) or 1, 'file')}, {len(problems):,} skipped")
    return ERROR if problems else 0


def _converted(file: str, title: str | None, findings: list[Finding], *, is_reverse: bool) -> list[dict[str, Any]]:
    """The records of a file in the other format; InputError if one of them has none."""
    records, guesses = [], []
    for label, record in _records(file):
        try:
            new = _reversed(record, file) if is_reverse else wire.migrate(record, title, name=file)
            json.dumps(new, allow_nan=False)  # what JSON cannot hold must not be lost
        except InputError as error:
            raise InputError(file, f"{label}: {error.reason}") from error
        except (ValueError, RecursionError) as error:
            problem = f"{label}: has NaN, a number above 1e308, or values nested too deep"
            raise InputError(file, problem, "correct it") from error
        records.append(new)
        if names := [name for name in wire.guessed(record) if name in new]:
            text = f"{label}: {' and '.join(names)} could only be guessed; cut the document again for exact values."
            guesses.append(Finding(code="guessed-fields", path=file, line=0, message=text))
    findings += guesses
    return records


def _reversed(record: Any, file: str) -> dict[str, Any]:
    absent = missing(record) if isinstance(record, dict) else ["fields"]
    if absent and not (isinstance(record, dict) and is_legacy(record)):
        raise incomplete(absent, file)
    return wire.legacy(record, name=file)


def _records(file: str) -> Iterator[tuple[str, Any]]:
    """The records of a file or of standard input, each with its name in messages."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        raise unread(file, error) from error
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    if len(lines) > 1 and _is_json(lines[0][1]):
        yield from ((f"line {number}", parse(line, name=file, line=number)) for number, line in lines)
    elif lines:
        value = parse(data, name=file)
        values = value if isinstance(value, list) else [value]
        yield from ((f"record {number}", each) for number, each in enumerate(values, start=1))


def _is_json(line: bytes) -> bool:
    try:
        parse(line)
    except InputError:
        return False
    return True
