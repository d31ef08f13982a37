"""``quire migrate``: convert chunk files of the old format, or back. wire/legacy.py has the rules.

A file is converted completely or not at all. Only ``--in-place`` overwrites an input.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import click

from quire import wire
from quire.cli import output as out
from quire.cli.command_group import ERROR, NOTHING_FOUND
from quire.cli.shared_options import not_empty, quiet_option
from quire.errors import InputError, QuireError
from quire.model import Finding
from quire.wire.chunk_json import parse
from quire.wire.legacy import incomplete, is_legacy, missing
from quire.write.atomic_file import os_errors_as_quire_errors, replacing
from quire.write.existing_files import obstacle

_LINES = (".jsonl", ".ndjson")
"""Endings of files with one record per line."""
_ENDINGS = (".json", *_LINES)

Convert = Callable[[Mapping[str, Any], str], dict[str, Any]]
"""Converts a record; the text names its file in errors."""


class ChunkFile(NamedTuple):
    """A file to convert, and its path relative to the folder on the command line, with forward slashes."""

    file: Path
    name: str


@dataclass
class Outcome:
    """The result for a file: ``migrated``, ``unchanged`` or ``failed``, and the reason for failing."""

    file: str
    state: str
    output: str | None = None
    reason: str | None = None


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", callback=not_empty)
@click.option(
    "-o", "--output", metavar="DIR|FILE", callback=not_empty, help="Write to a folder, or one file to a file."
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
    of such files; the folder of -o is not read. Without -o or --in-place the records go to standard output. Files in
    the current format stay unchanged.
    """
    if output is not None and in_place:
        raise click.UsageError("-o and --in-place exclude each other; choose one")
    if reverse and title is not None:
        raise click.UsageError("--title has no meaning with --reverse; leave it out")
    migration = Migration(_to_legacy if reverse else lambda record, name: wire.migrate(record, title, name=name))
    files = migration.find(paths, output)
    if output is None and not in_place:
        (out.write_json_array if as_json else out.write_json_lines)(migration.records(files))
    else:
        folder = None if output is None else Path(output)
        if output is not None and folder and _is_file(output):
            if len(paths) > 1 or not _is_file(paths[0]) or _has_lines(paths[0]) != _has_lines(output):
                raise click.UsageError(f"-o {output} is one file, for one input of that kind; name a folder")
            files, folder = [each._replace(name=folder.name) for each in files], folder.parent
        migration.write(files, folder)
        if as_json:
            out.write_json([asdict(outcome) for outcome in migration.outcomes])
    migration.show(quiet=quiet)
    states = [outcome.state for outcome in migration.outcomes]
    if not states:
        out.message(f"no chunk files in {', '.join(paths)}; quire looks for {', '.join(_ENDINGS)}")
        return NOTHING_FOUND
    return ERROR if "failed" in states else 0


