"""What a terminal shows: colours, progress, the closing summary. Plain text when piped, or with ``NO_COLOR``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TextIO

import click

from quire.model import Finding

_MOST_FINDINGS = 20
_PROGRESS_AFTER = 0.5
"""Seconds before progress is shown: what is quick needs none."""


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at ``stream``."""
    return stream.isatty()


def has_colour(stream: TextIO) -> bool:
    """Whether ``stream`` shows colours."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Paint:
    """Colours a text, or leaves it as it is."""

    def __init__(self, stream: TextIO) -> None:
        self._on = has_colour(stream)

    def _style(self, text: str, **style: bool | str) -> str:
        return click.style(text, **style) if self._on and text else text  # type: ignore[arg-type]

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
    """Data, to standard output; a name that is not text in this encoding is shown as well as can be."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def note(text: str = "") -> None:
    """Anything that is not data, to standard error."""
    click.echo(text.encode("utf-8", "replace").decode("utf-8"), err=True)


def show_findings(findings: Sequence[Finding]) -> None:
    """The first findings, and how many more there are."""
    paint = Paint(sys.stderr)
    for finding in findings[:_MOST_FINDINGS]:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        note(f"{paint.place(place)}: {finding.message} {paint.faint(f'[{finding.code}]')}")
    if len(findings) > _MOST_FINDINGS:
        note(paint.faint(f"… and {len(findings) - _MOST_FINDINGS:,} more findings"))


def count_of(number: int, noun: str) -> str:
    """``3 documents``, ``1 document``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class Progress:
    """One line on a terminal that says how far a long run is; nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._started = time.monotonic()
        self._shown = False
        self._on = is_terminal(sys.stderr)

    def step(self, done: int, path: str) -> None:
        """Say that ``path`` is next, after ``done`` others."""
        if self._on and time.monotonic() - self._started > _PROGRESS_AFTER:
            line = f"{done:,}/{self._total:,} {path}"
            sys.stderr.write(f"\r\x1b[2K{line[:100]}")
            sys.stderr.flush()
            self._shown = True

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
