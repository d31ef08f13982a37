"""``quire config``: every setting and where it came from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from quire.cli.output import Paint, echo, pad, visible, width, write_json
from quire.cli.shared_options import json_option
from quire.cli.tree_paths import display_path
from quire.settings import load, shown


@click.command()
@json_option
def command(*, as_json: bool) -> int:
    """Show every setting and where it came from.

    The command line wins over the environment (for example QUIRE_SEARCH_LIMIT), the environment over the project's file
    (the nearest quire.toml, or [tool.quire] in pyproject.toml), that over the user's file, and that over the defaults.
    """
    values = load(Path.cwd()).values
    if as_json:
        write_json({name: {"value": value, "origin": str(origin)} for name, (value, origin) in values.items()})
        return 0
    paint = Paint(sys.stdout)
    texts = {name: visible(shown(value)) for name, (value, _) in values.items()}
    names, columns = max(map(width, texts)), max(map(width, texts.values()))
    for name, (_, origin) in values.items():
        source = display_path(origin) if isinstance(origin, Path) else origin
        echo(f"{paint.title(pad(name, names))}  {pad(texts[name], columns)}  {paint.faint(source)}")
    return 0
