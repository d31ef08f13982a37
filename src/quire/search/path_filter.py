"""Which documents a path pattern matches. Patterns are as in ``.gitignore`` (``read.ignore``).

A pattern that matches a folder matches everything in it. ``docs:guides/**`` is for the tree ``docs`` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from quire.read.ignore import covers


def matches_path(tree: str, path: str, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns matches a document."""
    return covers(path, (pattern.removeprefix(f"{tree}:") for pattern in patterns))


def literal_pattern(path: str) -> str:
    """The pattern for exactly this file or folder."""
    return "/" + re.sub(r"[*?\[\\]", r"\\\g<0>", path.lstrip("/"))
