"""What a tree shows about its options: the rule for anchors, the ids of headings, the values of variables."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from quire.errors import InputError
from quire.model.dialects import DIALECTS, DOCS_BUILDER, dialect_of
from quire.model.document import Document
from quire.model.options import AUTO_SLUGS, DEFAULT_SLUGS
from quire.model.substitutions import NO_SUBSTITUTIONS
from quire.parsing.blocks import parse_source
from quire.parsing.slugs import RULES, section_anchors
from quire.read.discover import Found
from quire.read.source import make_source, read_file
from quire.read.substitution_files import substitution_files, tree_substitutions


def choose_slugs(documents: Mapping[str, Document], preferred: str = DEFAULT_SLUGS) -> str:
    """The rule by which most links lead to a section; if several are equal, ``preferred``, else GitHub's."""
    from quire.links.broken_links import LinkTargets  # noqa: PLC0415  few programs that cut documents need it

    anchors = cache(lambda path, rule: frozenset(section_anchors(documents[path], rule)))
    fragments = list(LinkTargets(documents).fragments())
    resolved = Counter({rule: sum(fragment in anchors(path, rule) for path, fragment in fragments) for rule in RULES})
    return max(sorted(RULES, key=lambda rule: rule != preferred), key=resolved.__getitem__)


def tree_options(options: Mapping[str, Any], files: Sequence[Found], folder: Path) -> dict[str, Any]:
    """Options completed by what the documents of a folder and the files of its generator show."""
    values = dict(options)
    if not values.get("dialect") and (dialect := heading_dialect(folder)):
        values["dialect"] = dialect
    top = folder if folder.is_dir() else folder.parent
    if variables := tree_substitutions(substitution_files(top), values.get("substitutions") or NO_SUBSTITUTIONS):
        values["substitutions"] = variables
    if values.get("slugs") == AUTO_SLUGS:
        values["slugs"] = slugs_of_files(files, folder, values.get("dialect"), variables)
    if values.get("base_url") and not values.get("dialect"):
        values["dialect"] = dialect_of(folder)
    return values


def heading_dialect(folder: Path) -> str:
    """docs-builder, in which ``[id]`` is the id of a heading, if a docset.yml says so; else empty."""
    return DOCS_BUILDER if dialect_of(folder) == DOCS_BUILDER else ""


def slugs_of_files(files: Iterable[Found], folder: Path, dialect: str | None, variables: Mapping[str, str]) -> str:
    """The rule for the documents of ``folder``. Those that cannot be read are left out."""
    documents = {}
    for file in files:
        with suppress(InputError):
            text, _ = read_file(file.file, file.path)
            source = make_source(text, file.path, dialect=dialect, substitutions=variables)
            documents[file.path] = parse_source(source)
    dialect = dialect or dialect_of(folder)
    return choose_slugs(documents, DIALECTS[dialect].slugs if dialect else DEFAULT_SLUGS)
