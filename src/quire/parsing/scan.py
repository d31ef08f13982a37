"""What stands at document level, by the parser's events. Before: standin.py. After: blocks.py, and outline.py.

Most events are about inline text; skeleton.py spares the walk nearly all of them. Where headings.py cannot tell what is
a heading, all events of the document are taken. What the parser takes for a heading inside math is none (formulas.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from quire.model import Source
from quire.parsing import formulas
from quire.parsing.events import KINDS, Events, events_of, opened, plain_text
from quire.parsing.outline import Heading
from quire.parsing.skeleton import STAND_IN, Plain, Skeleton
from quire.parsing.titles import parsed_titles

_FAITHFUL = re.compile(r"[\x00-\x0a\x0d-{}~\x7f]*+")
"""What the stand-in shows as it is: no feeds, nor a line with a pipe, which may have another one in it (tables.py)."""

Top: TypeAlias = tuple[str, int, int]
"""A block at document level: the parser's name for it, its first character, which may stand behind an indentation,
and its end, which may lie behind blank lines."""


class Scan(NamedTuple):
    """What all events of a document tell."""

    tops: Sequence[Top]
    """The blocks at document level, but for reference definitions, which the parser does not report."""
    headings: Sequence[Heading]
    """The headings among them."""


def scanned(source: Source, text: str) -> Scan:
    """What stands at document level, headings with their titles. ``text`` is the stand-in for all of ``source``."""
    base = source.markdown_start
    tops: list[Top] = []
    found: dict[int, Heading] = {}
    events = events_of(text)
    for tag, value, start, end in _met(events):
        tops.append((tag, base + start, base + end))
        if tag == "Heading":
            found[len(tops) - 1] = _heading(source.text, int(value["level"][1]), plain_text(events), tops[-1])
    if found and formulas.MARK in text:
        for number in formulas.hidden(_lines_of(source.text, tops)):
            del found[number]
            tops[number] = ("Paragraph", *tops[number][1:])
    # The stand-in does not show every character; titles that have others are parsed once more, all together.
    headings = list(found.values())
    foreign = [
        index for index, each in enumerate(headings) if not _FAITHFUL.fullmatch(source.text, each.start, each.end)
    ]
    alone = [source.text[headings[index].start : headings[index].end] for index in foreign]
    for index, title in zip(foreign, parsed_titles(source.text[base:], alone), strict=False):
        headings[index] = headings[index]._replace(title=title)
    return Scan(tops, headings)


def found_in(text: str, base: int, skeleton: Skeleton) -> Iterable[Top | list[Plain]]:
    """What stands at document level in a stand-in that starts at ``base``; plain blocks in runs, by its skeleton."""
    rest, runs = skeleton
    if not rest:  # between thematic breaks and blank lines a block can always start
        return runs.values()
    found = _confirmed(rest, base, runs)
    return found if found is not None else tops_of(text, base)


def _confirmed(text: str, base: int, runs: Mapping[int, list[Plain]]) -> list[Top | list[Plain]] | None:
    """What the events of a skeleton say; None if they do not confirm all of its runs."""
    found: list[Top | list[Plain]] = []
    shift = confirmed = 0
    for tag, start, end in tops_of(text, 0):
        if tag == "Rule" and start in runs:
            found.append(runs[start])
            shift = runs[start][-1][2] - start - len(STAND_IN)
            confirmed += 1
        else:
            found.append((tag, base + shift + start, base + shift + end))
    return found if confirmed == len(runs) else None


def tops_of(text: str, base: int) -> Iterator[Top]:
    """What the parser says of a stand-in that starts at ``base``, and where nothing is open."""
    for tag, _, start, end in _met(events_of(text)):
        yield tag, base + start, base + end


def _met(events: Events) -> Iterator[tuple[str, Any, int, int]]:
    """The blocks at document level: name, details, start and end."""
    last = -1
    for event, place in events:
        if place["start"] >= last:  # else it is inside the block at document level that was met last
            tag, value = opened(event)
            if tag in KINDS:  # cells that pad a row are reported behind their table
                last = place["end"]
                yield tag, value, place["start"], last


def _lines_of(text: str, tops: Iterable[Top]) -> list[tuple[str, str, bool]]:
    """The name of each of ``tops``, its lines, and whether a blank line is above it."""
    places = [(tag, line_start(text, start), end) for tag, start, end in tops]
    return [(tag, text[start:end], _is_below_blank(text, start)) for tag, start, end in places]


def _is_below_blank(text: str, line: int) -> bool:
    """Whether the line above one that starts at ``line`` is blank, or there is none."""
    above = line - 2 if text[max(line - 2, 0) : line] == "\r\n" else line - 1
    while above > 0 and text[above - 1] in " \t":
        above -= 1
    return above <= 0 or text[above - 1] in "\r\n"


def _heading(text: str, level: int, title: str, top: Top) -> Heading:
    return Heading(level, title, line_start(text, top[1]), _after_line_end(text, top[2]))


def line_start(text: str, position: int) -> int:
    """Where the indentation in front of ``position`` starts."""
    while position > 0 and text[position - 1] in " \t":
        position -= 1
    return position


def _after_line_end(text: str, position: int) -> int:
    while position < len(text) and text[position - 1] not in "\r\n":
        position += 1
    return position + 1 if text.startswith("\r\n", position - 1) else position
