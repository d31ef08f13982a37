"""``quire config``: every setting and where it came from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from quire.cli.output import Paint, visible, write_json
from quire.cli.shared_options import json_option, quire_command
from quire.cli.tables import print_table
from quire.index.file_records import DEFAULT_FOLDER
from quire.settings.precedence import DEFAULT, Settings, Value, load
from quire.settings.quire_toml import json_schema, search_fields, toml_value
from quire.trees import Tree
from quire.validation import fields
from quire.workspace import display_path


@quire_command("quire config", "quire config --schema")
@json_option
@click.option("--schema", is_flag=True, help="Print the JSON Schema of quire.toml, for editors.")
def command(*, as_json: bool, schema: bool) -> int:
    """Show every setting and where it came from.

    The command line wins over the environment (for example QUIRE_SEARCH_LIMIT), the environment over the project's file
    (the nearest quire.toml, or [tool.quire] in pyproject.toml), that over the user's file, and that over the defaults.
    """
    if schema:
        write_json(json_schema())
        return 0
    values = _values(load(Path.cwd()))
    if as_json:
        write_json({name: {"value": value, "origin": str(origin)} for name, (value, origin) in values.items()})
        return 0
    paint = Paint(sys.stdout)
    rows = [
        (name, visible(toml_value(value)), display_path(origin) if isinstance(origin, Path) else origin)
        for name, (value, origin) in values.items()
    ]
    print_table(rows, (paint.title, str, paint.faint))
    return 0


def _values(settings: Settings) -> dict[str, Value]:
    """What files and the environment set, and the defaults of the index, of trees and of search."""
    index = {"index": str(settings.file.parent / DEFAULT_FOLDER)} if settings.file else {}
    shown = {name: field.default for name, field in fields(Tree).items() if field.default}
    trees = {f"trees.{tree}.{name}": value for tree in settings.trees for name, value in ({"path": ""} | shown).items()}
    search = {f"search.{name}": field.default for name, field in search_fields().items()}
    return {name: Value(value, DEFAULT) for name, value in (index | trees | search).items()} | dict(settings.values)
