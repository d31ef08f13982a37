"""Which documents a pattern means. Pure. Used by ``find`` to look only there, and to list documents.

As in ``.gitignore`` (``read.globs``), and what fits a folder fits all in it. ``docs:guides/**`` is for the tree
``docs`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.read.globs import covers


def fits(tree: str, path: str, patterns: Iterable[str]) -> bool:
    """Whether a document is one of those that any of the patterns means."""
    return covers(path, (pattern.removeprefix(f"{tree}:") for pattern in patterns))


def escaped(path: str) -> str:
    """The pattern that means a file or folder with exactly this path."""
    return "/" + re.sub(r"[*?\[\\]", r"\\\g<0>", path.lstrip("/"))
