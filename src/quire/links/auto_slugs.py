"""What a tree shows about its options: the rule for anchors, the ids of headings, the values of variables."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from quire.errors import InputError
from quire.model.dialects import DIALECTS, DOCS_BUILDER, dialect_of
from quire.model.document import Document
from quire.model.options import AUTO_SLUGS, DEFAULT_SLUGS
from quire.model.substitutions import NO_SUBSTITUTIONS
from quire.parsing.blocks import parse_source
from quire.parsing.slugs import RULES, section_anchors
from quire.read.discover import Found
from quire.read.source import make_source, read_bytes, read_file
from quire.read.substitution_files import substitution_files, tree_substitutions

_SAMPLE = 32  # so many files are looked at for headings with ``[id]``
_BRACKETED = re.compile(rb"^#{1,6} .*[^\]\s] *\[#?([\w.-]+)\] *\r?$", re.MULTILINE)
_FRAGMENT = re.compile(rb"\]\([^()\s]*#([\w.-]+)\)")


class SlugChoice(NamedTuple):
    """The rule for a tree."""

    rule: str
    found: Mapping[str, int]  # how many links lead to a section of the tree, by rule


def choose_slugs(documents: Mapping[str, Document], preferred: str = DEFAULT_SLUGS) -> SlugChoice:
    """The rule by which most links lead to a section; if several are equal, ``preferred``, else GitHub's."""
    from quire.links.link_targets import LinkTargets  # noqa: PLC0415  few programs that cut documents need it

    anchors = cache(lambda path, rule: frozenset(section_anchors(documents[path], rule)))
    fragments = list(LinkTargets(documents).fragments())
    resolved = Counter({rule: sum(fragment in anchors(path, rule) for path, fragment in fragments) for rule in RULES})
    rules = sorted(RULES, key=lambda rule: rule != preferred)
    return SlugChoice(max(rules, key=resolved.__getitem__), resolved)


def tree_options(options: Mapping[str, Any], files: Sequence[Found], folder: Path) -> dict[str, Any]:
    """Options completed by what the documents of a folder and the files of its generator show."""
    values = dict(options)
    if not values.get("dialect") and (dialect := heading_dialect([file.file for file in files], folder)):
        values["dialect"] = dialect
    top = folder if folder.is_dir() else folder.parent
    if variables := tree_substitutions(substitution_files(top), values.get("substitutions") or NO_SUBSTITUTIONS):
        values["substitutions"] = variables
    if values.get("slugs") == AUTO_SLUGS:
        values["slugs"] = slugs_of_files(files, folder, values.get("dialect"), variables).rule
    if values.get("base_url") and not values.get("dialect"):
        values["dialect"] = dialect_of(folder)
    return values


def heading_dialect(files: Sequence[Path], folder: Path) -> str:
    """docs-builder if a docset.yml says so, or most ``[id]`` at the end of headings are link targets; else empty."""
    dialect = dialect_of(folder)
    if dialect:
        return dialect if dialect == DOCS_BUILDER else ""
    first = files[:: len(files) // _SAMPLE + 1]
    if not any((b"]\n" in text or b"]\r" in text) and _BRACKETED.search(text) for text in map(_text, first)):
        return ""
    texts = [_text(file) for file in files]
    ids = [bracketed for text in texts for bracketed in _BRACKETED.findall(text)]
    targets = {fragment for text in texts for fragment in _FRAGMENT.findall(text)}
    return DOCS_BUILDER if 2 * sum(heading_id in targets for heading_id in ids) > len(ids) else ""


def _text(file: Path) -> bytes:
    with suppress(OSError):
        return read_bytes(file)
    return b""


def slugs_of_files(
    files: Iterable[Found], folder: Path, dialect: str | None, variables: Mapping[str, str]
) -> SlugChoice:
    """The rule for the documents of ``folder``. Those that cannot be read are left out."""
    documents = {}
    for file in files:
        with suppress(InputError):
            text, _ = read_file(file.file, file.path)
            source = make_source(text, file.path, dialect=dialect, substitutions=variables)
            documents[file.path] = parse_source(source)
    dialect = dialect or dialect_of(folder)
    return choose_slugs(documents, DIALECTS[dialect].slugs if dialect else DEFAULT_SLUGS)
