"""Patterns for paths, by the rules of git; ``.gitignore`` and ``.quireignore``.

Matching takes linear time in the pattern and in the path: the first position where the text between two stars matches
is as good as any later one, so the expression never backtracks behind it (``(?>…)``).
"""

import codecs
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from quire.model.document import BOM
from quire.model.patterns import pattern
from quire.read.source import decode, read_configuration

NAMES = (".gitignore", ".quireignore")  # the later one wins
_LONGEST = 8_192  # a longer pattern matches nothing: no path is so long
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
    is_name: bool  # whether ``expression`` is for the last name of a path, at any depth, rather than for the whole path


@lru_cache(maxsize=1024)
def parse_glob(pattern: str) -> Glob | None:
    """The parsed pattern; None if nothing can match it, as with a bracket that is not closed."""
    pattern = re.sub(r"\*{3,}", "**", pattern)
    if len(pattern) > _LONGEST:
        return None
    pattern = _ESCAPED_SLASH.sub(lambda match: match[1] or "/", pattern)
    name = pattern.removesuffix("/")
    names = name.removeprefix("/").split("/")
    if names[-1] == "**":
        names.append("*")
    is_name = "/" not in name and len(names) == 1
    try:
        return Glob(_path_expression(names), is_for_folders=name != pattern, is_name=is_name)
    except ValueError:
        return None


def covers(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns matches a path or one of its folders; a folder's path ends with a slash."""
    for text in patterns:
        if text.startswith(("./", "/")):
            text = f"/{text.removeprefix('./').lstrip('/')}"  # noqa: PLW2901
        glob = parse_glob(text)
        match = glob and re.match(f"{_FOLDERS * glob.is_name}{glob.expression}", path)
        if text in ("", "/") or (match and not (glob and glob.is_for_folders and match.end() == len(path))):
            return True
    return False


def _path_expression(names: list[str]) -> str:
    groups = [[*group] for is_stars, group in groupby(names, lambda name: name == "**") if not is_stars]
    bodies = ["/".join(map(_name, group)) for group in groups]
    bodies = [body if number == 0 and names[0] != "**" else _FOLDERS + body for number, body in enumerate(bodies)]
    return "".join(f"(?>{body}/)" for body in bodies[:-1]) + bodies[-1]


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


class Rules(NamedTuple):
    """The patterns of one ignore file, the last one first; one that does not ignore its matches has a group."""

    base: int  # the length of the path to the ignore file's directory
    files: re.Pattern[str]
    folders: re.Pattern[str]


def read(file: str, base: int) -> Rules:
    """The rules of an ignore file. Invalid bytes become what they are in file names."""
    data = read_configuration(Path(file))
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = decode(data, file)[0] if is_utf16 else data.decode("utf-8", "surrogateescape")
    lines = [_without_end(line.rstrip("\r")) for line in reversed(text.removeprefix(BOM).split("\n"))]
    globs = [(parse_glob(line.removeprefix("!")), line[:1] != "!") for line in lines if line[:1] != "#"]
    patterns = [(glob, is_ignored) for glob, is_ignored in globs if glob]
    files = [(glob, is_ignored) for glob, is_ignored in patterns if not glob.is_for_folders]
    return Rules(base, _expression(files), _expression(patterns))


def _without_end(line: str) -> str:
    kept = line.rstrip(" ")
    is_escaped = (len(kept) - len(kept.rstrip("\\"))) % 2  # a space behind a backslash stays
    return line[: len(kept) + is_escaped]


def ignores(rules: Iterable[Rules], path: str, *, directory: bool) -> bool:
    """Whether ``path`` is ignored by ``rules``, the strongest first."""
    for file in rules:
        match = (file.folders if directory else file.files).fullmatch(path, file.base)
        if match is not None:
            return match.lastindex is None
    return False


def _expression(patterns: Iterable[tuple[Glob, bool]]) -> re.Pattern[str]:
    """One expression for some patterns. Those for names are tried together, behind the folders of a path."""
    parts = []
    for is_name, group in groupby(patterns, lambda pattern: pattern[0].is_name):
        either = "|".join(glob.expression if is_ignored else f"{glob.expression}()" for glob, is_ignored in group)
        parts.append(f"(?:[^/]*+/)*+(?:{either})" if is_name else either)
    return re.compile("|".join(parts))
