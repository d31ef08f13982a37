"""The files of a documentation generator that have template variables, beside or above the documents.

    docset.yml                 subs:             Elastic docs-builder: {{es}}
    mkdocs.yml                 extra:            MkDocs: {{ name }}, {{ config.site_name }}
    myst.yml                   substitutions:    MyST: {{ name }}
    hugo.toml, config.yaml …   params:           Hugo: {{< param "version" >}}
    _config.yml                                  Jekyll: {{ site.name }}
    data/variables/product.yml                   GitHub Docs: {% data variables.product.name %}

Nothing is executed: the variables of a ``conf.py`` are not known.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from quire.dialects import folders_above
from quire.errors import InputError
from quire.patterns import pattern
from quire.read.frontmatter import split
from quire.read.source import read_configuration
from quire.substitutions import NO_SUBSTITUTIONS, flat_values, substitute

_TAG = pattern(r"(?<=[\s\[,])!{1,2}[\w/:.-]+")
"""A tag of YAML, such as MkDocs has for functions; its value is read without it."""
_NAMES = ("docset.yml", "mkdocs.yml", "mkdocs.yaml", "myst.yml", "_config.yml", "hugo.toml", "hugo.yaml", "hugo.json",
          "config.toml", "config.yaml", "config/_default/params.toml", "config/_default/params.yaml")  # fmt: skip
VARIABLE_FOLDERS = ("_data/variables", "data/variables")


def substitution_files(folder: Path) -> list[Path]:
    """The files with variables for the documents in ``folder``, the farthest first."""
    files: list[Path] = []
    for parent in reversed([*folders_above(folder)]):
        files += [parent / name for name in _NAMES if os.path.isfile(f"{parent}/{name}")]  # noqa: PTH113  faster
        for name in VARIABLE_FOLDERS:
            if os.path.isdir(f"{parent}/{name}"):  # noqa: PTH112
                files += sorted((parent / name).glob("*.y*ml"))
    return files


def tree_substitutions(files: Iterable[Path], given: Mapping[str, Any] = NO_SUBSTITUTIONS) -> dict[str, str]:
    """The values of template variables: those that the generator's files have, and before them those ``given``."""
    values = {name: value for file in files for name, value in _values(file)}
    values |= dict(flat_values(given))
    return {name: substitute(value, values) for name, value in values.items()}


def _values(file: Path) -> Iterator[tuple[str, str]]:
    table = _table(file)
    match file.name, file.parent.name:
        case "docset.yml", _:
            yield from flat_values(table.get("subs"))
        case (("mkdocs.yml" | "mkdocs.yaml"), _):
            yield from flat_values(table.get("extra"))
            yield from flat_values(table, "config.")
        case "myst.yml", _:
            for settings in (table, table.get("project")):
                yield from flat_values(settings.get("substitutions") if isinstance(settings, dict) else None)
        case "_config.yml", _:
            yield from flat_values(table, "site.")
        case _, "variables":
            yield from flat_values(table, f"variables.{file.stem}.")
        case _, "_default":
            yield from flat_values(table)
        case _:
            yield from flat_values(table.get("params"))


def _table(file: Path) -> dict[str, Any]:
    """The values of a file, which is read as front matter is; empty if it cannot be read."""
    with suppress(OSError, UnicodeDecodeError, InputError):
        text = read_configuration(file).decode("utf-8-sig")
        if file.suffix == ".toml":
            return split(f"+++\n{text}\n+++\n", file.name).data
        return split(f"---\n{_TAG.sub('', text).removeprefix('---').lstrip()}\n---\n", file.name).data
    return {}
