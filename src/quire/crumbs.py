"""The breadcrumb: one line that says where a chunk stands. How it is written, and which one each section has.

Splitting keeps room for the full line, finishing writes it; both ask ``Breadcrumbs``, so they cannot disagree.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from quire.config import Options
from quire.counter import TokenCounter, adds_up
from quire.model import Document
from quire.offsets import utf8_length

Key = TypeVar("Key")
Value = TypeVar("Value")

SEPARATOR = " > "
LIMIT = 160
"""The longest breadcrumb line, in characters."""
ELLIPSIS = "…"
_LEAST = 10
"""A line with fewer characters says nothing."""
_NOT_COUNTED = -1
_MOST_KNOWN = 50_000
"""So many breadcrumbs are kept; those of a million sections would take more memory than the document."""


class Breadcrumbs:
    """The breadcrumbs of a document's sections, each made once; they take half of the cap at most."""

    def __init__(self, document: Document, counter: TokenCounter, options: Options) -> None:
        self._document = document
        self._count = counter.count
        self._is_off = options.breadcrumb_mode == "none"
        self._room = sys.maxsize if options.cap is None else options.cap // 2
        self._is_bounded = adds_up(counter)  # no text has more tokens than bytes
        self._sure = self._room if self._is_bounded or options.cap is None else 0  # so many bytes fit, uncounted
        self._titles: dict[int, tuple[str, ...]] = {}
        self._known: dict[int, tuple[str, int]] = {}
        self._reserves: dict[int, int] = {}

    def titles(self, section: int) -> tuple[str, ...]:
        """The headings that lead to a section, itself included."""
        known = self._titles.get(section)
        if known is None:
            heading = self._document.sections[section]
            known = (*self.titles(heading.parent), heading.title) if heading.parent is not None else ()
            keep(self._titles, section, known)
        return known

    def prefix(self, section: int) -> str:
        """A section's line, the document's title alone, with the blank line below it; nothing where none is wanted."""
        return self._of(section)[0]

    def tokens(self, section: int) -> int:
        """How many tokens the prefix has."""
        prefix, tokens = self._of(section)
        if tokens == _NOT_COUNTED:
            tokens = self._count(prefix)
            keep(self._known, section, (prefix, tokens))
        return tokens

    def reserve(self, section: int) -> int:
        """The most tokens that the prefix of a section, or of one above it, has."""
        known = self._reserves.get(section)
        if known is None:
            parent = self._document.sections[section].parent
            own = self.tokens(section)
            known = own if parent is None else max(own, self.reserve(parent))
            self._reserves[section] = known
        return known

    @cached_property
    def most(self) -> int:
        """No prefix has more tokens; for decisions that are clear without counting one."""
        if self._is_off:
            return 0
        return min(self._room, self._longest() + 2) if self._is_bounded else self._room

    def is_said_by(self, heading: str, section: int) -> bool:
        """Whether a heading says what the line of a section says."""
        prefix = self.prefix(section)
        if SEPARATOR in prefix and ">" not in heading:
            return False  # the line says more; the heading need not be made one to see that
        return prefix == self._fitted("", (heading,))[0]

    def _of(self, section: int) -> tuple[str, int]:
        known = self._known.get(section)
        if known is None:
            known = ("", 0) if self._is_off else self._fitted(self._document.title, self.titles(section))
            keep(self._known, section, known)
        return known

    def _fitted(self, title: str, titles: Sequence[str]) -> tuple[str, int]:
        """As much of the full line as there is room for, with the blank line below it, and its tokens.

        Nothing if there is no room for any. The tokens are counted only where its length does not say that it fits.
        """
        limit = LIMIT
        while limit >= _LEAST and (line := full_line(title, titles, limit)):
            prefix = f"{line}\n\n"
            if self._sure and utf8_length(prefix) <= self._sure:
                return prefix, _NOT_COUNTED
            tokens = self._count(prefix)
            if tokens <= self._room:
                return prefix, tokens
            limit //= 2
        return "", 0

    def _longest(self) -> int:
        """No line is longer, in bytes."""
        document, separator = self._document, len(SEPARATOR)
        lengths = [utf8_length(document.title)]
        for section in document.sections[1:]:
            lengths.append(lengths[section.parent or 0] + separator + utf8_length(section.title))
        return min(max(lengths), LIMIT * 4) + utf8_length(ELLIPSIS)


def keep(known: dict[Key, Value], key: Key, value: Value) -> None:
    """Remember what was found out about a breadcrumb, and forget the others when there are very many."""
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = value


def full_line(title: str, header_path: Sequence[str], limit: int = LIMIT) -> str:
    """``Title > Parent > Section``; the title is left out where it says what the first heading says."""
    segments = [title, *header_path] if title and (not header_path or header_path[0] != title) else [*header_path]
    line = SEPARATOR.join(segments)
    if len(line) <= limit and line.isprintable() and "  " not in line and line == line.strip():
        return line  # as almost always; a blank segment would leave two spaces, or one at an end
    return shorten(_lines(segments), limit)


def reader_line(title: str, header_path: Sequence[str], *, from_first: bool = True) -> str:
    """``> Title › Parent › Section``: the line that readers see above a section.

    The document's first heading is left out where it says what the title says; ``from_first`` says whether the path
    starts with that one.
    """
    below = header_path[1:] if from_first and header_path and header_path[0] == title else header_path
    return joined(_lines((title, *below)))


def joined(titles: Iterable[str]) -> str:
    """Titles that are in one line each, as the line that readers see."""
    return f"> {' › '.join(titles)}"


def one_line(text: str) -> str:
    """A title in one line; of one that is longer than any breadcrumb, as much as can be of use."""
    return " ".join(text[: 4 * LIMIT].split())


def shorten(segments: Sequence[str], limit: int = LIMIT) -> str:
    """The segments in one line of at most ``limit`` characters: the middle gives way, first and last stay."""
    line = SEPARATOR.join(segments)
    if len(line) <= limit or not segments:
        return line
    if len(segments) == 1:
        return cut(segments[0], limit)
    first, last = segments[0], segments[-1]
    for dropped in range(1, len(segments) - 1):
        line = SEPARATOR.join((first, ELLIPSIS, *segments[dropped + 1 :]))
        if len(line) <= limit:
            return line
    joint = SEPARATOR + ELLIPSIS + SEPARATOR if len(segments) > 2 else SEPARATOR
    return _fit_pair(first, last, joint, limit)


def _fit_pair(first: str, last: str, joint: str, limit: int) -> str:
    """First and last around ``joint``; what is too long is cut, the shorter one keeps all it can."""
    if len(first) + len(joint) + len(last) <= limit:
        return first + joint + last
    room = limit - len(joint)
    half = room // 2
    for_last = max(room - len(first), half)
    last = cut(last, for_last)
    return cut(first, room - len(last)) + joint + last


def cut(text: str, limit: int) -> str:
    """``text``, or as much of it as ``limit`` characters hold with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def _lines(segments: Iterable[str]) -> list[str]:
    """Each segment in one line; those without anything to read are left out."""
    return [line for segment in segments if (line := one_line(segment))]
