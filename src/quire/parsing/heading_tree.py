"""Headings to sections: the tree of the document.

The parent of a heading is the nearest heading before it of a lower depth. Its body ends at the next heading; its
section ends at the next one of the same or a lower depth. A heading without text anywhere below it makes no node; if
none makes one, the body of the document itself is the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, chain, islice

from quire.model import Block, Note, Section, Source, doc_name
from quire.offsets import trimmed
from quire.parsing.slugs import unique_slugs

_LINE_END = re.compile(r"\r\n|\r|\n|\Z")


def document_title(source: Source, headings: Sequence[Block], title: str | None) -> str:
    """The caller's title, else front matter's, else the first H1, else the file name, else empty."""
    if title is not None:
        return title
    stated = source.frontmatter.get("title")
    if isinstance(stated, str | int | float) and not isinstance(stated, bool) and str(stated).split():
        return " ".join(str(stated).split())
    first = next((heading.info for heading in headings if heading.level == 1), "")
    return first if first or source.path is None else doc_name(source.path.rstrip("/").rpartition("/")[2])


def sections(source: Source, blocks: Sequence[Block], headings: Sequence[int], title: str) -> tuple[Section, ...]:
    """The document's own section, then one for each heading; ``headings`` are numbers of ``blocks``."""
    text, size = source.text, len(source.text)
    if not headings:
        return (_root(source, title, size),)
    found = [blocks[number] for number in headings]
    starts, levels, titles = [each[1] for each in found], [each[3] for each in found], [each[4] for each in found]
    body_starts = _next_lines(text, [each[2] for each in found])
    text_starts, text_ends = _texts(blocks, headings, body_starts)
    ends, parents = _tree(levels, starts, size)
    has_text = _has_text(text_starts, text_ends, ends)
    numbers = list(range(1, len(headings) + 1))
    positions: Sequence[int | None] = numbers
    if not all(has_text):
        counted = zip(accumulate(map(int, has_text)), has_text, strict=True)
        positions = [position if is_node else None for position, is_node in counted]
    rows = zip(
        numbers, levels, titles, starts, body_starts, chain(islice(starts, 1, None), (size,)), ends, text_starts,
        text_ends, parents, positions, *unique_slugs(titles, [each[6] for each in found])[:2], strict=True,
    )  # fmt: skip
    root = _root(source, title, starts[0] if True in has_text else size)
    return (root, *map(partial(tuple.__new__, Section), rows))  # twice as fast as calling the class


def _root(source: Source, title: str, body_end: int) -> Section:
    first = source.text_start
    text = trimmed(source.text, first, max(first, body_end))
    return Section(0, 0, title, 0, 0, body_end, len(source.text), *text, None, 0, "", "")


def _next_lines(text: str, positions: Sequence[int]) -> list[int]:
    """Where the line after each position starts."""
    if "\r" in text:
        return [match.end() for position in positions if (match := _LINE_END.search(text, position))]
    size, find = len(text), text.find
    return [find("\n", position) + 1 or size for position in positions]


def _texts(blocks: Sequence[Block], headings: Sequence[int], body_starts: list[int]) -> tuple[list[int], list[int]]:
    """Where the text below each heading starts and ends without blank lines around it: its first and last block."""
    text_starts, text_ends = body_starts[:], body_starts[:]
    for index, (number, following) in enumerate(zip(headings, (*headings[1:], len(blocks)), strict=True)):
        if following - number > 1:
            start = text_starts[index] = blocks[number + 1][1]
            text_ends[index] = blocks[following - 1][2]
            if start == body_starts[index]:
                body_starts[index] = start  # one integer, not two: there may be a million
    return text_starts, text_ends


def _tree(levels: Sequence[int], starts: Sequence[int], size: int) -> tuple[list[int], list[int]]:
    """For each heading, where the next one of the same or a lower depth starts, and the number of its parent."""
    ends, parents = [size] * len(levels), [0] * len(levels)
    above: list[int] = []
    for index, level in enumerate(levels):
        while above and levels[above[-1]] >= level:
            ends[above.pop()] = starts[index]
        if above:
            parents[index] = above[-1] + 1
        above.append(index)
    return ends, parents


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


def empty_headings(sections: Sequence[Section]) -> list[Note]:
    """A note for each heading that makes no node."""
    message = "heading {!r} has no text below it; it makes no node of its own"
    return [
        (section.start, "heading-without-text", message.format(section.title))
        for section in sections
        if section.position is None
    ]
