"""Text to blocks with exact positions. Before: standin.py. After: outline.py, and whoever asks for blocks.

The parser reports a stream of events, most of them about inline text; one walk picks out what stands at document
level, with the titles of the headings. The blocks themselves are made when somebody asks for them, and what is
inside one (inside.py) when somebody asks for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import compress
from typing import NamedTuple

from quire.model import BLANK, Block, Kind, Source
from quire.parse.events import KINDS, Events, definitions, events_of, opened, plain_text
from quire.parse.group import group
from quire.parse.inside import CONTAINERS, inside
from quire.parse.outline import Heading

_FENCE_INFO = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*([^\r\n]*)")
_LEADING_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")


class Top(NamedTuple):
    """A block at document level as the parser reports it."""

    tag: str
    """The parser's name for it."""
    start: int
    """Its first character, which may stand behind an indentation."""
    end: int
    """Its end, which may lie behind blank lines."""


class Scan(NamedTuple):
    """What one walk over a document finds."""

    tops: Sequence[Top]
    """The blocks at document level, but for reference definitions, which the parser does not report."""
    headings: Sequence[Heading]
    """The headings among them."""


def scan(source: Source, text: str) -> Scan:
    """Walk over the events of ``text``, the stand-in for the Markdown of ``source``."""
    tops: list[Top] = []
    headings: list[Heading] = []
    base = source.markdown_start
    end = -1
    events = events_of(text)
    for event, place in events:
        start = place["start"]
        if start < end:
            continue  # inside the block at document level that was met last
        tag, value = opened(event)
        if not tag:
            continue
        end = place["end"]
        tops.append(Top(tag, base + start, base + end))
        if tag == "Heading":
            headings.append(_heading(source.text, int(value["level"][1]), plain_text(events), tops[-1]))
    return Scan(tops, _with_own_titles(source.text, headings))


def _heading(text: str, level: int, title: str, top: Top) -> Heading:
    return Heading(level, title, _line_start(text, top.start), _after_line_end(text, top.end))


def _with_own_titles(text: str, headings: list[Heading]) -> list[Heading]:
    """The headings; titles that are not ASCII are taken from the source, for the stand-in does not show them."""
    if text.isascii():
        return headings
    foreign = [not text[each.start : each.end].isascii() for each in headings]
    titles = _titles(text, list(compress(headings, foreign)))
    return [
        each._replace(title=next(titles, each.title)) if is_foreign else each
        for each, is_foreign in zip(headings, foreign, strict=True)
    ]


def _titles(text: str, headings: Sequence[Heading]) -> Iterator[str]:
    """The plain text of each of ``headings``, parsed together, above the definitions that they may refer to."""
    alone = "\n\n".join(text[each.start : each.end] for each in headings)
    events: Events = events_of(f"{alone}\n\n{definitions(text)}" if "[" in alone else alone)
    for event, _ in events:
        if opened(event)[0] == "Heading":
            yield plain_text(events)


def blocks(source: Source, text: str, found: Scan) -> tuple[Block, ...]:
    """The blocks at document level, in order: all that is not blank is in one of them."""
    made: list[Block] = []
    seen = source.body_start
    if source.opaque is not None:
        made.append(_block("paragraph", source.text, source.opaque.start, source.opaque.end))
        seen = source.opaque.end
    headings = iter(found.headings)
    opener = partial(inside, source=source, text=text)
    for top in found.tops:
        block = _made(source.text, top, headings, opener)
        made.extend(_references(source.text, seen, block.start))
        made.append(block)
        seen = block.end
    made.extend(_references(source.text, seen, len(source.text)))
    return group(source.text, made)


def _made(text: str, top: Top, headings: Iterator[Heading], opener: partial[tuple[Block, ...]]) -> Block:
    kind = KINDS[top.tag]
    start = _line_start(text, top.start)
    if kind == "heading":
        heading = next(headings)
        return _block(kind, text, start, top.end, level=heading.level, info=heading.title)
    if kind == "code":
        return _block(kind, text, start, top.end, info=_fence_info(text, start))
    block = _block(kind, text, start, top.end, opener=opener if kind in CONTAINERS else None)
    if kind == "list" and "]:" in text[start : top.end]:
        # The parser counts definitions that follow a list to the list.
        return _block(kind, text, start, block.children[-1].end, opener=opener)
    return block


def _block(
    kind: Kind,
    text: str,
    start: int,
    end: int,
    *,
    level: int = 0,
    info: str = "",
    opener: partial[tuple[Block, ...]] | None = None,
) -> Block:
    return Block(kind, start, start + len(text[start:end].rstrip(BLANK)), level, info, opener)


def _references(text: str, start: int, end: int) -> Iterator[Block]:
    """Text between two blocks: the parser reports no event for reference definitions."""
    if text[start:end].strip(BLANK):
        first = _LEADING_BLANK_LINES.match(text, start, end)
        yield _block("reference", text, first.end() if first else start, end)


def _fence_info(text: str, start: int) -> str:
    match = _FENCE_INFO.match(text, start)
    return match.group(1).strip(BLANK) if match else ""


def _line_start(text: str, position: int) -> int:
    while position > 0 and text[position - 1] in " \t":
        position -= 1
    return position


def _after_line_end(text: str, position: int) -> int:
    while position < len(text) and text[position - 1] not in "\r\n":
        position += 1
    return position + 1 if text.startswith("\r\n", position - 1) else position
