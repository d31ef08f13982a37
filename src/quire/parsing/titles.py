"""The plain text of headings. Used by headings.py and scan.py, which find them.

Most headings have no markup but code; the others are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quire.blank import BLANK
from quire.parsing.events import definitions, events_of, footnotes, opened, plain_text
from quire.parsing.standin import plain_lines

_WITHOUT = r"(?:[^\n\\`*_\[\]<&~]++|&(?=[ ]))*+"
_PLAIN = re.compile(rf"{_WITHOUT}(?:`[^`\n]++`{_WITHOUT})*+")
_CODE = re.compile(r"`([^`]+)`")
_CLOSING_HASHES = re.compile(r"(?:\A|[ \t])#+\Z")
_ODD = re.compile(r"[`\t\x0b\x0c]|#\Z")
_SPECIAL = re.compile(r"[\\`*_\[\]<&~\t\x0b\x0c]|#(?:\n|\Z)")
_FEED = re.compile(r"[\x0b\x0c]")
"""White space to everyone but Markdown; titles show a space."""
_INERT = "\ufdd0"
"""A noncharacter, which means nothing to the parser."""


def plain_titles(contents: Sequence[str]) -> tuple[list[str], list[int]]:
    """The plain texts of headings, from what stands behind their hashes; and which of them have markup after all."""
    titles = [content.strip(BLANK) for content in contents]
    if not _SPECIAL.search("\n".join(titles)):
        return titles, []  # the usual case
    marked = [index for index, title in enumerate(titles) if not _PLAIN.fullmatch(title)]
    return list(map(_plain_title, titles)), marked


def _plain_title(title: str) -> str:
    if not _ODD.search(title):
        return title
    title = _FEED.sub(" ", title).replace("\t", " ").strip(BLANK)
    if title.endswith("#"):
        title = _CLOSING_HASHES.sub("", title).rstrip(BLANK)
    return _CODE.sub(_code_text, title)


def _code_text(match: re.Match[str]) -> str:
    code = match.group(1)
    padded = code.startswith(" ") and code.endswith(" ") and not code.isspace()
    return code[1:-1] if padded else code


def parsed_titles(text: str, headings: Sequence[str]) -> Iterator[str]:
    """The plain text of each of ``headings`` of ``text``, parsed together, above the definitions they may refer to."""
    alone = plain_lines("\n\n".join(headings))
    alone = _FEED.sub(_INERT, alone)
    defined = definitions(plain_lines(text)) if "[" in alone else ""
    notes = footnotes(plain_lines(text)) if "[^" in alone else ""
    events = events_of(f"{alone}\n\n{defined}\n\n{notes}")
    for event, _ in events:
        if opened(event)[0] == "Heading":
            yield plain_text(events).replace(_INERT, " ").strip(BLANK)
