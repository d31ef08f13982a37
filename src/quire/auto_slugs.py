"""``slugs="auto"``: the rule for anchors by which most links of a tree lead to a section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from quire import parsing, read
from quire.dialects import DIALECTS, dialect_of
from quire.errors import InputError
from quire.model import Document
from quire.options import AUTO_SLUGS, DEFAULT_SLUGS
from quire.parsing.slugs import RULES, section_anchors
from quire.read.discover import Found


class SlugChoice(NamedTuple):
    """The rule for a tree."""

    rule: str
    links: int
    """How many links have a fragment and lead to a document of the tree."""
    found: Mapping[str, int]
    """How many of them lead to a section, by rule."""


def choose_slugs(documents: Mapping[str, Document], preferred: str = DEFAULT_SLUGS) -> SlugChoice:
    """The rule by which most links lead to a section; if several are equal, ``preferred``, else GitHub's."""
    from quire.link_targets import LinkTargets  # noqa: PLC0415  few programs that cut documents need it

    @cache
    def anchors(path: str, rule: str) -> frozenset[str]:
        return frozenset(section_anchors(documents[path], rule))

    fragments = list(LinkTargets(documents).fragments())
    resolved = Counter({rule: sum(fragment in anchors(path, rule) for path, fragment in fragments) for rule in RULES})
    rules = sorted(RULES, key=lambda rule: rule != preferred)
    return SlugChoice(max(rules, key=lambda rule: resolved[rule]), len(fragments), resolved)


def slugs_of_files(files: Sequence[Found], folder: Path, dialect: str | None = None) -> SlugChoice:
    """The rule for the documents of ``folder``. Those that cannot be read are left out."""
    documents = {}
    for file in files:
        with suppress(InputError):
            text, _ = read.read_file(file.file, file.path)
            documents[file.path] = parsing.document(read.make_source(text, path=file.path, dialect=dialect))
    dialect = dialect or dialect_of(folder)
    return choose_slugs(documents, DIALECTS[dialect].slugs if dialect else DEFAULT_SLUGS)


def folder_options(options: Mapping[str, Any], files: Sequence[Found], folder: Path) -> dict[str, Any]:
    """Options with what ``files`` show: the rule for ``slugs="auto"`` and, for addresses of pages, the dialect."""
    chosen = dict(options)
    if files and chosen.get("slugs") == AUTO_SLUGS:
        chosen["slugs"] = slugs_of_files(files, folder, chosen.get("dialect")).rule
    if files and chosen.get("base_url") and not chosen.get("dialect"):
        chosen["dialect"] = dialect_of(folder)
    return chosen
