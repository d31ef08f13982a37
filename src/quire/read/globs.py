"""Patterns for paths, by the rules of ``.gitignore``.

``*`` and ``?`` match within one name, ``**`` matches any number of folders. A pattern with a slash in front or inside
starts at the top folder; any other matches at every depth. A slash at the end limits a pattern to folders.

Matching takes linear time in the pattern and in the path: the first position where the text between two stars matches
is as good as any later one, so the expression never backtracks behind it (``(?>…)``).
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from quire.patterns import pattern

_LONGEST = 8_192
"""A longer pattern matches nothing: no path is so long."""
_TOKEN = pattern(
    r"\\(?P<escaped>.)|(?P<star>\*+)|(?P<any>\?)|\[(?P<negated>[!^]?)(?P<members>\]?+(?:\\.|[^\]\\])*+)\]|[^\\\[]",
    re.DOTALL,
)
_MEMBER = pattern(r"\\?(.)(?:-\\?(.))?", re.DOTALL)
_ESCAPED_SLASH = pattern(r"(\\[^/])|(?<=.)\\/(?=.)")
_FOLDERS = "(?:[^/]*+/)*?"


class Glob(NamedTuple):
    """A pattern as a regular expression without groups."""

    expression: str
    is_for_folders: bool
    is_name: bool
    """Whether ``expression`` is for the last name of a path, at any depth, rather than for the whole path."""


@lru_cache(maxsize=1024)
def parse(pattern: str) -> Glob | None:
    """The parsed pattern; None if nothing can match it, as with a bracket that is not closed."""
    pattern = re.sub(r"\*{3,}", "**", pattern)
    if len(pattern) > _LONGEST:
        return None
    pattern = _ESCAPED_SLASH.sub(lambda found: found[1] or "/", pattern)
    name = pattern.removesuffix("/")
    names = name.removeprefix("/").split("/")
    if names[-1] == "**":
        names.append("*")
    is_name = "/" not in name and len(names) == 1
    try:
        return Glob(_expression(names), is_for_folders=name != pattern, is_name=is_name)
    except ValueError:
        return None


def covers(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns matches a path or one of its folders; a folder's path ends with a slash."""
    return any(_covers(path, pattern) for pattern in patterns)


def _covers(path: str, pattern: str) -> bool:
    if pattern.startswith(("./", "/")):
        pattern = f"/{pattern.removeprefix('./').lstrip('/')}"
    if pattern in ("", "/"):
        return True
    glob = parse(pattern)
    if glob is None:
        return False
    found = re.match(f"{_FOLDERS * glob.is_name}{glob.expression}", path)
    return found is not None and not (glob.is_for_folders and found.end() == len(path))


def _expression(names: list[str]) -> str:
    made = ""
    is_anywhere = False
    groups = [(is_stars, list(group)) for is_stars, group in groupby(names, lambda name: name == "**")]
    for number, (is_stars, group) in enumerate(groups, start=1):
        if not is_stars:
            body = (_FOLDERS if is_anywhere else "") + "/".join(map(_name, group))
            made += body if number == len(groups) else f"(?>{body}/)"
        is_anywhere = is_stars
    return made


def _name(pattern: str) -> str:
    """The expression for the part of a pattern between two slashes."""
    if not pattern:
        raise ValueError("no name is empty")
    parts = [""]
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise ValueError("a bracket is not closed, or nothing follows a backslash")
        if token["star"]:
            parts.append("")
        else:
            parts[-1] += _character(token)
        at = token.end()
    first, *middle, last = parts if len(parts) > 1 else (parts[0], "")
    stars = "".join(f"(?>[^/]*?{part})" for part in middle) + ("[^/]*" if len(parts) > 1 else "")
    return f"(?>{first}{stars}{last}(?=/|\\Z))"


def _character(token: re.Match[str]) -> str:
    if token["any"]:
        return "[^/]"
    if token["members"] is None:
        return re.escape(token["escaped"] or token[0])
    members = "".join(
        f"{re.escape(first)}-{re.escape(max(first, last))}" for first, last in _MEMBER.findall(token["members"])
    )
    return f"(?!/)[{'^' * bool(token['negated'])}{members}]"
