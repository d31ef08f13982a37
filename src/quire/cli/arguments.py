"""Paths on the command line. An empty one is refused: it is a variable that is not set, and no folder."""

from __future__ import annotations

from typing import Any

import click


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """What was given, if no path in it is empty; Python would take that for the current folder."""
    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter("is empty; name a file or a folder", ctx, param)
    return value
