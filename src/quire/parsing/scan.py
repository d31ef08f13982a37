"""One walk over the parser's events: what stands at document level, with the titles of the headings.

Before: standin.py. After: outline.py for the headings, blocks.py for the blocks. Most events are about inline text;
skeleton.py spares the walk nearly all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from quire.model import BLANK, Source
from quire.parsing.events import KINDS, definitions, events_of, opened, plain_text
from quire.parsing.outline import Heading
from quire.parsing.skeleton import FEED, STAND_IN, Run, plain_titles, skeleton
from quire.parsing.standin import plain_lines

_INERT = "\ufdd0"
"""A noncharacter, which means nothing to the parser."""
_FAITHFUL = re.compile(r"[\x00-\x0a\x0d-\x7f]*+")

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


def scanned(source: Source, text: str) -> Scan:
    """Find what stands at document level. ``text`` is the stand-in for the Markdown of ``source``."""
    rest, runs = skeleton(text)
    if not rest:
        return _runs_alone(source, runs.values())
    return walk(source, rest, runs) or walk(source, text, {}) or Scan((), ())


def _runs_alone(source: Source, runs: Iterable[Run]) -> Scan:
    """What is found where runs are all there is: between thematic breaks and blank lines a block can always start."""
    base = source.markdown_start
    spans = [span for run in runs for span in run.headings]
    tops = [(RUN, base + run.start, base + run.end) for run in runs]
    return Scan(tops, _plain_headings(source.text, base, spans) if spans else [])


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
            if run.headings:
                headings += _plain_headings(source.text, base, run.headings)
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


def _plain_headings(text: str, base: int, spans: Sequence[tuple[int, int]]) -> list[Heading]:
    """The headings of a run, all at once: most documents have no others."""
    contents = [text[base + start : base + end].lstrip("#") for start, end in spans]
    new = tuple.__new__  # twice as fast as the class itself
    return [
        new(Heading, (end - start - len(content), title, base + start, base + end))
        for (start, end), content, title in zip(spans, contents, plain_titles(contents), strict=True)
    ]


def _heading(text: str, level: int, title: str, top: Top) -> Heading:
    return Heading(level, title, line_start(text, top[1]), _after_line_end(text, top[2]))


def _titles(text: str, headings: Sequence[Heading]) -> Iterator[str]:
    """The plain text of each of ``headings``, parsed together, above the definitions that they may refer to."""
    alone = plain_lines("\n\n".join(text[each.start : each.end] for each in headings))
    alone = FEED.sub(_INERT, alone)
    events = events_of(f"{alone}\n\n{definitions(text)}" if "[" in alone else alone)
    for event, _ in events:
        if opened(event)[0] == "Heading":
            yield plain_text(events).replace(_INERT, " ").strip(BLANK)


def line_start(text: str, position: int) -> int:
    """Where the indentation in front of ``position`` starts."""
    while position > 0 and text[position - 1] in " \t":
        position -= 1
    return position


def _after_line_end(text: str, position: int) -> int:
    while position < len(text) and text[position - 1] not in "\r\n":
        position += 1
    return position + 1 if text.startswith("\r\n", position - 1) else position
