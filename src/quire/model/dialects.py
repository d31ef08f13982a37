"""The dialects of Markdown: the documentation generators that have one, and how a folder shows which it uses."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from quire.model.patterns import pattern

COMMONMARK = "commonmark"  # without the constructs of generators: no heading ids, shortcodes, admonitions and tabs
DOCS_BUILDER = "docs-builder"  # Elastic's: ``[id]`` at the end of a heading is its id
ORDER = pattern(r"(?:(?<=/)|\A)[0-9]+[-_.](?=[^/])")
"""The number in a file name that sets the order of pages, and is not in their addresses."""
INDEX_NAMES = frozenset({"index", "_index", "readme"})  # the names of files that are the page of their folder
_CODE_WORDS = ("highlight", "comment", "code")
CODE_SHORTCODES = frozenset(mark + word for mark in ("{{<", "{{%", "{%") for word in _CODE_WORDS)
"""The shortcodes of Hugo and the tags of Liquid that show code, with the marks in front of their names."""
_MAX_FOLDERS = 4  # how many folders are looked at: the documents' own and three above it


class Dialect(NamedTuple):
    """A dialect of Markdown."""

    slugs: str  # the rule for anchors, by its name in ``parsing.slugs.RULES``
    files: tuple[str, ...] = ()  # files and folders beside or above documents in this dialect
    suffix: str | None = ""
    """How the address of a page continues after its name; None where the address has the file's own name."""
    address_keys: tuple[str, ...] = ()  # keys of front matter that set the name of a page, or its whole address


DIALECTS: Mapping[str, Dialect] = {
    COMMONMARK: Dialect("github", suffix=None),
    "github": Dialect("github", suffix=None),
    "docusaurus": Dialect(
        "docusaurus",
        ("docusaurus.config.js", "docusaurus.config.ts", "docusaurus.config.mjs"),
        address_keys=("slug", "id"),
    ),
    "vitepress": Dialect("vitepress", (".vitepress",), ".html"),
    "mkdocs": Dialect("mkdocs", ("mkdocs.yml", "mkdocs.yaml", "zensical.toml"), "/"),
    "hugo": Dialect("hugo", ("hugo.toml", "hugo.yaml", "hugo.json", "config.toml"), "/", ("url", "slug")),
    "myst": Dialect("sphinx", ("conf.py", "myst.yml"), ".html"),
    "jekyll": Dialect("kramdown", ("_config.yml",), ".html", ("permalink",)),
    "gitbook": Dialect("gitbook", (".gitbook.yaml",)),
    "obsidian": Dialect("github", (".obsidian",)),
    DOCS_BUILDER: Dialect("ascii", ("docset.yml",)),
}
if TYPE_CHECKING:
    DialectName = str
else:
    DialectName = Literal[tuple(DIALECTS)]


def is_raw_shortcode(name: str) -> bool:
    """Whether a shortcode or tag encloses raw text: in Hugo all with ``{{<``, in Liquid those that show code."""
    return name.startswith("{{<") or (name.startswith("{%") and name in CODE_SHORTCODES)


def dialect_of(folder: Path) -> str | None:
    """The dialect of the documents in ``folder``, by the files beside or above them; None if no file shows it."""
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
