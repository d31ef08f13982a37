"""Ignore files, by git's rules. Called by ``discover`` for every directory that has some; pathspec reads patterns.

``discover`` walks downwards and does not enter what is ignored, so an entry is judged by itself, as git does:
the last pattern that matches it decides, deeper files over shallower ones, ``.quireignore`` over ``.gitignore``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

NAMES = (".gitignore", ".quireignore")
"""The ignore files of a directory; the later one wins."""


class Rules(NamedTuple):
    """The patterns of one ignore file, last one first."""

    base: int
    """How many characters of a path lead to the ignore file's directory."""
    for_files: tuple[GitIgnoreSpecPattern, ...]
    """Those that can match a file."""
    for_directories: tuple[GitIgnoreSpecPattern, ...]
    """Those that can match a directory."""


def parse(text: str, base: int) -> Rules:
    """The rules in the ``text`` of an ignore file."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    # A slash at the end limits a pattern to directories. pathspec would let it match all that is below as well.
    files = [line for line in lines if not _trimmed(line).endswith("/")]
    directories = [_trimmed(line)[:-1] if _trimmed(line).endswith("/") else line for line in lines]
    return Rules(base, _patterns(files), _patterns(directories))


def ignores(rules: Iterable[Rules], path: str, *, directory: bool) -> bool:
    """Whether ``path`` is ignored; ``rules`` are those that apply to it, the strongest first."""
    path = path.replace("\n", "\0")  # no pattern has either, and the regular expressions stop at line ends
    for each in rules:
        below = path[each.base :]
        for pattern in each.for_directories if directory else each.for_files:
            result = pattern.match_file(below)
            # The group is set where only a parent of the path matches; parents had their turn.
            if result is not None and not result.match.groupdict().get("ps_d"):
                return bool(pattern.include)
    return False


def _patterns(lines: Iterable[str]) -> tuple[GitIgnoreSpecPattern, ...]:
    found = [pattern for line in lines for pattern in _pattern(line)]
    return tuple(reversed(found))


def _pattern(line: str) -> tuple[GitIgnoreSpecPattern, ...]:
    """The pattern in a line; none for a comment and, as in git, for one that makes no sense."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415  most directories have no ignore file

    try:
        patterns = GitIgnoreSpec.from_lines([line]).patterns
    except (ValueError, re.error):
        return ()
    return tuple(pattern for pattern in patterns if pattern.include is not None)


def _trimmed(line: str) -> str:
    return line if line.endswith("\\ ") else line.rstrip(" \t")
