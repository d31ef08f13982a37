"""Headings to sections: the tree of the document.

The parent of a heading is the nearest heading before it of a lower depth. Its body ends at the next heading; its
section ends at the next one of the same or a lower depth. A heading without text anywhere below it makes no node; if
none makes one, the body of the document itself is the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from operator import lt

from quire.model import BlockColumns, Note, SectionColumns, Source, doc_name
from quire.offsets import trimmed
from quire.parsing.slugs import unique_slugs
from quire.parsing.titles import Headings
from quire.substitutions import title_text

_LINE_END = re.compile(r"\r\n|\r|\n|\Z")


def document_title(source: Source, headings: Headings, title: str | None) -> str:
    """The caller's title, else front matter's, else the first H1, else the file name, else empty."""
    if title is not None:
        return title
    stated = source.frontmatter.get("title")
    if type(stated) in (str, int, float) and (words := str(stated).split()):
        return title_text(" ".join(words), source.substitutions)
    first = headings.titles[headings.levels.index(1)] if 1 in headings.levels else ""
    return first if first or source.path is None else doc_name(source.path.rstrip("/").rpartition("/")[2])


def section_columns(source: Source, blocks: BlockColumns, headings: Headings, title: str) -> SectionColumns:
    """The document's own section, then one for each heading."""
    text, size = source.text, len(source.text)
    _, block_starts, block_ends, _ = blocks
    numbers = [-1, *headings.blocks]
    starts = [0, *[block_starts[number] for number in headings.blocks]]
    depths = [0, *headings.levels]
    parents, ends = [-1], [size] * len(starts)
    body_starts = [0, *_next_lines(text, [block_ends[number] for number in headings.blocks])]
    text_starts, text_ends = body_starts[:], body_starts[:]
    pasts = [*headings.blocks[1:], len(block_starts)] if headings.blocks else []
    above = [0]
    for section, (depth, number, past) in enumerate(zip(headings.levels, headings.blocks, pasts, strict=True), 1):
        while depths[above[-1]] >= depth:
            ends[above.pop()] = starts[section]
        parents.append(above[-1])
        above.append(section)
        if past - number > 1:
            text_starts[section], text_ends[section] = block_starts[number + 1], block_ends[past - 1]
    text_ends[0] = 1  # the document is always a node
    positions = _positions(text_starts, text_ends, ends)
    first = source.text_start
    text_starts[0], text_ends[0] = trimmed(text, first, max(first, starts[1] if max(positions) else size))
    slugs, anchors = unique_slugs(headings.titles, headings.ids)
    return SectionColumns(
        starts, depths, parents, ends, body_starts, text_starts, text_ends, positions,
        [title, *headings.titles], ["", *headings.ids], ["", *slugs], ["", *anchors], numbers,
    )  # fmt: skip


def _next_lines(text: str, positions: Sequence[int]) -> list[int]:
    """Where the line after each position starts."""
    if "\r" in text:
        return [match.end() for position in positions if (match := _LINE_END.search(text, position))]
    size, find = len(text), text.find
    return [find("\n", position) + 1 or size for position in positions]


def _positions(text_starts: list[int], text_ends: list[int], ends: list[int]) -> list[int]:
    """The position of each section among the nodes: the document, and each heading with text anywhere below it."""
    has_text = list(map(lt, text_starts, text_ends))
    if all(has_text):
        return list(range(len(ends)))
    next_text = ends[0] + 1
    for section in range(len(ends) - 1, 0, -1):
        if has_text[section]:
            next_text = text_starts[section]
        else:
            has_text[section] = next_text < ends[section]
    return [count - 1 if is_node else -1 for count, is_node in zip(accumulate(has_text), has_text, strict=True)]


def empty_headings(sections: SectionColumns) -> list[Note]:
    """A note for each heading that makes no node."""
    if -1 not in sections.positions:
        return []
    message = "heading {!r} has no text below it; it makes no node of its own"
    return [
        (start, "heading-without-text", message.format(title))
        for start, title, position in zip(sections.starts, sections.titles, sections.positions, strict=True)
        if position < 0
    ]
