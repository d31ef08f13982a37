"""``quire migrate``: chunk files under the names of old into today's, or back. The rules are in wire/legacy.py.

A file is migrated whole or not at all, and an input is never overwritten unless that is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from quire import wire
from quire.cli.arguments import not_empty
from quire.cli.chunk_files import ENDINGS, LINES, Content, Input, chunk_files, read
from quire.cli.commands import ERROR, NOTHING_FOUND
from quire.cli.output import Paint, count_of, note, show_findings, write_json, write_json_array, write_json_lines
from quire.cli.shown import visible
from quire.errors import InputError, QuireError
from quire.model import Finding
from quire.wire.legacy import incomplete, is_legacy, missing
from quire.write.atomic_file import explained, replacing
from quire.write.existing_files import obstacle

_INDENT = 2

Convert = Callable[[Mapping[str, Any], str], dict[str, Any]]
"""Turns one record into another; the text is what errors call it."""


@dataclass
class Outcome:
    """What became of a file."""

    file: str
    state: str
    """``migrated``, ``unchanged`` or ``failed``."""
    output: str | None = None
    """Where it was written to."""
    reason: str | None = None
    """Why it failed."""


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", callback=not_empty)
@click.option(
    "-o",
    "--output",
    metavar="DIR|FILE",
    callback=not_empty,
    help="Write the files to this folder; or one file to another, by the ending of its name.",
)
@click.option("--in-place", is_flag=True, help="Overwrite the files themselves.")
@click.option("--title", help="The fileTitle of records that have none.")
@click.option("--reverse", is_flag=True, help="Turn today's names into the old ones.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array: the records, or what became of the files.")
@click.option("-q", "--quiet", is_flag=True, help="No summary; errors only.")
def command(
    *, paths: tuple[str, ...], output: str | None, in_place: bool, title: str | None, reverse: bool, as_json: bool,
    quiet: bool,
) -> int:  # fmt: skip
    """Turn chunk files of the old format into today's.

    PATH is a file with one chunk or a list of them (.json), or with one a line (.jsonl, .ndjson), or a directory of
    such files, without what is in the folder of -o.
    Without -o or --in-place the records go to standard output. Files in today's format pass unchanged.
    """
    if output is not None and in_place:
        raise click.UsageError("-o and --in-place exclude each other; choose one")
    if reverse and title is not None:
        raise click.UsageError("--title has no meaning with --reverse; leave it out")
    run = Run(_backwards if reverse else _forwards(title))
    file = Path(output) if output is not None and _is_file_name(output) else None
    if file and not (len(paths) == 1 and _is_file_name(paths[0]) and _is_lines(Path(paths[0])) == _is_lines(file)):
        raise click.UsageError(f"-o {output} is one file, for one file of that kind; name a folder")
    inputs = chunk_files(paths, run.fail, output)
    if file:
        run.write(inputs, file.parent, file.name)
    elif output is not None or in_place:
        run.write(inputs, None if output is None else Path(output))
    if output is not None or in_place:
        if as_json:
            write_json([asdict(outcome) for outcome in run.outcomes])
    else:
        (write_json_array if as_json else write_json_lines)(run.records(inputs))
    run.show(quiet=quiet)
    if not run.outcomes:
        note(f"quire: no chunk files in {visible(', '.join(paths))}; quire looks for {', '.join(ENDINGS)}")
        return NOTHING_FOUND
    return ERROR if run.failed else 0


class Run:
    """One call of the command: files in, outcomes out."""

    def __init__(self, convert: Convert) -> None:
        self.convert = convert
        self.outcomes: list[Outcome] = []
        self.findings: list[Finding] = []

    @property
    def failed(self) -> list[Outcome]:
        """The files that could not be migrated."""
        return [outcome for outcome in self.outcomes if outcome.state == "failed"]

    def fail(self, file: str, error: QuireError) -> None:
        """Note a file that cannot be migrated; the next one follows."""
        self.outcomes.append(Outcome(file, "failed", reason=error.reason))

    def records(self, inputs: Sequence[Input]) -> Iterator[dict[str, Any]]:
        """The migrated records of all files."""
        for each in inputs:
            try:
                before = read(each.file)
                after = self._converted(each.file, before)
            except QuireError as error:
                self.fail(str(each.file), error)
            else:
                self.outcomes.append(Outcome(str(each.file), _state(before, after)))
                yield from after.records

    def write(self, inputs: Sequence[Input], folder: Path | None, name: str | None = None) -> None:
        """Write each file migrated, to ``folder`` or over itself; ``name`` is that of a single one there."""
        given = {os.path.realpath(each.file) for each in inputs}
        taken: dict[Path, Path] = {}
        for each in inputs:
            try:
                named = each._replace(name=name or each.name)
                target = each.file if folder is None else _target(named, folder, given, taken)
                self._write_one(each.file, target)
            except QuireError as error:
                self.fail(str(each.file), error)

    def _write_one(self, file: Path, target: Path) -> None:
        before = read(file)
        after = self._converted(file, before)
        state = _state(before, after)
        if target != file or state != "unchanged":
            with explained(target):
                data = file.read_bytes() if state == "unchanged" else _rendered(file, after)
                target.parent.mkdir(parents=True, exist_ok=True)
                with replacing(target) as stream:
                    stream.write(data)
        self.outcomes.append(Outcome(str(file), state, str(target)))

    def _converted(self, file: Path, content: Content) -> Content:
        made: list[dict[str, Any]] = []
        for number, (record, line) in enumerate(zip(content.records, content.places, strict=True), start=1):
            try:
                made.append(self.convert(record, str(file)))
            except InputError as error:
                place = "" if content.is_single else f"record {number}, line {line}: "
                raise InputError(str(file), f"{place}{error.reason}") from error
            self._note_guesses(file, line, record, made[-1])
        return content._replace(records=made)

    def _note_guesses(self, file: Path, line: int, record: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        guesses = [name for name in wire.guessed(record) if name in made]
        if guesses:
            message = f"{' and '.join(guesses)} could only be guessed; cut the document anew to have what they are."
            self.findings.append(Finding(code="guessed-fields", path=str(file), line=line, message=message))

    def show(self, *, quiet: bool) -> None:
        """The closing summary; only what went wrong, if ``quiet``."""
        sys.stdout.flush()
        paint = Paint(sys.stderr)
        if not quiet:
            show_findings(self.findings)
        for outcome in self.failed:
            note(f"{paint.place(outcome.file)}: {paint.plain(outcome.reason or '')} {paint.faint('[skipped]')}")
        if self.outcomes and not quiet:
            states = [outcome.state for outcome in self.outcomes]
            known = ("migrated", "unchanged", "failed")
            counts = [f"{states.count(state):,} {state}" for state in known if state in states]
            note(f"{count_of(len(states), 'file')}: {', '.join(counts)}")


def _forwards(title: str | None) -> Convert:
    return lambda record, name: wire.migrate(record, title, name=name)


def _backwards(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not is_legacy(record) and missing(record):
        raise incomplete(missing(record), name)
    return wire.legacy(record, name=name)


def _target(each: Input, folder: Path, given: set[str], taken: dict[Path, Path]) -> Path:
    """Where a file goes in ``folder``: never over an input, never over another's output, never out of the folder."""
    target = folder / each.name
    if os.path.realpath(target) in given:
        raise QuireError(f"{target} is itself to be migrated", "choose another output, or use --in-place")
    if target in taken:
        raise QuireError(f"would be written to {target}, as {taken[target]} is", "give the folder above both")
    with explained(target):
        reason = obstacle(folder, each.name.rpartition("/")[0])
        if reason or target.is_symlink():
            raise QuireError(reason or f"{target} is a symbolic link, which may lead out of {folder}; remove it")
    taken[target] = each.file
    return target


def _is_file_name(path: str) -> bool:
    """Whether a path is that of a chunk file rather than of a folder."""
    return path.lower().endswith(ENDINGS) and not os.path.isdir(path)  # noqa: PTH112  Path's may fail


def _state(before: Content, after: Content) -> str:
    return "unchanged" if before.records == after.records else "migrated"


def _is_lines(file: Path) -> bool:
    """Whether there is one record a line."""
    return file.name.lower().endswith(LINES)


def _rendered(file: Path, content: Content) -> bytes:
    if _is_lines(file):
        return b"".join(wire.to_json(record) + b"\n" for record in content.records)
    value = content.records[0] if content.is_single else content.records
    return wire.to_json(value, indent=_INDENT) + b"\n"
