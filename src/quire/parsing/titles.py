"""The plain text of headings. Most have no markup but code; the parser reads the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from quire.model import Block, Note
from quire.offsets import BLANK, utf8_length
from quire.parsing.events import definitions, encodable, events_of, footnotes, opened, plain_text
from quire.parsing.heading_ids import id_above, split_id
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


def set_titles(text: str, blocks: list[Block], ids: Mapping[int, str] | None) -> list[Note]:
    """Set the plain text and the ids of the headings in ``blocks``. Returns a note for each title that was cut.

    ``ids`` has those of ``ids_above``; if it is None, attributes, comments and shortcodes are text.
    """
    numbers = [number for number, block in enumerate(blocks) if block[0] == "heading"]
    contents = [blocks[number][4] for number in numbers]
    if not _SPECIAL.search("\0".join(contents)) and max(map(len, contents), default=0) <= MAX_TITLE and not ids:
        return []  # the usual case
    notes: list[Note] = []
    marked: list[tuple[int, str]] = []
    for number, content in zip(numbers, contents, strict=True):
        block, bare, own = blocks[number], content, ""
        if ids is not None and ("{" in content or "<" in content):
            above_line = content.rpartition("\n")[0].replace("\n", " ") if "\n" in content else ""
            bare, own = split_id(above_line or content)
            bare = content if bare == above_line else bare  # a line below the title makes it a heading
        own = own or (ids.get(number, "") if ids else "")
        if own:
            blocks[number] = block._replace(id=own)
        if not _SPECIAL.search(bare):
            _set_title(blocks, number, bare, notes)
        elif _PLAIN.fullmatch(bare):
            _set_title(blocks, number, _plain_title(bare), notes)
        else:
            is_whole = bare == content
            marked.append((number, text[block.start : block.end] if is_whole else f"{'#' * block.level} {bare}"))
    titles = _parsed_titles(text, blocks, [heading for _, heading in marked])
    for (number, _), title in zip(marked, titles, strict=True):
        _set_title(blocks, number, title, notes)
    return notes


def _set_title(blocks: list[Block], number: int, title: str, notes: list[Note]) -> None:
    block = blocks[number]
    short, note = shortened(title, block.start)
    notes += note
    if short is not block.info:
        blocks[number] = block._replace(info=short)


def ids_above(text: str, blocks: Sequence[Block]) -> dict[int, str]:
    """The ids that lines above headings give them, by the number of the heading's block."""
    found: dict[int, str] = {}
    if ")=" not in text and "<a " not in text:
        return found
    for number, block in enumerate(blocks):
        kind, start, end = blocks[number - 1][:3] if number and block[0] == "heading" else ("", 0, 0)
        if kind in ("paragraph", "html") and text.endswith((")=", ">"), start, end):
            given = id_above(text, start, end)
            if given:
                found[number] = given
    return found


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


def _defining(text: str, blocks: Sequence[Block]) -> str:
    """The blocks that may contain definitions of links and footnotes: not a copy of the whole text."""
    parts = (text[block.start : block.end] for block in blocks if block.kind not in ("paragraph", "heading", "code"))
    return plain_lines("\n\n".join(part for part in parts if "]:" in part))


def _code_text(match: re.Match[str]) -> str:
    code = match[1]
    is_padded = code.startswith(" ") and code.endswith(" ") and not code.isspace()
    return code[1:-1] if is_padded else code


def _parsed_titles(text: str, blocks: Sequence[Block], headings: Sequence[str]) -> list[str]:
    """The plain text of each of ``headings``, parsed together above the definitions in ``blocks``."""
    if not headings:
        return []
    alone = [encodable(_FEED.sub(_INERT, plain_lines(heading.lstrip(" \t")))) for heading in headings]
    joined = "\n\n".join(alone)
    defining = _defining(text, blocks) if "[" in joined else ""
    defined = definitions(defining)
    notes = footnotes(defining) if "[^" in joined else ""
    events = events_of(f"{joined}\n\n{defined}\n\n{notes}")
    found: dict[int, str] = {}
    for event, place in events:
        if opened(event)[0] == "Heading":
            found[place["start"]] = plain_text(events).replace(_INERT, " ").strip(BLANK)
    starts = accumulate((utf8_length(heading) + 2 for heading in alone), initial=0)
    # A line that is a heading only because of the lines above it is not found: its text is taken as it is.
    return [
        found[start] if start in found else heading.rpartition("\n")[0].strip(BLANK)
        for start, heading in zip(starts, alone, strict=False)
    ]
