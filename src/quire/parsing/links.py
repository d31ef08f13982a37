"""The links of a document, found by the parser. Images, code and HTML are left out."""

from __future__ import annotations

from collections.abc import Iterator

from quire.model import Document, Link
from quire.parsing.events import Events, encodable, events_of, plain_text
from quire.parsing.parser_input import plain_lines
from quire.parsing.site_generators import FILLER, link_view


def links_of(document: Document) -> tuple[Link, ...]:
    """The links of ``document``, in order."""
    if document.source.syntax != "markdown" or not ("[" in document.text or "<" in document.text):
        return ()
    return tuple(_links(document))


def inline_events(document: Document) -> tuple[bytes, Events]:
    """What the parser reads to find links, which is as long as the text; and its events, with wiki links."""
    text = encodable(link_view(plain_lines(document.text[document.source.markdown_start :])))
    return text.encode(), events_of(text, wiki_links=True)


def _links(document: Document) -> Iterator[Link]:
    data, events = inline_events(document)
    start, seen = document.source.markdown_start, 0
    for event, place in events:
        element = event.get("Start") if isinstance(event, dict) else None  # ``opened`` costs more; most open nothing
        if not isinstance(element, dict) or "Link" not in element:
            continue
        text = plain_text(events, "Link").replace(FILLER, "")
        start += len(data[seen : place["start"]].decode())  # bytes to characters
        end = start + len(data[place["start"] : place["end"]].decode())
        yield Link(text, start, end, element["Link"]["dest_url"].replace(FILLER, "").removesuffix("\\"))
        start, seen = end, place["end"]
