"""``.gitignore`` and ``.quireignore``, by git's rules.

The last pattern that matches an entry decides; deeper files win over shallower ones, ``.quireignore`` over
``.gitignore``. ``discover`` does not enter an ignored folder.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from quire.model import BOM
from quire.read.globs import Glob
from quire.read.globs import parse as parse_glob
from quire.read.source import decode, read_configuration

NAMES = (".gitignore", ".quireignore")
"""The later one wins."""


class Rules(NamedTuple):
    """The patterns of one ignore file."""

    base: int
    """The length of the path to the ignore file's directory."""
    patterns: tuple[tuple[Glob, bool], ...]
    """Each with whether it ignores its matches; the last one first."""


def read(file: str, base: int) -> Rules:
    """The rules of an ignore file. Invalid bytes become what they are in file names."""
    data = read_configuration(Path(file))
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = decode(data, file)[0] if is_utf16 else data.decode("utf-8", "surrogateescape")
    return Rules(base, tuple(_patterns(text.removeprefix(BOM).split("\n")))[::-1])


def ignores(rules: Iterable[Rules], path: str, *, directory: bool) -> bool:
    """Whether ``path`` is ignored by ``rules``, the strongest first."""
    for each in rules:
        for glob, is_ignored in each.patterns:
            if glob.matches(path[each.base :], is_folder=directory):
                return is_ignored
    return False


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
