"""Heading text to slugs: the ASCII ones in ids, and the ones GitHub gives its anchors. Used by outline.py."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_NOT_KEPT = re.compile(r"[^a-z0-9_\- ]+")
_KEPT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_ASCII_ANCHOR = {
    code: "-" if chr(code) == " " else chr(code).lower() if chr(code).lower() in _KEPT else None for code in range(128)
}
_KEPT_CATEGORIES = frozenset({"Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_CIRCLED_AND_SQUARED = re.compile(r"[\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]")
"""The symbols that Unicode calls alphabetic: Latin letters in circles and squares."""
_GAP = re.compile(r"[- ]+")
_WHITE = re.compile(r"[\t\r\n\x0b\x0c]")


def slugs(title: str) -> tuple[str, str]:
    """The ASCII slug and GitHub's slug of a title."""
    anchor = github_slug(title)
    if title.isascii() and title.isprintable() and "--" not in anchor:
        return anchor.strip("-") or "heading", anchor  # where the rules differ only at the ends
    return ascii_slug(title), anchor


def ascii_slug(title: str) -> str:
    """Lower case ASCII letters, digits and underscores, single hyphens between; ``heading`` when none is left."""
    text = _WHITE.sub(" ", title.lower())
    return _GAP.sub("-", _NOT_KEPT.sub("", text)).strip("-") or "heading"


def github_slug(title: str) -> str:
    """GitHub's rule: letters, marks, decimal digits and connectors of any script are kept, each space is a hyphen.

    A letter is what Unicode calls alphabetic. Superscripts, fractions and digits in circles are none of these.
    """
    if title.isascii():
        return title.translate(_ASCII_ANCHOR)
    return "".join(filter(_in_anchor, title.lower())).replace(" ", "-")


def _in_anchor(char: str) -> bool:
    if char.isalpha() or char in " -" or unicodedata.category(char) in _KEPT_CATEGORIES:
        return True
    return _CIRCLED_AND_SQUARED.match(char) is not None


def unique_slugs(titles: Iterable[str]) -> tuple[list[str], list[str]]:
    """The ASCII slugs and GitHub's slugs of a document's headings, no two of a kind equal."""
    unique_slug, unique_anchor = Unique(), Unique()
    ascii_slugs, anchors = [], []
    for slug, anchor in map(slugs, titles):
        ascii_slugs.append(unique_slug(slug))
        anchors.append(unique_anchor(anchor))
    return ascii_slugs, anchors


class Unique:
    """Hands out slugs, no two equal: a taken one gets the next free suffix, from ``-1`` on."""

    def __init__(self) -> None:
        self._next_suffix: dict[str, int] = {}

    def __call__(self, slug: str) -> str:
        """``slug``, or the next free one like it."""
        taken = self._next_suffix
        if slug in taken:
            base, suffix = slug, taken[slug]
            while (slug := f"{base}-{suffix}") in taken:
                suffix += 1
            taken[base] = suffix + 1
        taken[slug] = 1
        return slug
