"""``.gitignore`` and ``.quireignore``, by git's rules.

The last pattern that matches an entry decides; deeper files win over shallower ones, ``.quireignore`` over
``.gitignore``. ``discover`` does not enter an ignored folder.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from quire.model import BOM
from quire.read.globs import Glob
from quire.read.globs import parse as parse_glob
from quire.read.source import decode, read_configuration

NAMES = (".gitignore", ".quireignore")
"""The later one wins."""


class Rules(NamedTuple):
    """The patterns of one ignore file, as an expression for files and one for folders.

    The last pattern comes first, as the first that matches decides; it has a group if it does not ignore its matches.
    """

    base: int
    """The length of the path to the ignore file's directory."""
    files: re.Pattern[str]
    folders: re.Pattern[str]


def read(file: str, base: int) -> Rules:
    """The rules of an ignore file. Invalid bytes become what they are in file names."""
    data = read_configuration(Path(file))
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = decode(data, file)[0] if is_utf16 else data.decode("utf-8", "surrogateescape")
    patterns = list(_patterns(text.removeprefix(BOM).split("\n")))[::-1]
    files = [(glob, is_ignored) for glob, is_ignored in patterns if not glob.is_for_folders]
    return Rules(base, _expression(files), _expression(patterns))


def ignores(rules: Iterable[Rules], path: str, *, directory: bool) -> bool:
    """Whether ``path`` is ignored by ``rules``, the strongest first."""
    for each in rules:
        found = (each.folders if directory else each.files).fullmatch(path, each.base)
        if found is not None:
            return found.lastindex is None
    return False


def _expression(patterns: Iterable[tuple[Glob, bool]]) -> re.Pattern[str]:
    """One expression for some patterns. Those for names are tried together, behind the folders of a path."""
    parts = []
    for is_name, group in groupby(patterns, lambda pattern: pattern[0].is_name):
        either = "|".join(glob.expression if is_ignored else f"{glob.expression}()" for glob, is_ignored in group)
        parts.append(f"(?:[^/]*+/)*+(?:{either})" if is_name else either)
    return re.compile("|".join(parts))


def _patterns(lines: Iterable[str]) -> Iterator[tuple[Glob, bool]]:
    for line in lines:
        pattern = _trimmed(line.rstrip("\r"))
        glob = None if pattern.startswith("#") else parse_glob(pattern.removeprefix("!"))
        if glob is not None:
            yield glob, not pattern.startswith("!")


def _trimmed(line: str) -> str:
    """A line without trailing spaces, except one behind a backslash."""
    trimmed = line.rstrip(" ")
    is_escaped = (len(trimmed) - len(trimmed.rstrip("\\"))) % 2
    return trimmed + line[len(trimmed) :][:is_escaped]
