"""The parser's events, with quire's names. The only user of pyromark.

An event is a name (``"SoftBreak"``) or a mapping with one entry (``{"Start": {"Heading": {...}}}``), with the range of
UTF-8 bytes that it covers. The range of an opening event covers the whole element.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import pyromark
from pyromark import Options

from quire.model.document import Kind
from quire.model.offsets import BLANK

Events: TypeAlias = Iterator[tuple[Any, Any]]

# The parser's front matter options stay off: they match in the middle of a document too. Math and task items are
# inline text here; without those options there are fewer events.
_OPTIONS = Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH
_PARSER = pyromark.Markdown(options=_OPTIONS)
_WIKI_LINK_PARSER = pyromark.Markdown(options=_OPTIONS | Options.ENABLE_WIKILINKS)
_NO_FOOTNOTES_PARSER = pyromark.Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH)
KINDS: dict[str, Kind] = {
    "Paragraph": "paragraph", "Heading": "heading", "CodeBlock": "code", "Table": "table", "List": "list",
    "BlockQuote": "quote", "HtmlBlock": "html", "FootnoteDefinition": "footnote", "Rule": "rule", "Item": "item",
    "TableHead": "row", "TableRow": "row",
}  # fmt: skip
"""The parser's names for blocks, and quire's."""


def events_of(text: str, *, wiki_links: bool = False, footnotes: bool = True) -> Events:
    """The events of ``text``, each with its range; for ASCII text the range is in characters."""
    parser = _WIKI_LINK_PARSER if wiki_links else _PARSER if footnotes else _NO_FOOTNOTES_PARSER
    return iter(parser.events_with_range(encodable(text)))


def top_blocks(text: str) -> Iterator[tuple[Kind, int, int]]:
    """Kind, start (perhaps behind an indentation) and end (perhaps behind blank lines) of blocks of ASCII text."""
    end = -1
    for event, place in _PARSER.events_with_range(text):
        if place["start"] >= end:  # otherwise it is inside the block before
            tag, _ = opened(event)
            if tag in KINDS:  # not a cell that pads a row: those may start behind their table
                end = place["end"]
                yield KINDS[tag], place["start"], end


def inline_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each code span, fence, link, image and tag in prose; ``text`` is ASCII."""
    for event, place in _WIKI_LINK_PARSER.events_with_range(text):
        tag, details = opened(event)
        is_block = tag in ("Link", "Image") or (tag == "CodeBlock" and details != "Indented")
        if is_block or (not isinstance(event, str) and ("Code" in event or "InlineHtml" in event)):
            yield place["start"], place["end"]


def last_item_end(text: str) -> int:
    """Where the last item of a list ends; the list itself ends behind the definitions that follow it."""
    end = 0
    for event, place in events_of(text):
        if place["start"] >= end and opened(event)[0] == "Item":
            end = place["end"]
    return end


def definitions(text: str, *, footnotes: bool = True) -> str:
    """The reference definitions of ``text``, separated by blank lines."""
    data, parser = encodable(text).encode(), _PARSER if footnotes else _NO_FOOTNOTES_PARSER
    spans = [definition["span"] for definition in parser.reference_definitions(data.decode()).values()]
    return "\n\n".join(data[span["start"] : span["end"]].decode() for span in spans)


def footnotes(text: str) -> str:
    """A short definition for each footnote of ``text``, separated by blank lines."""
    openings = (opened(event) for event, _ in events_of(text))
    return "\n\n".join(f"[^{label}]: x" for tag, label in openings if tag == "FootnoteDefinition")


def opened(event: Any) -> tuple[str, Any]:
    """The name and the details of the element that ``event`` opens; an empty name if it opens none."""
    if isinstance(event, str):
        return (event, None) if event == "Rule" else ("", None)
    start = event.get("Start")
    if start is None or isinstance(start, str):
        return start or "", None
    ((tag, details),) = start.items()
    return tag, details


def plain_text(events: Events, element: str = "Heading") -> str:
    """The text up to the end of the element just opened, without markup; code and the texts of images are kept."""
    parts: list[str] = []
    for event, _ in events:
        if isinstance(event, str):
            parts.append(" ")  # a line break: no other event in such an element is without details
            continue
        ((name, details),) = event.items()
        if name in ("Text", "Code"):
            parts.append(details)
        elif name == "End" and element in details:
            break
    return "".join(parts).strip(BLANK)


def encodable(text: str) -> str:
    """``text`` without lone surrogates, which the parser refuses."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
