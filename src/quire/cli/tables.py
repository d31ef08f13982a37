"""Tables: columns as wide as their cells, and names with token counts that are shortened to fit a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from quire.cli.output import Paint, clip, echo, is_terminal, terminal_width, visible, width

_NAME_WIDTH = 72
_DETAILS = 16
"""The columns of a table that a long name leaves to the details."""


def print_table(
    rows: Sequence[Sequence[str]], styles: Sequence[Callable[[str], str]], right: Sequence[int] = ()
) -> None:
    """Print rows in columns, each as wide as its widest cell; numbers of columns in ``right`` are right-aligned."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        gaps = [" " * (most - width(cell)) for most, cell in zip(widths, row, strict=True)]
        cells = zip(range(len(row)), map(lambda style, cell: style(cell), styles, row), gaps, strict=True)
        echo("  ".join(gap + cell if at in right else cell + gap for at, cell, gap in cells).rstrip(" "))


class TokenRow(NamedTuple):
    """A line of a table with token counts."""

    name: str
    tokens: int
    details: str
    style: Callable[[str], str]
    branch: str = ""
    """The lines of a tree before the name."""
    file: str = ""
    """The file that the name is a link to."""


def print_token_table(rows: Sequence[TokenRow]) -> None:
    """Print names, token counts and details in columns: shortened to fit a terminal, complete when piped."""
    paint = Paint(sys.stdout)
    digits = max((len(f"{row.tokens:,}") for row in rows), default=0)
    column = min(max((len(row.branch) + width(visible(row.name)) for row in rows), default=0), _NAME_WIDTH)
    room = terminal_width(sys.stdout) - digits - len("   tokens  ")
    if is_terminal(sys.stdout):
        column = min(column, room - min(max((width(row.details) for row in rows), default=0), _DETAILS))
    for row in rows:
        name = _fit(row.name, column - len(row.branch))
        space = " " * (column - len(row.branch) - width(name))
        count = f"{paint.number(f'{row.tokens:>{digits},}')} {paint.faint('token ' if row.tokens == 1 else 'tokens')}"
        details = f"  {paint.faint(_fit(row.details, room - column))}" if row.details else ""
        echo(
            f"{paint.faint(row.branch)}{paint.linked(row.style(name), row.file)}{space}  {count}{details}", wraps=False
        )


def _fit(text: str, columns: int) -> str:
    """``text`` on one line, shortened to ``columns`` on a terminal and complete when standard output is piped."""
    return clip(visible(text[: 4 * columns]), columns) if is_terminal(sys.stdout) else visible(text)
