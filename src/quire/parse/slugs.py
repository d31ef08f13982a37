"""Heading text to slugs: the ASCII ones in ids, and the ones GitHub gives its anchors. Used by outline.py."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_NOT_ID = re.compile(r"[^a-z0-9_\- ]+")
_ID_GAP = re.compile(r"[- ]+")
_NOT_ANCHOR_ASCII = re.compile(r"[^a-z0-9_\- ]+")
_WHITESPACE = re.compile(r"[\t\r\n\x0b\x0c]")


def ascii_slug(title: str) -> str:
    """Lower case ASCII letters, digits and underscores, single hyphens between; ``heading`` when none is left."""
    text = _WHITESPACE.sub(" ", title.lower())
    return _ID_GAP.sub("-", _NOT_ID.sub("", text)).strip("-") or "heading"


def github_slug(title: str) -> str:
    """GitHub's rule: letters, marks, digits and connectors of any script are kept, each space is a hyphen."""
    text = title.lower()
    kept = _NOT_ANCHOR_ASCII.sub("", text) if text.isascii() else "".join(filter(_in_anchor, text))
    return kept.replace(" ", "-")


def _in_anchor(char: str) -> bool:
    return char in " -" or char.isalnum() or unicodedata.category(char) in ("Mn", "Mc", "Me", "Pc", "Nd", "Nl")


class Unique:
    """Hands out slugs, no two equal: a taken one gets the next free suffix, from ``-1`` on."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        self._rule = rule
        self._next_suffix: dict[str, int] = {}

    def __call__(self, title: str) -> str:
        base = slug = self._rule(title)
        taken = self._next_suffix
        if slug in taken:
            suffix = taken[base]
            while (slug := f"{base}-{suffix}") in taken:
                suffix += 1
            taken[base] = suffix + 1
        taken[slug] = 1
        return slug
