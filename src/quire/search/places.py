"""Which documents a pattern means. Pure. Used by ``find`` to look only there, and to list documents.

As in ``.gitignore`` (``read.globs``), and what fits a folder fits all in it. ``docs:guides/**`` is for the tree
``docs`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.read.globs import parse


def fits(tree: str, path: str, patterns: Iterable[str]) -> bool:
    """Whether a document is one of those that any of the patterns means."""
    return any(_fits(tree, path, pattern) for pattern in patterns)


def escaped(path: str) -> str:
    """The pattern that means a file or folder with exactly this path."""
    return "/" + re.sub(r"[*?\[\\]", r"\\\g<0>", path.lstrip("/"))


def _fits(tree: str, path: str, pattern: str) -> bool:
    own = pattern.removeprefix(f"{tree}:")
    if own.startswith(("./", "/")):
        own = f"/{own.removeprefix('./').lstrip('/')}"
    if own in ("", "/"):
        return True
    glob = parse(own)
    return glob is not None and glob.covers(path)
