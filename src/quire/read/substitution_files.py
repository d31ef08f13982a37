"""The files of documentation generators that have template variables, beside or above the documents.

Nothing is executed: the variables of a ``conf.py`` are not known.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from quire.errors import InputError
from quire.model.dialects import folders_above
from quire.model.patterns import pattern
from quire.model.substitutions import NO_SUBSTITUTIONS, flat_values, substitute
from quire.read.frontmatter import split
from quire.read.source import read_configuration

_TAG = pattern(r"(?<=[\s\[,])!{1,2}[\w/:.-]+")
"""A tag of YAML, such as MkDocs has for functions; its value is read without it."""
_FILES = {
    "docset.yml": (("subs", ""),),  # Elastic docs-builder: {{es}}
    **dict.fromkeys(("mkdocs.yml", "mkdocs.yaml"), (("extra", ""), ("", "config."))),  # {{ config.site_name }}
    "myst.yml": (("substitutions", ""), ("project.substitutions", "")),
    "_config.yml": (("", "site."),),  # Jekyll: {{ site.name }}
    **dict.fromkeys(("hugo.toml", "hugo.yaml", "hugo.json", "config.toml", "config.yaml"), (("params", ""),)),
    **dict.fromkeys(("config/_default/params.toml", "config/_default/params.yaml"), (("", ""),)),
}
"""The tables of each file that have variables, and what the names of these start with."""
VARIABLE_FILES = tuple(_FILES)
VARIABLE_FOLDERS = ("_data/variables", "data/variables")  # GitHub Docs: {% data variables.product.name %}


def substitution_files(folder: Path) -> list[Path]:
    """The files with variables for the documents in ``folder``, the farthest first; no links that lead elsewhere."""
    files: list[Path] = []
    for parent in reversed([*folders_above(folder)]):
        found = [parent / name for name in _FILES if os.path.isfile(f"{parent}/{name}")]  # noqa: PTH113  faster
        for name in VARIABLE_FOLDERS:
            if os.path.isdir(f"{parent}/{name}"):  # noqa: PTH112
                found += sorted((parent / name).glob("*.y*ml"))
        top = os.path.join(os.path.realpath(parent), "") if found else ""  # noqa: PTH118
        files += [file for file in found if os.path.realpath(file).startswith(top)]
    return files


def tree_substitutions(files: Iterable[Path], given: Mapping[str, Any] = NO_SUBSTITUTIONS) -> dict[str, str]:
    """The values of template variables: those that the generator's files have, and before them those ``given``."""
    values = {name: value for file in files for name, value in _values(file)}
    values |= dict(flat_values(given))
    return {name: substitute(value, values) for name, value in values.items()}


def _values(file: Path) -> Iterator[tuple[str, str]]:
    table, path = _table(file), file.as_posix()
    of_folder = (("", f"variables.{file.stem}."),)
    for keys, prefix in next((tables for name, tables in _FILES.items() if path.endswith(f"/{name}")), of_folder):
        values: Any = table
        for key in filter(None, keys.split(".")):
            values = values.get(key) if isinstance(values, dict) else None
        yield from flat_values(values, prefix)


def _table(file: Path) -> dict[str, Any]:
    """The values of a file, which is read as front matter is; empty if it cannot be read."""
    with suppress(OSError, UnicodeDecodeError, InputError):
        text = read_configuration(file).decode("utf-8-sig")
        if file.suffix == ".toml":
            return split(f"+++\n{text}\n+++\n", file.name).data
        return split(f"---\n{_TAG.sub('', text).removeprefix('---').lstrip()}\n---\n", file.name).data
    return {}
