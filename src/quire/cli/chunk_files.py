"""Chunk files to migrate: which there are, and the records in them. After: migrate.py turns the records around."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from quire.errors import InputError, QuireError
from quire.wire.chunk_json import parse

LINES = (".jsonl", ".ndjson")
"""The endings of files with one record a line."""
ENDINGS = (".json", *LINES)
"""The endings that are taken from a directory."""

_BEFORE_VALUE = re.compile(r"[\s,]*")

OnError = Callable[[str, QuireError], None]
"""Is told of what cannot be read, and why."""


class Input(NamedTuple):
    """A file to migrate."""

    file: Path
    name: str
    """Its path from what was given on, with forward slashes."""


class Content(NamedTuple):
    """The records of a file, before or after."""

    records: list[dict[str, Any]]
    places: list[int]
    """The line of each record."""
    is_single: bool
    """Whether the file is one record rather than several."""


def chunk_files(paths: Sequence[str], on_error: OnError, output: str | None = None) -> list[Input]:
    """The files at ``paths``, in order; each once, by its own name rather than by a link's.

    What is in the folder ``output`` is taken only if it is itself one of ``paths``.
    """
    own_output = None if output is None else os.path.realpath(output)
    inputs = [each for path in paths for each in _found(path, on_error, own_output)]
    own: dict[str, Input] = {}
    for each in sorted(inputs, key=lambda each: os.path.islink(each.file)):  # noqa: PTH114
        own.setdefault(os.path.realpath(each.file), each)
    return [each for each in inputs if own[os.path.realpath(each.file)] is each]


def _found(path: str, on_error: OnError, output: str | None) -> Iterator[Input]:
    """The files at ``path``, in order, without those in a folder ``output`` in it."""
    given = Path(path)
    if not os.path.isdir(given):  # noqa: PTH112  Path's fails where a folder cannot be entered
        yield Input(given, given.name)
        return

    def report(error: OSError) -> None:
        on_error(str(error.filename), QuireError(f"cannot be read: {error.strerror}", "make it readable"))

    for folder, folders, names in os.walk(given, onerror=report):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(os.path.join(folder, name)) != output  # noqa: PTH118
        )
        for name in sorted(names):
            if name.lower().endswith(ENDINGS) and not name.startswith("."):
                file = Path(folder, name)
                yield Input(file, file.relative_to(given).as_posix())


def read(file: Path) -> Content:
    """The records of a file: one, a list, or one a line."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(str(file), f"cannot be read: {error.strerror}", "check the path") from error
    if file.name.lower().endswith(LINES):
        lines = [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
        values = [_value(line, file, number) for number, line in lines]
        records = [_record(value, file, f"line {at}: ") for value, (at, _) in zip(values, lines, strict=True)]
        return Content(records, [number for number, _ in lines], is_single=False)
    value = _value(data, file)
    if not isinstance(value, list):
        return Content([_record(value, file)], [1], is_single=True)
    places = _lines_of_values(data)
    records = [
        _record(each, file, f"record {number}, line {line}: ")
        for number, (each, line) in enumerate(zip(value, places, strict=True), start=1)
    ]
    return Content(records, places, is_single=False)


def _lines_of_values(data: bytes) -> list[int]:
    """The lines on which the values of a JSON array begin, counted from 1; the array is known to be sound."""
    text = data.decode(json.detect_encoding(data), "surrogatepass")
    decoder = json.JSONDecoder()
    line, at, lines = 1, 0, []
    found = _BEFORE_VALUE.match(text, text.index("[") + 1)
    while found and found.end() < len(text) and text[found.end()] != "]":
        line += text.count("\n", at, found.end())
        at = found.end()
        lines.append(line)
        found = _BEFORE_VALUE.match(text, decoder.raw_decode(text, at)[1])
    return lines


def _value(data: bytes, file: Path, line: int | None = None) -> Any:
    """The value of a JSON text; one that could not be written again as it is, is refused."""
    value = parse(data, name=str(file), line=line or 1)
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError) as error:
        is_deep = isinstance(error, RecursionError)
        what = "values nested too deep" if is_deep else "a number that JSON cannot hold, NaN or above 1e308"
        raise InputError(str(file), f"{f'line {line}: ' if line else ''}holds {what}", "correct it") from error
    return value


def _record(value: Any, file: Path, place: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(str(file), f"{place}is not a chunk record", "a record is one JSON object")
    return value
