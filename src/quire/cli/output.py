"""What goes out: data to standard output, all else to standard error; colours and progress on a terminal only.

JSON is written here and nowhere else, as UTF-8 whatever the terminal's encoding is. What people read goes through
``Paint`` (or ``visible``) first, so that no control character of a document reaches the terminal.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import click

from quire.cli.shown import clip, visible
from quire.model import Finding

MOST_SHOWN = 20
"""How many findings, or skipped files, are shown one by one."""

_PROGRESS_AFTER = 0.5
"""Seconds before progress is shown: what is quick needs none."""
_PROGRESS_EVERY = 0.1
_ERASE = "\r\x1b[2K"

_ASCII = str.maketrans({"│": "|", "├": "|", "└": "`", "─": "-", "…": "~", "›": ">", "·": "-"})
"""What stands for quire's own drawing where the terminal cannot show it."""


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at ``stream``; there is none where the shell closed it."""
    return stream is not None and stream.isatty()


def has_colour(stream: TextIO | None) -> bool:
    """Whether ``stream`` shows colours."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_width(at_most: int) -> int:
    """The columns there are to write in."""
    return min(shutil.get_terminal_size().columns, at_most)


def fitted(text: str, room: int) -> str:
    """``text`` in one line, shortened to ``room`` columns on a terminal; whole when standard output is piped."""
    return clip(visible(text[: 4 * room]), room) if is_terminal(sys.stdout) else visible(text)


class Paint:
    """Makes a text safe for a terminal, and colours it where there is colour."""

    def __init__(self, stream: TextIO) -> None:
        self._on = has_colour(stream)

    def _style(self, text: str, **style: bool | str) -> str:
        text = visible(text)
        return click.style(text, **style) if self._on and text else text  # type: ignore[arg-type]

    def plain(self, text: str) -> str:
        """As it is."""
        return visible(text)

    def title(self, text: str) -> str:
        """A heading."""
        return self._style(text, bold=True)

    def place(self, text: str) -> str:
        """A path, an id."""
        return self._style(text, fg="cyan")

    def number(self, text: str) -> str:
        """A count."""
        return self._style(text, fg="green")

    def faint(self, text: str) -> str:
        """What stands back."""
        return self._style(text, dim=True)

    def warning(self, text: str) -> str:
        """What went wrong."""
        return self._style(text, fg="yellow")


def echo(text: str = "") -> None:
    """A line of readable data, to standard output."""
    _status.clear()
    sys.stdout.write(_in_encoding(text, sys.stdout) + "\n")


def note(text: str = "") -> None:
    """A line that is not data, to standard error."""
    _status.clear()
    if sys.stderr is None:
        return
    try:
        click.echo(_in_encoding(text, sys.stderr), err=True)
    except OSError:
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """Let what is still to be written to ``stream`` go nowhere, so that Python does not fail over it at exit."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _in_encoding(text: str, stream: TextIO) -> str:
    """``text`` with whatever ``stream`` cannot hold replaced."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        if not encoding.lower().startswith("utf"):
            text = text.translate(_ASCII)
        return text.encode(encoding, "replace").decode(encoding)
    return text


def _encoded(value: Any) -> bytes:
    from quire.wire import to_json  # noqa: PLC0415  takes as long to load as all that a readable view needs

    return to_json(value)


def write_json(value: Any) -> None:
    """One JSON value on one line."""
    _write(_encoded(value) + b"\n")


def write_json_lines(values: Iterable[Any]) -> None:
    """A line of JSON for each value."""
    for value in values:
        _write(_encoded(value) + b"\n")


def write_json_array(values: Iterable[Any]) -> None:
    """One JSON array; it is closed, and so valid, even if ``values`` ends in an error."""
    before, end = b"[\n", b"[]\n"
    try:
        for value in values:
            _write(before + _encoded(value))
            before, end = b",\n", b"\n]\n"
    finally:
        _write(end)


def _write(data: bytes) -> None:
    """Past the text layer, whose encoding may be another than UTF-8."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # a caller's own text stream
        sys.stdout.write(data.decode())
        return
    left = memoryview(data)
    while left:  # without a buffer (PYTHONUNBUFFERED) a write that is stopped and goes on may be a part of it
        left = left[stream.write(left) :]


def show_findings(findings: Sequence[Finding], count: int | None = None, *, more: str = "") -> None:
    """The first findings, and how many there are beside them; ``count`` says how many in all, where not all were kept.

    ``more`` says where to see the rest.
    """
    for finding in findings[:MOST_SHOWN]:
        show_finding(finding)
    left = (len(findings) if count is None else count) - MOST_SHOWN
    if left > 0:
        note(Paint(sys.stderr).faint(f"… and {count_of(left, 'more finding')}{f'; {more}' if more else ''}"))


def show_finding(finding: Finding) -> None:
    """A finding, to standard error."""
    paint = Paint(sys.stderr)
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    note(f"{paint.place(place)}: {paint.plain(finding.message)} {paint.faint(f'[{finding.code}]')}")


def count_of(number: int, noun: str) -> str:
    """``3 documents``, ``1 document``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def lines_of(first: int, last: int) -> str:
    """``line 3``, ``lines 3-7``."""
    return f"line {first}" if first == last else f"lines {first}-{last}"


class _Status:
    """The line at the bottom of a terminal that says what goes on; taken away before anything else is written."""

    def __init__(self) -> None:
        self._is_shown = False

    def show(self, text: str) -> None:
        sys.stderr.write(_ERASE + _in_encoding(clip(visible(text), terminal_width(100) - 1), sys.stderr))
        sys.stderr.flush()
        self._is_shown = True

    def clear(self) -> None:
        if self._is_shown:
            self._is_shown = False
            sys.stderr.write(_ERASE)
            sys.stderr.flush()


_status = _Status()


class Progress:
    """Says on a terminal how far a long run is; says nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._next = time.monotonic() + _PROGRESS_AFTER
        self._on = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"

    def step(self, done: int, path: str) -> None:
        """Say that ``path`` is next, after ``done`` others."""
        if self._on and time.monotonic() > self._next:
            self._next = time.monotonic() + _PROGRESS_EVERY
            _status.show(f"{done:,}/{self._total:,} {path}")

    def end(self) -> None:
        """Take the line away."""
        _status.clear()
