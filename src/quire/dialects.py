"""The dialects of Markdown: the documentation generators that have one, and how a folder shows which it uses."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote

from quire.patterns import pattern

COMMONMARK = "commonmark"
"""Without the constructs of generators: no heading ids, shortcodes, admonitions and tabs."""
ORDER = pattern(r"(?:(?<=/)|\A)[0-9]+[-_.](?=[^/])")
"""The number in a file name that sets the order of pages, and is not in their addresses."""
INDEX_NAMES = frozenset({"index", "_index", "readme"})
"""The names of files that are the page of their folder."""
_MAX_FOLDERS = 4
"""How many folders are looked at: the documents' own and three above it."""


class Dialect(NamedTuple):
    """A dialect of Markdown."""

    slugs: str
    """The rule for anchors, by its name in ``parsing.slugs.RULES``."""
    files: tuple[str, ...] = ()
    """Files and folders beside or above documents in this dialect."""
    suffix: str | None = ""
    """How the address of a page continues after its name; None where the address has the file's own name."""
    has_slugs: bool = False
    """Whether ``slug`` in front matter replaces the name of a page."""


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        COMMONMARK: Dialect("github", suffix=None),
        "github": Dialect("github", suffix=None),
        "docusaurus": Dialect(
            "docusaurus", ("docusaurus.config.js", "docusaurus.config.ts", "docusaurus.config.mjs"), has_slugs=True
        ),
        "vitepress": Dialect("vitepress", (".vitepress",), ".html"),
        "mkdocs": Dialect("mkdocs", ("mkdocs.yml", "mkdocs.yaml"), "/"),
        "hugo": Dialect("hugo", ("hugo.toml", "hugo.yaml", "hugo.json", "config.toml"), "/", has_slugs=True),
        "myst": Dialect("sphinx", ("conf.py", "myst.yml"), ".html"),
        "jekyll": Dialect("kramdown", ("_config.yml",), ".html"),
        "gitbook": Dialect("gitbook", (".gitbook.yaml",)),
        "obsidian": Dialect("github", (".obsidian",)),
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
    folder = folder.absolute()
    for parent in islice((folder, *folder.parents), _MAX_FOLDERS):
        for name, dialect in DIALECTS.items():
            if any((parent / file).exists() for file in dialect.files):
                return name
        if (parent / ".git").exists():
            return None
    return None


def page_url(base_url: str, path: str | None, dialect: str | None, frontmatter: Mapping[str, Any]) -> str:
    """The address of a document's page below ``base_url`` by the rules of a generator; without one, its bare name."""
    path, rule = path or "", DIALECTS[dialect] if dialect else Dialect("")
    if dialect == "hugo":
        path = path.lower().replace(" ", "-")
    elif dialect == "docusaurus":
        path = ORDER.sub("", path)
    if rule.suffix is not None:
        folder, slash, name = path.rpartition("/")
        name = name.rpartition(".")[0] or name
        slug = frontmatter.get("slug") if rule.has_slugs else None
        name = "" if name.lower() in INDEX_NAMES else slug if isinstance(slug, str) else name
        path = name[1:] if name.startswith("/") else f"{folder}{slash}{name}{rule.suffix if name else ''}"
    return f"{base_url.rstrip('/')}/{quote(path)}"