class Migration:
    """Converts files and collects the outcomes."""

    def __init__(self, convert: Convert) -> None:
        self.convert = convert
        self.outcomes: list[Outcome] = []
        self.findings: list[Finding] = []

    def find(self, paths: Sequence[str], output: str | None) -> list[ChunkFile]:
        """The files at ``paths``, in order, each once; without symbolic links and ``output`` in a folder."""
        own_output = None if output is None else os.path.realpath(output)
        files: dict[str, ChunkFile] = {}
        for each in (each for path in paths for each in self._found(path, own_output)):
            files.setdefault(os.path.realpath(each.file), each)
        return list(files.values())

    def _found(self, path: str, output: str | None) -> Iterator[ChunkFile]:
        if not os.path.isdir(path):  # noqa: PTH112  Path's fails if a folder cannot be entered
            yield ChunkFile(Path(path), Path(path).name)
            return

        def fail(error: OSError) -> None:
            reason = f"cannot be read: {error.strerror}; make it readable"
            self.outcomes.append(Outcome(str(error.filename), "failed", reason=reason))

        for folder, folders, names in os.walk(path, onerror=fail):
            visited = (name for name in sorted(folders) if not name.startswith("."))
            folders[:] = [name for name in visited if os.path.realpath(Path(folder, name)) != output]
            for file in (Path(folder, name) for name in sorted(names)):
                if _is_file(file.name) and not file.name.startswith(".") and not file.is_symlink():
                    yield ChunkFile(file, file.relative_to(path).as_posix())

    def records(self, files: Sequence[ChunkFile]) -> Iterator[dict[str, Any]]:
        """The converted records of all files."""
        for each in files:
            with self._outcome(each.file) as outcome:
                before, after = self._converted(each.file)
                outcome.state = "unchanged" if before == after else "migrated"
                yield from after if isinstance(after, list) else [after]

    def write(self, files: Sequence[ChunkFile], folder: Path | None) -> None:
        """Write each file converted, to ``folder`` or over itself."""
        inputs = {os.path.realpath(each.file) for each in files}
        taken: dict[Path, Path] = {}
        for each in out.tracked(files, attrgetter("name")):
            with self._outcome(each.file) as outcome:
                target = each.file if folder is None else _target(each, folder, inputs, taken)
                before, after = self._converted(each.file)
                if target != each.file or before != after:
                    with os_errors_as_quire_errors(target):
                        data = each.file.read_bytes() if before == after else _encoded(each.file, after)
                        target.parent.mkdir(parents=True, exist_ok=True)
                        with replacing(target) as stream:
                            stream.write(data)
                outcome.state, outcome.output = "unchanged" if before == after else "migrated", str(target)

    @contextmanager
    def _outcome(self, file: Path) -> Iterator[Outcome]:
        """The outcome for a file; ``failed`` after an error."""
        outcome = Outcome(str(file), "failed")
        self.outcomes.append(outcome)
        try:
            yield outcome
        except QuireError as error:
            outcome.reason = error.reason

    def _converted(self, file: Path) -> tuple[Any, Any]:
        """The record or list of records in a file, before and after."""
        try:
            data = file.read_bytes()
        except OSError as error:
            raise InputError(str(file), f"cannot be read: {error.strerror}", "check the path") from error
        if _has_lines(file):
            lines = [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
            before = [_value(line, file, number) for number, line in lines]
            numbers = [number for number, _ in lines]
            return before, [
                self._record(each, file, f"line {at}: ", at) for each, at in zip(before, numbers, strict=True)
            ]
        value = _value(data, file)
        if isinstance(value, list):
            return value, [self._record(each, file, f"record {number}: ") for number, each in enumerate(value, start=1)]
        return value, self._record(value, file, "", 1)

    def _record(self, record: Any, file: Path, label: str, line: int = 0) -> dict[str, Any]:
        """A converted record; ``label`` is its position in messages."""
        if not isinstance(record, dict):
            raise InputError(str(file), f"{label}is not a chunk record", "a record is one JSON object")
        try:
            made = self.convert(record, str(file))
        except InputError as error:
            raise InputError(str(file), f"{label}{error.reason}") from error
        if guesses := [name for name in wire.guessed(record) if name in made]:
            text = f"{' and '.join(guesses)} could only be guessed; cut the document again for the exact values."
            text = text if line else label + text
            self.findings.append(Finding(code="guessed-fields", path=str(file), line=line, message=text))
        return made

    def show(self, *, quiet: bool) -> None:
        """Print findings, failed files and the totals; only failed files if ``quiet``."""
        sys.stdout.flush()
        if not quiet:
            out.show_findings(self.findings)
        for outcome in self.outcomes:
            if outcome.state == "failed":
                out.show_problem(outcome.file, outcome.reason or "", "skipped")
        if self.outcomes and not quiet:
            states = [outcome.state for outcome in self.outcomes]
            names = [name for name in ("migrated", "unchanged", "failed") if name in states]
            counts = ", ".join(f"{states.count(name):,} {name}" for name in names)
            out.note(f"{out.count_of(len(states), 'file')}: {counts}")


def _to_legacy(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not is_legacy(record) and missing(record):
        raise incomplete(missing(record), name)
    return wire.legacy(record, name=name)


def _target(each: ChunkFile, folder: Path, inputs: set[str], taken: dict[Path, Path]) -> Path:
    """The output file: never an input, never another file's output, never outside the folder."""
    target = folder / each.name
    if os.path.realpath(target) in inputs:
        raise QuireError(f"{target} is also an input", "choose another output, or use --in-place")
    if target in taken:
        raise QuireError(f"would overwrite {target}, the output of {taken[target]}", "give the folder above both")
    with os_errors_as_quire_errors(target):
        reason = obstacle(folder, each.name.rpartition("/")[0])
        if reason or target.is_symlink():
            raise QuireError(reason or f"{target} is a symbolic link, which may lead out of {folder}; remove it")
    taken[target] = each.file
    return target


def _is_file(path: str) -> bool:
    """Whether a path is that of a chunk file, which may not exist yet, and not of a folder."""
    return path.lower().endswith(_ENDINGS) and not os.path.isdir(path)  # noqa: PTH112  Path's may fail


def _has_lines(file: str | Path) -> bool:
    return str(file).lower().endswith(_LINES)


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


def _encoded(file: Path, value: Any) -> bytes:
    if _has_lines(file):
        return b"".join(wire.to_json(record) + b"\n" for record in value)
    return wire.to_json(value, indent=2) + b"\n"
