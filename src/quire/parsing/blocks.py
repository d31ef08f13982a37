"""Text to blocks with exact positions. Before: standin.py. After: outline.py, and whoever asks for blocks.

The parser reports a stream of events, most of them about inline text; one walk picks out what stands at document
level, with the titles of the headings; skeleton.py spares it most of them. The blocks themselves are made when
somebody asks for them, and what is inside one (inside.py) when somebody asks for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from quire.model import BLANK, Block, Kind, Source
from quire.parsing.events import KINDS, definitions, events_of, opened, plain_text
from quire.parsing.group import group
from quire.parsing.inside import CONTAINERS, inside
from quire.parsing.outline import Heading
from quire.parsing.skeleton import FEED, STAND_IN, Run, blocks_in, plain_title, skeleton
from quire.parsing.standin import plain_lines
from quire.parsing.tables import interrupting_table

_FENCE_INFO = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*([^\r\n]*)")
_INERT = "\ufdd0"
"""A noncharacter, which means nothing to the parser."""
_FAITHFUL = re.compile(r"[\x00-\x0a\x0d-\x7f]*+")
_LEADING_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")

RUN = "Run"
"""In place of the parser's name: a run of plain blocks, not looked at more closely."""

Top: TypeAlias = tuple[str, int, int]
"""A block at document level: the parser's name for it, its first character, which may stand behind an indentation,
and its end, which may lie behind blank lines."""


class Scan(NamedTuple):
    """What one walk over a document finds."""

    tops: Sequence[Top]
    """The blocks at document level, but for reference definitions, which the parser does not report."""
    headings: Sequence[Heading]
    """The headings among them."""


def scan(source: Source, text: str) -> Scan:
    """Find what stands at document level. ``text`` is the stand-in for the Markdown of ``source``."""
    rest, runs = skeleton(text)
    return walk(source, rest, runs) or walk(source, text, {}) or Scan((), ())


def walk(source: Source, text: str, runs: Mapping[int, Run]) -> Scan | None:
    """What the events of ``text`` say; None if they do not confirm all of ``runs``."""
    tops: list[Top] = []
    headings: list[Heading] = []
    foreign: list[int] = []
    base = shift = source.markdown_start
    confirmed, end = 0, -1
    events = events_of(text)
    for event, place in events:
        start = place["start"]
        if start < end:
            continue  # inside the block at document level that was met last
        tag, value = opened(event)
        if tag == "Rule" and start in runs:
            run = runs[start]
            end = start + len(STAND_IN)
            shift = base + run.end - end
            confirmed += 1
            tops.append((RUN, base + run.start, base + run.end))
            headings += [_plain_heading(source.text, base + first, base + last) for first, last in run.headings]
        elif tag in KINDS:  # cells that pad a row are reported behind their table
            end = place["end"]
            tops.append((tag, shift + start, shift + end))
            if tag == "Heading":
                heading = _heading(source.text, int(value["level"][1]), plain_text(events), tops[-1])
                if not _FAITHFUL.fullmatch(source.text, heading.start, heading.end):
                    foreign.append(len(headings))
                headings.append(heading)
    if confirmed < len(runs):
        return None
    # The stand-in does not show every character; titles that have others are parsed once more, all together.
    for index, title in zip(foreign, _titles(source.text, [headings[index] for index in foreign]), strict=False):
        headings[index] = headings[index]._replace(title=title)
    return Scan(tops, headings)


def _plain_heading(text: str, start: int, end: int) -> Heading:
    content = text[start:end].lstrip("#")
    return Heading(end - start - len(content), plain_title(content), start, end)


def _heading(text: str, level: int, title: str, top: Top) -> Heading:
    return Heading(level, title, _line_start(text, top[1]), _after_line_end(text, top[2]))


def _titles(text: str, headings: Sequence[Heading]) -> Iterator[str]:
    """The plain text of each of ``headings``, parsed together, above the definitions that they may refer to."""
    alone = plain_lines("\n\n".join(text[each.start : each.end] for each in headings))
    alone = FEED.sub(_INERT, alone)
    events = events_of(f"{alone}\n\n{definitions(text)}" if "[" in alone else alone)
    for event, _ in events:
        if opened(event)[0] == "Heading":
            yield plain_text(events).replace(_INERT, " ").strip(BLANK)


def blocks_of(source: Source, text: str, found: Scan) -> tuple[Block, ...]:
    """The blocks at document level, in order: all that is not blank is in one of them."""
    made: list[Block] = []
    seen = source.body_start
    if source.opaque is not None:
        made.append(_block("paragraph", source.text, source.opaque.start, source.opaque.end))
        seen = source.opaque.end
    headings = iter(found.headings)
    opener = partial(inside, source=source, text=text)
    for top in _with_interrupting_tables(source.text, _without_runs(source, text, found.tops)):
        block = _made(source.text, top, headings, opener)
        made.extend(_references(source.text, seen, block.start))
        made.append(block)
        seen = block.end
    made.extend(_references(source.text, seen, len(source.text)))
    return group(source.text, made)


def _without_runs(source: Source, text: str, tops: Sequence[Top]) -> Iterator[Top]:
    """The blocks at document level, with those of each run in its place."""
    base = source.markdown_start
    for top in tops:
        if top[0] != RUN:
            yield top
            continue
        for tag, start, end in blocks_in(text, top[1] - base, top[2] - base):
            if tag in KINDS or (tag == "Bullets" and _is_one_list(text[start:end])):
                yield "List" if tag == "Bullets" else tag, base + start, base + end
            else:
                yield from _parsed(text, start, end, base)


def _is_one_list(lines: str) -> bool:
    """Whether all items have the same marker; another marker starts another list."""
    return len({line[0] for line in lines.split("\n") if line and line[0] in "-*+"}) == 1


def _parsed(text: str, start: int, end: int, base: int) -> Iterator[Top]:
    """What the parser says of a part of ``text`` that holds nothing but whole blocks."""
    last = -1
    for event, place in events_of(text[start:end]):
        if place["start"] >= last:
            tag, _ = opened(event)
            if tag in KINDS:
                last = place["end"]
                yield tag, base + start + place["start"], base + start + last


def _with_interrupting_tables(text: str, tops: Iterable[Top]) -> Iterator[Top]:
    for top in tops:
        tag, start, end = top
        table = interrupting_table(text, start, end) if tag == "Paragraph" else end
        if table > start:
            yield tag, start, table
        if table < end:
            yield "Table", table, end


def _made(text: str, top: Top, headings: Iterator[Heading], opener: partial[tuple[Block, ...]]) -> Block:
    tag, first, last = top
    kind = KINDS[tag]
    start = _line_start(text, first)
    if kind == "heading":
        heading = next(headings)
        return _block(kind, text, start, last, level=heading.level, info=heading.title)
    if kind == "code":
        return _block(kind, text, start, last, info=_fence_info(text, start))
    block = _block(kind, text, start, last, opener=opener if kind in CONTAINERS else None)
    if kind == "list" and "]:" in text[start:last]:
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
