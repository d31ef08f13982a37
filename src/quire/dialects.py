"""The dialects of Markdown: the documentation generators that have one, and how a folder shows which it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

COMMONMARK = "commonmark"
"""Without the constructs of generators: no heading ids, shortcodes, admonitions and tabs."""
DOCS_BUILDER = "docs-builder"
"""Elastic's: ``[id]`` at the end of a heading is its id."""
_MAX_FOLDERS = 4
"""How many folders are looked at: the documents' own and three above it."""


class Dialect(NamedTuple):
    """A dialect of Markdown."""

    slugs: str
    """The rule for anchors, by its name in ``parsing.slugs.RULES``."""
    files: tuple[str, ...] = ()
    """Files and folders beside or above documents in this dialect."""


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        COMMONMARK: Dialect("github"),
        "github": Dialect("github"),
        "docusaurus": Dialect("docusaurus", ("docusaurus.config.js", "docusaurus.config.ts", "docusaurus.config.mjs")),
        "vitepress": Dialect("vitepress", (".vitepress",)),
        "mkdocs": Dialect("mkdocs", ("mkdocs.yml", "mkdocs.yaml")),
        "hugo": Dialect("hugo", ("hugo.toml", "hugo.yaml", "hugo.json", "config.toml")),
        "myst": Dialect("sphinx", ("conf.py", "myst.yml")),
        "jekyll": Dialect("kramdown", ("_config.yml",)),
        "gitbook": Dialect("gitbook", (".gitbook.yaml",)),
        "obsidian": Dialect("github", (".obsidian",)),
        DOCS_BUILDER: Dialect("ascii", ("docset.yml",)),
    }
)
if TYPE_CHECKING:
    DialectName = str
else:
    DialectName = Literal[tuple(DIALECTS)]


def dialect_of(folder: Path) -> str | None:
    """The dialect of the documents in ``folder``, by the files beside or above them; None if no file shows it.

    A repository's top folder is the last one that is looked at.
    """
    for parent in folders_above(folder):
        for name, dialect in DIALECTS.items():
            if any((parent / file).exists() for file in dialect.files):
                return name
    return None


def folders_above(folder: Path) -> Iterator[Path]:
    """A folder and some above it, up to the top of its repository."""
    folder = folder.absolute()
    for parent in islice((folder, *folder.parents), _MAX_FOLDERS):
        yield parent
        if (parent / ".git").exists():
            return
