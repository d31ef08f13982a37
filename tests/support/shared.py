"""The data that lives beside the repository and is never copied into it: real documents and CommonMark's examples.

Where it is missing, tests that need it are skipped with a reason that names the place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["commonmark_examples", "documents", "needs_shared", "shared_data"]

_ROOT = Path(__file__).resolve().parents[2]
_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})


def _place() -> Path:
    """Where the data should be: `QUIRE_SHARED`, else `shared/data` beside the repository."""
    named = os.environ.get("QUIRE_SHARED")
    return Path(named) if named else _ROOT.parent / "shared" / "data"


def shared_data() -> Path | None:
    """The folder with the shared data, or None where there is none."""
    place = _place()
    return place if place.is_dir() else None


def _reason() -> str:
    return f"shared data not found at {_place()}; set QUIRE_SHARED"


needs_shared = pytest.mark.skipif(shared_data() is None, reason=_reason())
"""Marks a test, class or module that reads the shared data."""


def _required() -> Path:
    """The folder; without it the running test, or the module being imported, is skipped by name."""
    place = shared_data()
    if place is None:
        pytest.skip(_reason(), allow_module_level=True)
    return place


def documents() -> Iterator[tuple[str, bytes]]:
    """Every Markdown file there, as its path relative to the folder (with `/`) and its bytes, sorted by path."""
    place = _required()
    names = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.suffix.lower() in _SUFFIXES)
    for name in names:
        yield name, (place / name).read_bytes()


def commonmark_examples() -> list[dict[str, Any]]:
    """The examples of the CommonMark specification: `markdown`, `html`, `example`, `section` and line numbers."""
    path = _required() / "commonmark-0.31.2.json"
    if not path.is_file():
        pytest.skip(f"shared data has no {path.name} at {path.parent}; set QUIRE_SHARED", allow_module_level=True)
    examples: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return examples
