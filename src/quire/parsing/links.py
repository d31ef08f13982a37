"""The links of a document, found by the parser. Images, code and HTML are left out.

Inline text is parsed only in blocks that may have a link: a fifth of the text of documentation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from quire.model import Document, Link
from quire.parsing.events import Events, encodable, events_of, plain_text
from quire.parsing.parser_input import plain_lines
from quire.parsing.site_generators import FILLER, link_view
from quire.substitutions import substitute

_LINK_MARKS = ("](", "][", "[[")
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:|[^\s<>@]++@)")
_MAY_DEFINE = "]:"


def links_of(document: Document) -> tuple[Link, ...]:
    """The links of ``document``, in order."""
    if document.source.syntax != "markdown" or not ("[" in document.text or "<" in document.text):
        return ()
    return tuple(_links(document))


def inline_text(document: Document) -> str:
    """What the parser reads in place of the Markdown of a document, which is as long."""
    return encodable(link_view(plain_lines(document.text[document.source.markdown_start :])))


def inline_events(text: str) -> Events:
    """The events of a text, with wiki links."""
    return events_of(text, wiki_links=True)


def _only_with_links(document: Document, lines: str) -> str:
    """``lines`` with blanks in place of the blocks that have no link."""
    if _MAY_DEFINE in lines:
        return lines
    kinds, starts, ends, _ = document.block_columns
    base = document.source.markdown_start
    numbers = {bisect_right(starts, base + mark) - 1 for mark in _link_marks(lines)}
    pieces: list[str] = []
    done = 0
    for number in sorted(numbers):
        start, end = starts[number] - base, ends[number] - base
        if start >= done and kinds[number] != "code":
            pieces += (_blank_lines(start - done), lines[start:end])
            done = end
    return "".join(pieces)


def _blank_lines(length: int) -> str:
    return f"\n{' ' * (length - 2)}\n" if length > 1 else "\n" * length


def _link_marks(lines: str) -> Iterator[int]:
    """Where there may be a link."""
    for mark in _LINK_MARKS:
        at = lines.find(mark)
        while at >= 0:
            yield at
            at = lines.find(mark, at + 1)
    yield from (autolink.start() for autolink in _AUTOLINK.finditer(lines))


def _links(document: Document) -> Iterator[Link]:
    text = _only_with_links(document, inline_text(document))
    data, events = text.encode(), inline_events(text)
    start, seen, variables = document.source.markdown_start, 0, document.source.substitutions
    for event, place in events:
        element = event.get("Start") if isinstance(event, dict) else None  # ``opened`` costs more; most open nothing
        if not isinstance(element, dict) or "Link" not in element:
            continue
        words = substitute(plain_text(events, "Link").replace(FILLER, ""), variables)
        start += len(data[seen : place["start"]].decode())  # bytes to characters
        end = start + len(data[place["start"] : place["end"]].decode())
        target = substitute(element["Link"]["dest_url"].replace(FILLER, ""), variables)
        yield Link(words, start, end, target.removesuffix("\\"))
        start, seen = end, place["end"]
