"""Heading text to slugs: the ASCII ones in ids, and the ones GitHub gives its anchors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_NOT_KEPT = re.compile(r"[^a-z0-9_\- ]+")
_KEPT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_ASCII_ANCHOR = {
    code: "-" if chr(code) == " " else chr(code).lower() if chr(code).lower() in _KEPT else None for code in range(128)
}
_ASCII_ANCHORS = _ASCII_ANCHOR | {10: "\n"}
_KEPT_CATEGORIES = frozenset({"Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_CIRCLED_AND_SQUARED = re.compile(r"[\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]")
"""The symbols that Unicode calls alphabetic: Latin letters in circles and squares."""
_GAP = re.compile(r"[- ]+")
_WHITE = re.compile(r"[\t\r\n\x0b\x0c]")


def unique_slugs(titles: Sequence[str]) -> tuple[list[str], list[str]]:
    """The ASCII slugs and GitHub's slugs of all headings; a taken slug gets the next free suffix, from ``-1`` on."""
    joined = "\n".join(titles)
    if joined.isascii() and joined.replace("\n", "").isprintable() and joined.count("\n") == len(titles) - 1:
        anchors = joined.translate(_ASCII_ANCHORS).split("\n")  # all at once is faster
        # Equal strings are shared: there may be a million.
        anchors = [title if title == anchor else anchor for title, anchor in zip(titles, anchors, strict=True)]
        in_ids = [  # without double hyphens, the two rules differ only at the ends
            ascii_slug(title) if "--" in anchor else anchor.strip("-") or "heading"
            for title, anchor in zip(titles, anchors, strict=True)
        ]
    else:
        in_ids, anchors = [ascii_slug(title) for title in titles], [github_slug(title) for title in titles]
    unique = _unique(in_ids)
    return unique, unique if in_ids == anchors else _unique(anchors)


def _unique(wanted: Iterable[str]) -> list[str]:
    next_suffix: dict[str, int] = {}
    unique: list[str] = []
    for base in wanted:
        slug = base
        if base in next_suffix:
            suffix = next_suffix[base]
            while (slug := f"{base}-{suffix}") in next_suffix:
                suffix += 1
            next_suffix[base] = suffix + 1
        next_suffix[slug] = 1
        unique.append(slug)
    return unique


def ascii_slug(title: str) -> str:
    """Lower case ASCII letters, digits and underscores, with single hyphens; ``heading`` when none is left."""
    text = _WHITE.sub(" ", title.lower())
    return _GAP.sub("-", _NOT_KEPT.sub("", text)).strip("-") or "heading"


def github_slug(title: str) -> str:
    """GitHub's rule: letters, marks, decimal digits and connectors of any script are kept, each space is a hyphen.

    A letter is what Unicode calls alphabetic. Superscripts, fractions and digits in circles are not kept.
    """
    if title.isascii():
        return title.translate(_ASCII_ANCHOR)
    return "".join(filter(_is_kept, title.lower())).replace(" ", "-")


def _is_kept(char: str) -> bool:
    if char.isalpha() or char in " -" or unicodedata.category(char) in _KEPT_CATEGORIES:
        return True
    return _CIRCLED_AND_SQUARED.match(char) is not None
