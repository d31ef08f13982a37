"""Ignore files, by git's rules. Called by ``discover`` for every directory that has some; ``globs`` reads patterns.

``discover`` walks downwards and does not enter what is ignored, so an entry is judged by itself, as git does:
the last pattern that matches it decides, deeper files over shallower ones, ``.quireignore`` over ``.gitignore``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from quire.read.globs import Glob
from quire.read.globs import parse as parse_glob

NAMES = (".gitignore", ".quireignore")
"""The ignore files of a directory; the later one wins."""


class Rules(NamedTuple):
    """The patterns of one ignore file."""

    base: int
    """How many characters of a path lead to the ignore file's directory."""
    patterns: tuple[tuple[Glob, bool], ...]
    """Each with whether it ignores what it matches; the last one first."""


def parse(text: str, base: int) -> Rules:
    """The rules in the ``text`` of an ignore file."""
    return Rules(base, tuple(_patterns(text.split("\n")))[::-1])


def ignores(rules: Iterable[Rules], path: str, *, directory: bool) -> bool:
    """Whether ``path`` is ignored; ``rules`` are those that apply to it, the strongest first."""
    for each in rules:
        below = path[each.base :]
        for glob, is_ignored in each.patterns:
            if glob.matches(below, is_folder=directory):
                return is_ignored
    return False


def _patterns(lines: Iterable[str]) -> Iterator[tuple[Glob, bool]]:
    """The pattern of each line; none for a comment and, as in git, for one that makes no sense."""
    for line in lines:
        pattern = _trimmed(line.rstrip("\r"))
        if not pattern.startswith("#"):
            glob = parse_glob(pattern.removeprefix("!"))
            if glob is not None:
                yield glob, not pattern.startswith("!")


def _trimmed(line: str) -> str:
    """A line without the spaces at its end; one behind a backslash stays."""
    trimmed = line.rstrip(" ")
    is_escaped = (len(trimmed) - len(trimmed.rstrip("\\"))) % 2
    return trimmed + line[len(trimmed) :][:is_escaped]
