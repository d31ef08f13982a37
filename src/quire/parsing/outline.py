"""Headings to sections: the tree of the document. Before: headings.py or scan.py finds the headings. After: split/.

A heading belongs to the nearest heading before it of a lower depth. Its body ends at the next heading; what
belongs to it ends at the next one of the same or a lower depth. A heading with no text anywhere below it makes
no node; if none makes one, the document itself holds the whole text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, count
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from quire.blank import BLANK, trimmed
from quire.crumbs import cut
from quire.model import Finding, Section, Source, doc_name, findings_at
from quire.parsing.slugs import unique_slugs

MAX_TITLE = 1_000
"""The most characters of a title: every record below a heading repeats it."""


class Heading(NamedTuple):
    """A heading at document level."""

    level: int
    """1 to 6."""
    title: str
    """Its plain text."""
    start: int
    """The start of its line."""
    end: int
    """After its line's end; a setext heading's underline included."""


def short_titles(
    source: Source, headings: Sequence[Heading], given: str | None
) -> tuple[Sequence[Heading], str, list[Finding]]:
    """The headings and the document's title, cut to ``MAX_TITLE`` characters, and a finding for each that was cut."""
    long = [(heading.start, heading.title) for heading in headings if len(heading.title) > MAX_TITLE]
    if long:
        headings = [heading._replace(title=cut(heading.title, MAX_TITLE)) for heading in headings]
    title = _title_of(source, headings, given)
    if len(title) > MAX_TITLE:
        long.insert(0, (0, title))
    message = "title of {:,} characters; records have the first {:,}"
    notes = [(start, "title-shortened", message.format(len(each), MAX_TITLE)) for start, each in long]
    return headings, cut(title, MAX_TITLE), findings_at(source, notes)


def _title_of(source: Source, headings: Sequence[Heading], given: str | None) -> str:
    """The caller's title, else front matter's, else the first H1, else the file name, else empty."""
    if given is not None:
        return given
    stated = _as_title(source.frontmatter.get("title"))
    if stated:
        return stated
    first = next((heading.title for heading in headings if heading.level == 1), "")
    if first or source.path is None:
        return first
    return doc_name(PurePosixPath(source.path).name)


def _as_title(value: Any) -> str:
    usable = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if usable else ""


def build(source: Source, headings: Sequence[Heading], title: str) -> tuple[Section, ...]:
    """The document's own section, then one for each heading, in order."""
    text, size = source.text, len(source.text)
    if not headings:
        return (_root(source, title, size),)
    levels, titles, starts, body_starts = zip(*headings, strict=True)
    body_ends = (*starts[1:], size)
    ends, parents = _tree(levels, starts, size)
    text_starts, text_ends = _texts(text, body_starts, body_ends)
    has_text = _has_text(text_starts, text_ends, ends)
    rows = zip(
        count(1), levels, titles, starts, body_starts, body_ends, ends, text_starts, text_ends, parents,
        _positions(has_text), *unique_slugs(titles),
    )  # fmt: skip
    new = tuple.__new__  # twice as fast as the class itself, and there may be a million
    root = _root(source, title, starts[0] if True in has_text else size)
    return (root, *[new(Section, row) for row in rows])


def _tree(levels: Sequence[int], starts: Sequence[int], size: int) -> tuple[list[int], list[int]]:
    """For each heading, where the next one of the same or a lower depth starts, and the number of the one above it."""
    ends, parents = [size] * len(levels), [0] * len(levels)
    above: list[int] = []
    for index, level in enumerate(levels):
        while above and levels[above[-1]] >= level:
            ends[above.pop()] = starts[index]
        if above:
            parents[index] = above[-1] + 1
        above.append(index)
    return ends, parents


def _texts(text: str, starts: Sequence[int], ends: Sequence[int]) -> tuple[list[int], list[int]]:
    """Where the text between each start and end starts and ends without blank lines around it."""
    text_starts, text_ends = [], []
    for start, end in zip(starts, ends, strict=True):
        inner = text[start:end].rstrip(BLANK)
        after_empty_lines = inner.lstrip("\n")
        if after_empty_lines and after_empty_lines[0] not in " \t\r":  # the usual case
            last = start + len(inner)
            first = last - len(after_empty_lines)
        else:
            first, last = trimmed(text, start, end)
        text_starts.append(first)
        text_ends.append(last)
    return text_starts, text_ends


def _positions(has_text: Sequence[bool]) -> Iterable[int | None]:
    """The places of the headings among the nodes; None for one that makes no node."""
    if all(has_text):
        return count(1)
    return [place if is_node else None for place, is_node in zip(accumulate(map(int, has_text)), has_text, strict=True)]


def _root(source: Source, title: str, body_end: int) -> Section:
    first = source.text_start
    text = trimmed(source.text, first, max(first, body_end))
    return Section(0, 0, title, 0, 0, body_end, len(source.text), *text, None, 0, "", "")


def _has_text(starts: Sequence[int], text_ends: Sequence[int], ends: Sequence[int]) -> list[bool]:
    """For each heading, whether there is text besides headings anywhere below it."""
    found = [start < end for start, end in zip(starts, text_ends, strict=True)]
    if all(found):
        return found
    next_text = max(ends) + 1
    for index in range(len(found) - 1, -1, -1):
        if found[index]:
            next_text = starts[index]
        else:
            found[index] = next_text < ends[index]
    return found


def findings(source: Source, sections: Sequence[Section]) -> tuple[Finding, ...]:
    """One finding for each heading that makes no node."""
    empty = [section for section in sections if section.position is None]
    if not empty:
        return ()
    message = "heading {!r} has no text below it; it makes no node of its own"
    notes = [(section.start, "heading-without-text", message.format(section.title)) for section in empty]
    return tuple(findings_at(source, notes))
