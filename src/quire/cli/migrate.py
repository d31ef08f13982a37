"""``quire migrate``: convert chunk files of the old format, or back. wire/legacy.py has the rules.

A file is converted completely or not at all. Only ``--in-place`` overwrites an input.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from quire import wire
from quire.cli.command_group import ERROR, NOTHING_FOUND
from quire.cli.output import (
    count_of,
    message,
    note,
    show_findings,
    show_problem,
    write_json,
    write_json_array,
    write_json_lines,
)
from quire.cli.shared_options import not_empty, quiet_option
from quire.errors import InputError, QuireError
from quire.model import Finding
from quire.wire.legacy import incomplete, is_current, is_legacy, missing
from quire.wire.record import parse
from quire.write.atomic import replacing
from quire.write.names import Place
from quire.write.obstacles import obstacle
from quire.write.trouble import explained

_LINES = (".jsonl", ".ndjson")
"""Endings of files with one record per line."""
_ENDINGS = (".json", *_LINES)

Convert = Callable[[Mapping[str, Any], str], dict[str, Any]]
"""Converts a record; the text names its file in errors."""


class ChunkFile(NamedTuple):
    """A file to convert."""

    file: Path
    name: str
    """Its path relative to the folder on the command line, with forward slashes."""


class Content(NamedTuple):
    """The records of a file."""

    records: list[dict[str, Any]]
    lines: list[int]
    """The line of each record; 0 in a JSON array."""
    is_single: bool
    """Whether the file is one record and not a list."""

    def label(self, index: int) -> str:
        """The position of a record for messages."""
        if self.is_single:
            return ""
        return f"line {self.lines[index]}: " if self.lines[index] else f"record {index + 1}: "


@dataclass
class Outcome:
    """The result for a file."""

    file: str
    state: str
    """``migrated``, ``unchanged`` or ``failed``."""
    output: str | None = None
    reason: str | None = None
    """Why it failed."""


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", callback=not_empty)
@click.option(
    "-o",
    "--output",
    metavar="DIR|FILE",
    callback=not_empty,
    help="Write the files to this folder; or one file to another file with the same kind of ending.",
)
@click.option("--in-place", is_flag=True, help="Overwrite the files.")
@click.option("--title", help="The fileTitle of records that have none.")
@click.option("--reverse", is_flag=True, help="Convert current files to the old format.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array: the records, or a report on the files.")
@quiet_option
def command(
    *, paths: tuple[str, ...], output: str | None, in_place: bool, title: str | None, reverse: bool, as_json: bool,
    quiet: bool,
) -> int:  # fmt: skip
    """Convert chunk files of the old format.

    PATH is a file with one chunk or a list of chunks (.json) or with one chunk per line (.jsonl, .ndjson), or a folder
    of such files; the folder of -o is not read. Without -o or --in-place the records go to standard output. Files in the
    current format stay unchanged.
    """
    if output is not None and in_place:
        raise click.UsageError("-o and --in-place exclude each other; choose one")
    if reverse and title is not None:
        raise click.UsageError("--title has no meaning with --reverse; leave it out")
    migration = Migration(_to_legacy if reverse else lambda record, name: wire.migrate(record, title, name=name))
    is_file = output is not None and _is_file_name(output)
    if (
        output
        and is_file
        and not (len(paths) == 1 and _is_file_name(paths[0]) and _has_lines(paths[0]) == _has_lines(output))
    ):
        raise click.UsageError(f"-o {output} is one file, for one file of that kind; name a folder")
    files = migration.find(paths, output)
    if output is None and not in_place:
        (write_json_array if as_json else write_json_lines)(migration.records(files))
    else:
        if output and is_file:
            files = [each._replace(name=Path(output).name) for each in files]
            output = str(Path(output).parent)
        migration.write(files, None if output is None else Path(output))
        if as_json:
            write_json([asdict(outcome) for outcome in migration.outcomes])
    migration.show(quiet=quiet)
    if not migration.outcomes:
        message(f"no chunk files in {', '.join(paths)}; quire looks for {', '.join(_ENDINGS)}")
        return NOTHING_FOUND
    return ERROR if migration.failed else 0


class Migration:
    """Converts files and collects the outcomes."""

    def __init__(self, convert: Convert) -> None:
        self.convert = convert
        self.outcomes: list[Outcome] = []
        self.findings: list[Finding] = []

    @property
    def failed(self) -> list[Outcome]:
        """The files that could not be converted."""
        return [outcome for outcome in self.outcomes if outcome.state == "failed"]

    def _fail(self, file: str | Path, error: QuireError) -> None:
        self.outcomes.append(Outcome(str(file), "failed", reason=error.reason))

    def find(self, paths: Sequence[str], output: str | None) -> list[ChunkFile]:
        """The files at ``paths``, in order, each once; a link only if its target is not among them.

        Files in the folder ``output`` are taken only if it is itself one of ``paths``.
        """
        own_output = None if output is None else os.path.realpath(output)
        files = [each for path in paths for each in self._found(path, own_output)]
        own: dict[str, ChunkFile] = {}
        for each in sorted(files, key=lambda each: os.path.islink(each.file)):  # noqa: PTH114
            own.setdefault(os.path.realpath(each.file), each)
        return [each for each in files if own[os.path.realpath(each.file)] is each]

    def _found(self, path: str, output: str | None) -> Iterator[ChunkFile]:
        if not os.path.isdir(path):  # noqa: PTH112  Path's fails if a folder cannot be entered
            yield ChunkFile(Path(path), Path(path).name)
            return

        def fail(error: OSError) -> None:
            self._fail(error.filename, QuireError(f"cannot be read: {error.strerror}", "make it readable"))

        for folder, folders, names in os.walk(path, onerror=fail):
            visited = (name for name in sorted(folders) if not name.startswith("."))
            folders[:] = [name for name in visited if os.path.realpath(Path(folder, name)) != output]
            for name in sorted(names):
                if name.lower().endswith(_ENDINGS) and not name.startswith("."):
                    file = Path(folder, name)
                    yield ChunkFile(file, file.relative_to(path).as_posix())

    def records(self, files: Sequence[ChunkFile]) -> Iterator[dict[str, Any]]:
        """The converted records of all files."""
        for each in files:
            try:
                state, after = self._converted(each.file)
            except QuireError as error:
                self._fail(each.file, error)
            else:
                self.outcomes.append(Outcome(str(each.file), state))
                yield from after.records

    def write(self, files: Sequence[ChunkFile], folder: Path | None) -> None:
        """Write each file converted, to ``folder`` or over itself."""
        inputs = {os.path.realpath(each.file) for each in files}
        taken: dict[Path, Path] = {}
        for each in files:
            try:
                target = each.file if folder is None else _target(each, folder, inputs, taken)
                state, after = self._converted(each.file)
                if target != each.file or state != "unchanged":
                    with explained(target):
                        data = each.file.read_bytes() if state == "unchanged" else _encoded(each.file, after)
                        target.parent.mkdir(parents=True, exist_ok=True)
                        with replacing(target) as stream:
                            stream.write(data)
            except QuireError as error:
                self._fail(each.file, error)
            else:
                self.outcomes.append(Outcome(str(each.file), state, str(target)))

    def _converted(self, file: Path) -> tuple[str, Content]:
        before = _read(file)
        after = before._replace(records=[self._record(file, before, index) for index in range(len(before.records))])
        return "unchanged" if before.records == after.records else "migrated", after

    def _record(self, file: Path, content: Content, index: int) -> dict[str, Any]:
        record, label = content.records[index], content.label(index)
        try:
            made = self.convert(record, str(file))
        except InputError as error:
            raise InputError(str(file), f"{label}{error.reason}") from error
        if guesses := [name for name in wire.guessed(record) if name in made]:
            text = f"{' and '.join(guesses)} could only be guessed; cut the document again for the exact values."
            line, lead = content.lines[index], "" if content.lines[index] else label
            self.findings.append(Finding(code="guessed-fields", path=str(file), line=line, message=lead + text))
        return made

    def show(self, *, quiet: bool) -> None:
        """Print findings, failed files and the totals; only failed files if ``quiet``."""
        sys.stdout.flush()
        if not quiet:
            show_findings(self.findings)
        for outcome in self.failed:
            show_problem(outcome.file, outcome.reason or "", "skipped")
        if self.outcomes and not quiet:
            states = [outcome.state for outcome in self.outcomes]
            names = [name for name in ("migrated", "unchanged", "failed") if name in states]
            counts = ", ".join(f"{states.count(name):,} {name}" for name in names)
            note(f"{count_of(len(states), 'file')}: {counts}")


def _to_legacy(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not is_current(record) and not is_legacy(record):
        raise incomplete(missing(record), name)
    return wire.legacy(record, name=name)


def _target(each: ChunkFile, folder: Path, inputs: set[str], taken: dict[Path, Path]) -> Path:
    """The output file: never an input, never another file's output, never outside the folder."""
    target = folder / each.name
    if os.path.realpath(target) in inputs:
        raise QuireError(f"{target} is itself to be migrated", "choose another output, or use --in-place")
    if target in taken:
        raise QuireError(f"would be written to {target}, as {taken[target]} is", "give the folder above both")
    with explained(target):
        reason = obstacle(folder, Place(each.name.rpartition("/")[0], ""))
        if reason or target.is_symlink():
            raise QuireError(reason or f"{target} is a symbolic link, which may lead out of {folder}; remove it")
    taken[target] = each.file
    return target


