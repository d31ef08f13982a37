"""``quire migrate``: convert chunk records of the old format, or back. wire/legacy.py has the rules.

A filter: it reads files or standard input and prints records. A file is converted completely or not at all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from quire import wire
from quire.cli import output
from quire.cli.command_group import ERROR
from quire.cli.input_documents import STANDARD_INPUT, STANDARD_INPUT_NAME
from quire.cli.shared_options import not_empty, quire_command
from quire.errors import InputError, QuireError
from quire.model import Finding
from quire.read.source import unread
from quire.wire.chunk_json import json_values
from quire.wire.legacy import incomplete, is_legacy, missing

Convert = Callable[[Mapping[str, Any], str], dict[str, Any]]
"""Converts a record; the text names its file in errors."""


@quire_command("quire migrate old.jsonl --title Guide > new.jsonl", "quire migrate new.jsonl --reverse > old.jsonl")
@click.argument("files", nargs=-1, metavar="[FILE...]", callback=not_empty)
@click.option("--title", help="The fileTitle of records that have none.")
@click.option("--reverse", is_flag=True, help="Convert current records to the old format.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array instead of one record per line.")
def command(*, files: tuple[str, ...], title: str | None, reverse: bool, as_json: bool) -> int:
    """Convert chunk records of the old format and print them, one per line.

    FILE has one record, a list of records, or records one after the other, as in JSON lines. Without FILE, or for -,
    records are read from standard input. Records in the current format stay unchanged.
    """
    if reverse and title is not None:
        raise click.UsageError("--title has no meaning with --reverse; leave it out")
    if not files and output.is_terminal(sys.stdin):
        raise click.UsageError("name a file, or pipe records into it")
    migration = Migration(_to_legacy if reverse else lambda record, name: wire.migrate(record, title, name=name))
    records = (record for file in files or (STANDARD_INPUT,) for record in migration.records(file))
    (output.write_json_array if as_json else output.write_json_lines)(records)
    return migration.show()


class Migration:
    """Converts files, counts their records and collects findings and failures."""

    def __init__(self, convert: Convert) -> None:
        self._convert = convert
        self._findings: list[Finding] = []
        self._failures: list[tuple[str, str]] = []
        self._records = self._changed = 0

    def records(self, file: str) -> list[dict[str, Any]]:
        """The converted records of a file; none after an error, which ``show`` prints."""
        name = STANDARD_INPUT_NAME if file == STANDARD_INPUT else file
        findings = len(self._findings)
        try:
            pairs = [
                (record, self._converted(record, name, line, label)) for record, line, label in _records(file, name)
            ]
        except QuireError as error:
            del self._findings[findings:]
            self._failures.append((name, error.reason))
            return []
        self._records += len(pairs)
        self._changed += sum(old != new for old, new in pairs)
        return [new for _, new in pairs]

    def _converted(self, record: Any, name: str, line: int, label: str) -> dict[str, Any]:
        if not isinstance(record, dict):
            raise InputError(name, f"{label}is not a chunk record", "a record is one JSON object")
        try:
            converted = self._convert(record, name)
        except InputError as error:
            raise InputError(name, f"{label}{error.reason}") from error
        if guesses := [field for field in wire.guessed(record) if field in converted]:
            text = f"{' and '.join(guesses)} could only be guessed; cut the document again for the exact values."
            self._findings.append(Finding(code="guessed-fields", path=name, line=line, message=text))
        return converted

    def show(self) -> int:
        """Print findings, failed files and the totals; return the exit code."""
        sys.stdout.flush()
        output.show_findings(self._findings)
        for name, reason in self._failures:
            output.show_problem(name, reason, "skipped")
        output.note(f"{output.count_of(self._records, 'record')}, {self._changed:,} converted")
        return ERROR if self._failures else 0


def _records(file: str, name: str) -> Iterator[tuple[Any, int, str]]:
    """The records of a file, each with its line and its position in messages."""
    try:
        if file == STANDARD_INPUT and sys.stdin is None:
            raise InputError(name, "is closed", "pipe records into it")
        data = sys.stdin.buffer.read() if file == STANDARD_INPUT else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        raise unread(name, error) from error
    for line, value in json_values(data, name=name):
        if isinstance(value, list):
            yield from ((record, line, f"record {number}: ") for number, record in enumerate(value, start=1))
        else:
            yield value, line, f"line {line}: "


def _to_legacy(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not is_legacy(record) and missing(record):
        raise incomplete(missing(record), name)
    return wire.legacy(record, name=name)
