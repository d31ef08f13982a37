"""Which documents a pattern means. Pure. Used by ``find`` to look only there, and to list documents.

As in ``.gitignore`` (``read.globs``), and what fits a folder fits all in it. ``docs:guides/**`` is for the tree
``docs`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_REPEATED = re.compile(r"(?:\*\*/)++")
_PIECES = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


def fits(tree: str, path: str, patterns: Iterable[str]) -> bool:
    """Whether a document is one of those that any of the patterns means."""
    return any(_fits(tree, path, pattern) for pattern in patterns)


def escaped(path: str) -> str:
    """The pattern that means a file or folder with exactly this path."""
    return "/" + re.sub(r"[*?\[\\]", r"\\\g<0>", path.lstrip("/"))


def _fits(tree: str, path: str, pattern: str) -> bool:
    own = pattern.removeprefix(f"{tree}:")
    return _compiled(own).match(path) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    pattern = _REPEATED.sub("**/", pattern)  # each one more would be tried with all others
    name = pattern.removesuffix("/")
    folder_only = name != pattern
    anchored = "/" in name
    body = "".join(_translated(piece) for piece in _PIECES.findall(name.removeprefix("./").lstrip("/")))
    lead = "" if anchored else "(?:.*/)?"
    return re.compile(f"{lead}{body}{'/' if folder_only and body else '(?:/|$)' if body else ''}", re.DOTALL)


def _translated(piece: str) -> str:
    if piece == "**/":
        return "(?:.*/)?"
    if piece == "**":
        return ".*"
    if piece == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if len(piece) > 1:
        inside = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside.replace('^', chr(92) + '^')}]"
    return re.escape(piece)
