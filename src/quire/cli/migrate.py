"""``quire migrate``: convert chunk records of the old format, each file completely or not at all."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quire.cli import output
from quire.cli.command_options import argument, option, quire_command, refuse
from quire.cli.exit_codes import ERROR
from quire.cli.input_documents import STANDARD_INPUT, STANDARD_INPUT_NAME, Summary, read_standard_input
from quire.errors import InputError, QuireError
from quire.output import legacy
from quire.output.chunk_json import json_values
from quire.read.source import unread


@quire_command("quire migrate old.jsonl --title Guide > new.jsonl", "quire migrate old.jsonl --title Guide --json")
def command(
    *,
    files: tuple[str, ...] = argument("[FILE...]"),
    title: str | None = option("The fileTitle of records that have none."),
    as_json: bool = option("Print one JSON array instead of one record per line.", "--json"),
) -> int:
    """Prints them, one per line. FILE has one record, a list of records, or records one after the other, as in JSON
    lines. Without FILE, or for -, records are read from standard input. Records in the current format stay unchanged.
    """
    refuse(not files and output.is_terminal(sys.stdin), "name a file, or pipe records into it")
    summary = Summary()

    def converted() -> Iterator[dict[str, Any]]:
        """The records of all files; those of a file with an error are left out."""
        for file in files or (STANDARD_INPUT,):
            name = STANDARD_INPUT_NAME if file == STANDARD_INPUT else file
            try:
                rows = [(row[0], _convert(*row, name=name, title=title)) for row in _records(file, name)]
            except QuireError as error:
                summary.skip(name, error.reason)
                continue
            summary.counts.update(records=len(rows), converted=sum(old != new for old, new in rows))
            yield from (new for _, new in rows)

    (output.write_json_array if as_json else output.write_json_lines)(converted())
    summary.show(only_errors=True)
    output.note(f"{output.count_of(summary.counts['records'], 'record')}, {summary.counts['converted']:,} converted")
    return ERROR if summary.has_errors else 0


def _records(file: str, name: str) -> Iterator[tuple[Any, str]]:
    """The records of a file, each with its position in messages."""
    try:
        data = read_standard_input("records") if file == STANDARD_INPUT else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        raise unread(name, error) from error
    for line, value in json_values(data, name=name):
        if isinstance(value, list):
            yield from ((record, f"record {number}: ") for number, record in enumerate(value, start=1))
        else:
            yield value, f"line {line}: "


def _convert(record: Any, label: str, *, name: str, title: str | None) -> dict[str, Any]:
    try:
        return legacy.migrate(record, title, name=name)
    except InputError as error:
        raise InputError(name, f"{label}{error.reason}") from error
