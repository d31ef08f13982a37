"""The plain text of headings. Most have no markup but code; the parser reads the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, repeat
from operator import sub
from typing import NamedTuple

from quire.model import BlockColumns, Note, Source
from quire.offsets import BLANK, utf8_length
from quire.parsing.events import definitions, encodable, events_of, footnotes, opened, plain_text
from quire.parsing.heading_ids import split_id
from quire.parsing.parser_input import plain_lines

MAX_TITLE = 1000
"""A title is cut at this many characters, because many records repeat it."""
_NO_MARKUP = r"(?:[^\r\n\\`*_\[\]<&~]++|&(?=[ ]))*+"
_PLAIN = re.compile(rf"{_NO_MARKUP}(?:`[^`\r\n]++`{_NO_MARKUP})*+")
_CODE = re.compile(r"`([^`]+)`")
_CLOSING_HASHES = re.compile(r"(?:\A|[ \t])#+\Z")
_SPECIAL = re.compile(r"[\\`*_\[\]<&~{\t\x0b\x0c\r\n]|#(?:\0|\Z)")
_WHITE = re.compile(r"[\t\x0b\x0c]")
_FEED = re.compile(r"[\x0b\x0c]")
"""White space everywhere but in Markdown; titles have a space instead."""
_INERT = "\ufdd0"
"""A noncharacter, which has no meaning to the parser."""


class Headings(NamedTuple):
    """The headings of a document as parallel lists, in order."""

    blocks: list[int]
    """The numbers of their blocks."""
    levels: list[int]
    titles: list[str]
    ids: list[str]
    """The ids that the author gave them; empty where there is none."""


def read_headings(source: Source, blocks: BlockColumns) -> tuple[Headings, list[Note]]:
    """The headings among ``blocks``, and a note for each title that was cut.

    In CommonMark, attributes, comments and shortcodes are part of the title.
    """
    text = source.text
    kinds, starts, ends, _ = blocks
    if "heading" not in kinds:
        return Headings([], [], [], []), []
    numbers = [number for number, kind in enumerate(kinds) if kind == "heading"]
    lines = [text[starts[number] : ends[number]].lstrip(" \t") for number in numbers]
    contents = list(map(str.lstrip, lines, repeat("#")))  # faster than comprehensions
    levels = list(map(sub, map(len, lines), map(len, contents)))
    titles = list(map(str.strip, contents, repeat(BLANK)))
    headings = Headings(numbers, levels, titles, [""] * len(numbers))
    joined = "\0".join(titles)
    if _SPECIAL.search(joined):
        marked = [index for index, content in enumerate(titles) if _SPECIAL.search(content)]
        _read_markup(source, blocks, headings, lines, marked)
    notes: list[Note] = []
    if max(map(len, titles), default=0) > MAX_TITLE:
        for index, title in enumerate(titles):
            titles[index], note = shortened(title, starts[numbers[index]])
            notes += note
    return headings, notes


def _read_markup(source: Source, blocks: BlockColumns, headings: Headings, lines: list[str], marked: list[int]) -> None:
    """Set the titles and the ids of the ``marked`` headings, whose content is not plain text."""
    _, levels, titles, ids = headings
    parsed: dict[int, str] = {}
    for index in marked:
        content = bare = titles[index]
        if "\n" in content or "\r" in content:  # underlined
            levels[index] = 1 if content[-1] == "=" else 2
        if "{" in content or "<" in content or content[-1] == "]":
            above_line = content.rpartition("\n")[0].replace("\n", " ") if "\n" in content else ""
            bare, ids[index] = split_id(above_line or content, source.substitutions, source.dialect)
            bare = content if bare == above_line else bare  # a line below the title makes it a heading
        if not _SPECIAL.search(bare):
            titles[index] = bare
        elif _PLAIN.fullmatch(bare):
            titles[index] = _plain_title(bare)
        else:
            parsed[index] = lines[index] if bare == content else f"{'#' * levels[index]} {bare}"
    for index, title in zip(parsed, _parsed_titles(source.text, blocks, list(parsed.values())), strict=True):
        titles[index] = title


def shortened(title: str, start: int) -> tuple[str, list[Note]]:
    """A title of at most ``MAX_TITLE`` characters; with a note if it was longer."""
    if len(title) <= MAX_TITLE:
        return title, []
    message = f"title of {len(title):,} characters; records have the first {MAX_TITLE:,}"
    return f"{title[: MAX_TITLE - 1].rstrip()}…", [(start, "title-shortened", message)]


def _plain_title(content: str) -> str:
    """The text of a heading without markup but code."""
    if content.endswith("#"):
        content = _CLOSING_HASHES.sub("", content)
    return _CODE.sub(_code_text, _WHITE.sub(" ", content).strip(BLANK))


def _defining(text: str, blocks: BlockColumns) -> str:
    """The blocks that may contain definitions of links and footnotes: not a copy of the whole text."""
    rows = zip(*blocks[:3], strict=True)
    parts = (text[start:end] for kind, start, end in rows if kind not in ("paragraph", "heading", "code"))
    return plain_lines("\n\n".join(part for part in parts if "]:" in part))


def _code_text(match: re.Match[str]) -> str:
    code = match[1]
    is_padded = code.startswith(" ") and code.endswith(" ") and not code.isspace()
    return code[1:-1] if is_padded else code


def _parsed_titles(text: str, blocks: BlockColumns, headings: Sequence[str]) -> list[str]:
    """The plain text of each of ``headings``, parsed together above the definitions in ``blocks``."""
    if not headings:
        return []
    alone = [encodable(_FEED.sub(_INERT, plain_lines(heading))) for heading in headings]
    joined = "\n\n".join(alone)
    defining = _defining(text, blocks) if "[" in joined else ""
    defined = definitions(defining)
    notes = footnotes(defining) if "[^" in joined else ""
    events = events_of(f"{joined}\n\n{defined}\n\n{notes}")
    title_at: dict[int, str] = {}
    for event, place in events:
        if opened(event)[0] == "Heading":
            title_at[place["start"]] = plain_text(events).replace(_INERT, " ").strip(BLANK)
    starts = accumulate((utf8_length(heading) + 2 for heading in alone), initial=0)
    # A line that is a heading only because of the lines above it is not found: its text is taken as it is.
    return [
        title_at[start] if start in title_at else heading.rpartition("\n")[0].strip(BLANK)
        for start, heading in zip(starts, alone, strict=False)
    ]
