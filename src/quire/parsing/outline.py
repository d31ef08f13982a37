"""Headings to sections: the tree of the document. Before: blocks.py finds the headings. After: split/.

A heading belongs to the nearest heading before it of a lower depth. Its body ends at the next heading; what
belongs to it ends at the next one of the same or a lower depth. A heading with no text anywhere below it makes
no node; if none makes one, the document itself holds the whole text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from quire.model import BLANK, Finding, Section, Source
from quire.offsets import lines_at, trimmed
from quire.parsing.slugs import Slugs


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


def title_of(source: Source, headings: Sequence[Heading], given: str | None) -> str:
    """The caller's title, else front matter's, else the first H1, else the file name, else empty."""
    if given is not None:
        return given
    stated = _as_title(source.frontmatter.get("title"))
    if stated:
        return stated
    first = next((heading.title for heading in headings if heading.level == 1), "")
    if first or source.path is None:
        return first
    name = PurePosixPath(source.path).name
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name


def _as_title(value: Any) -> str:
    usable = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if usable else ""


def build(source: Source, headings: Sequence[Heading], title: str) -> tuple[Section, ...]:
    """The document's own section, then one for each heading, in order."""
    text, size = source.text, len(source.text)
    if not headings:
        return (_root(source, title, size, Slugs(())),)
    levels, titles, starts, body_starts = zip(*headings, strict=True)
    body_ends = (*starts[1:], size)
    ends = _subtree_ends(levels, starts, size)
    texts = _texts(text, body_starts, body_ends)
    has_text = _has_text(texts, ends)
    slugs = Slugs(titles)
    sections = [_root(source, title, starts[0] if True in has_text else size, slugs)]
    above = [(0, 0)]  # depth and number of the sections that are open
    position = 0
    new = tuple.__new__  # twice as fast as the class itself, and there may be a million
    for number, (level, start, body_start, body_end, end, (text_start, text_end), is_node) in enumerate(
        zip(levels, starts, body_starts, body_ends, ends, texts, has_text, strict=True), start=1
    ):
        while above[-1][0] >= level:
            above.pop()
        position += is_node
        sections.append(
            new(Section, (number, level, titles[number - 1], start, body_start, body_end, end, text_start, text_end,
                          above[-1][1], position if is_node else None, slugs))
        )  # fmt: skip
        above.append((level, number))
    return tuple(sections)


def _texts(text: str, starts: Sequence[int], ends: Sequence[int]) -> list[tuple[int, int]]:
    """Where the text between each start and end starts and ends without blank lines around it."""
    found: list[tuple[int, int]] = []
    for start, end in zip(starts, ends, strict=True):
        inner = text[start:end].rstrip(BLANK)
        after_empty_lines = inner.lstrip("\n")
        if not after_empty_lines or after_empty_lines[0] in " \t\r":
            found.append(trimmed(text, start, end))
        else:  # the usual case
            last = start + len(inner)
            found.append((last - len(after_empty_lines), last))
    return found


def _root(source: Source, title: str, body_end: int, slugs: Slugs) -> Section:
    first = source.text_start
    text = trimmed(source.text, first, max(first, body_end))
    return Section(0, 0, title, 0, 0, body_end, len(source.text), *text, None, 0, slugs)


def _subtree_ends(levels: Sequence[int], starts: Sequence[int], size: int) -> list[int]:
    """For each heading, where the next one of the same or a lower depth starts."""
    ends = [size] * len(levels)
    waiting: list[int] = []
    for index, level in enumerate(levels):
        while waiting and levels[waiting[-1]] >= level:
            ends[waiting.pop()] = starts[index]
        waiting.append(index)
    return ends


def _has_text(texts: Sequence[tuple[int, int]], ends: Sequence[int]) -> list[bool]:
    """For each heading, whether there is text besides headings anywhere below it."""
    found = [start < end for start, end in texts]
    if all(found):
        return found
    next_text = max(ends) + 1
    for index in range(len(texts) - 1, -1, -1):
        if found[index]:
            next_text = texts[index][0]
        else:
            found[index] = next_text < ends[index]
    return found


def findings(source: Source, sections: Sequence[Section]) -> tuple[Finding, ...]:
    """One finding for each heading that makes no node."""
    empty = [section for section in sections if section.position is None]
    if not empty:
        return ()
    lines = lines_at(source.text, [section.start for section in empty])
    return tuple(
        Finding(
            code="heading-without-text",
            path=source.name,
            line=line,
            message=f"heading {section.title!r} has no text below it; it makes no chunk of its own",
        )
        for section, line in zip(empty, lines, strict=True)
    )