def _is_file_name(path: str) -> bool:
    return path.lower().endswith(_ENDINGS) and not os.path.isdir(path)  # noqa: PTH112  Path's may fail


def _has_lines(file: str | Path) -> bool:
    return str(file).lower().endswith(_LINES)


def _read(file: Path) -> Content:
    """The records of a file: one, a JSON array, or one per line."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(str(file), f"cannot be read: {error.strerror}", "check the path") from error
    if _has_lines(file):
        lines = [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
        values = [_value(line, file, number) for number, line in lines]
        content = Content(values, [number for number, _ in lines], is_single=False)
    elif isinstance(value := _value(data, file), list):
        content = Content(value, [0] * len(value), is_single=False)
    else:
        content = Content([value], [1], is_single=True)
    for index, record in enumerate(content.records):
        if not isinstance(record, dict):
            problem = f"{content.label(index)}is not a chunk record"
            raise InputError(str(file), problem, "a record is one JSON object")
    return content


def _value(data: bytes, file: Path, line: int | None = None) -> Any:
    """A JSON value; one that cannot be written back unchanged is refused."""
    value = parse(data, name=str(file), line=line or 1)
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError) as error:
        is_deep = isinstance(error, RecursionError)
        what = "values nested too deep" if is_deep else "a number that JSON cannot hold, NaN or above 1e308"
        raise InputError(str(file), f"{f'line {line}: ' if line else ''}holds {what}", "correct it") from error
    return value


def _encoded(file: Path, content: Content) -> bytes:
    if _has_lines(file):
        return b"".join(wire.to_json(record) + b"\n" for record in content.records)
    value = content.records[0] if content.is_single else content.records
    return wire.to_json(value, indent=2) + b"\n"
