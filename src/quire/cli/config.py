"""``quire config``: every value, and where it came from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from quire.cli.output import Paint, echo, write_json
from quire.cli.places import here, reachable
from quire.cli.shown import width
from quire.settings import load, shown


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the values as one JSON object, and nothing else.")
def command(*, as_json: bool) -> int:
    """Show every value that is set, and where it came from.

    Command line over environment (QUIRE_SEARCH_LIMIT, for example) over the project's file (quire.toml, or
    [tool.quire] in pyproject.toml, found upwards) over the user's file over defaults.
    """
    values = load(here()).values
    if as_json:
        write_json({name: {"value": value, "origin": str(origin)} for name, (value, origin) in values.items()})
        return 0
    paint = Paint(sys.stdout)
    texts = [shown(value) for value, _ in values.values()]
    names, room = max(map(width, values)), max(map(width, texts))
    for (name, (_, origin)), text in zip(values.items(), texts, strict=True):
        left, right = " " * (names - width(name)), " " * (room - width(text))
        came = reachable(origin) if isinstance(origin, Path) else origin
        echo(f"{paint.title(name)}{left}  {paint.plain(text)}{right}  {paint.faint(came)}")
    return 0
