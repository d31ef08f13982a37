"""``quire config``: every setting and where it came from."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from quire.cli.command_options import JSON, option, quire_command
from quire.cli.output import Paint, print_table, visible, write_json
from quire.index.file_records import DEFAULT_FOLDER
from quire.model.options import ALIASES, STRATEGIES
from quire.model.trees import Tree
from quire.model.validation import fields
from quire.output.atomic_file import new_file, os_errors_as_quire_errors
from quire.workspace.selected_trees import display_path
from quire.workspace.settings import DEFAULT, PROJECT_FILE, QuireToml, Value, load, search_fields


@quire_command("quire config", "quire config --schema")
def command(*, as_json: bool = JSON, schema: bool = option("Print the JSON Schema of quire.toml, for editors.")) -> int:
    """The command line wins over the environment (for example QUIRE_SEARCH_LIMIT), the environment over the project's
    file (the nearest quire.toml, or [tool.quire] in pyproject.toml), that over the user's file, and that over the
    defaults.
    """
    if schema:
        write_json(json_schema())
        return 0
    settings = load(Path.cwd())
    index = {"index": str(settings.file.parent / DEFAULT_FOLDER)} if settings.file else {}
    shown = {name: field.default for name, field in fields(Tree).items() if field.default}
    trees = {f"trees.{tree}.{name}": value for tree in settings.trees for name, value in ({"path": ""} | shown).items()}
    search = {f"search.{name}": field.default for name, field in search_fields().items()}
    values = {name: Value(value, DEFAULT) for name, value in (index | trees | search).items()} | dict(settings.values)
    if as_json:
        write_json({name: {"value": value, "origin": str(origin)} for name, (value, origin) in values.items()})
        return 0
    paint = Paint(sys.stdout)
    rows = []
    for name, (value, origin) in values.items():
        source = display_path(origin) if isinstance(origin, Path) else origin
        rows.append((paint.title(name), visible(toml_value(value)), paint.faint(source)))
    print_table(rows)
    return 0


def toml_value(value: Any) -> str:
    """A value as in TOML, whose texts, lists and numbers are those of JSON but for DEL."""
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A name as in TOML."""
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else toml_value(name)


def write_text(file: Path, text: str) -> None:
    """Replace a file and make its folder; an empty text removes the file."""
    if text:
        with new_file(file) as stream:
            stream.write(text.encode())
    else:
        with os_errors_as_quire_errors(file):
            file.unlink()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a quire.toml, for editors."""
    schema = msgspec.json.schema(QuireToml)
    kinds = msgspec.json.schema_components(STRATEGIES.values())[1].values()
    options = {name: {**field} for kind in kinds for name, field in kind["properties"].items()}
    for field in options.values():
        field.pop("default", None)  # strategies have their own
    aliases = {alias: options[name] for alias, name in ALIASES.items()}
    names = {"strategy": {"enum": list(STRATEGIES)}, **options, **aliases}
    for kind in ("QuireToml", "Tree"):
        schema["$defs"][kind]["properties"]["chunk"] |= {"properties": names, "additionalProperties": False}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": PROJECT_FILE, **schema}
