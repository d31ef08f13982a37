"""The parser's events, in quire's words. The only user of the parser; used by scan.py, titles.py and inside.py.

An event is a name (``"SoftBreak"``) or a mapping with one entry (``{"Start": {"Heading": {...}}}``), with the
range of UTF-8 bytes that it covers. An opening event's range covers all of the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import pyromark
from pyromark import Options

from quire.blank import BLANK
from quire.model import Kind

Events: TypeAlias = Iterator[tuple[Any, Any]]

# Its options for front matter are left off: they match in the middle of a document too. Math and task items are
# inline text to it; leaving them off saves events.
_PARSER = pyromark.Markdown(
    options=Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH,
)
KINDS: dict[str, Kind] = {
    "Paragraph": "paragraph",
    "Heading": "heading",
    "CodeBlock": "code",
    "Table": "table",
    "List": "list",
    "BlockQuote": "quote",
    "HtmlBlock": "html",
    "FootnoteDefinition": "footnote",
    "Rule": "rule",
    "Item": "item",
    "TableHead": "row",
    "TableRow": "row",
}
"""The parser's names for blocks, and quire's."""


def events_of(text: str) -> Events:
    """The events of ``text``, each with its range; for ASCII text the range is in characters."""
    return iter(_PARSER.events_with_range(_encodable(text)))


def definitions(text: str) -> str:
    """The reference definitions of ``text``, one below the other."""
    text = _encodable(text)
    data = text.encode()
    spans = [each["span"] for each in _PARSER.reference_definitions(text).values()]
    return "\n\n".join(data[span["start"] : span["end"]].decode() for span in spans)


def footnotes(text: str) -> str:
    """The footnotes of ``text``, one below the other, without what they say."""
    opening = (opened(event) for event, _ in events_of(text))
    return "\n\n".join(f"[^{label}]: x" for tag, label in opening if tag == "FootnoteDefinition")


def opened(event: Any) -> tuple[str, Any]:
    """The name and the details of the element that ``event`` opens; an empty name if it opens none."""
    if isinstance(event, str):
        return (event, None) if event == "Rule" else ("", None)
    start = event.get("Start")
    if start is None or isinstance(start, str):
        return start or "", None
    ((tag, value),) = start.items()
    return tag, value


def plain_text(events: Events) -> str:
    """The text up to the end of the heading just opened, without markup; code and images' texts are kept."""
    parts: list[str] = []
    for event, _ in events:
        if isinstance(event, str):
            parts.append(" ")  # a line break: nothing else without details can be inside a heading
            continue
        ((name, value),) = event.items()
        if name in ("Text", "Code"):
            parts.append(value)
        elif name == "End" and "Heading" in value:
            break
    return "".join(parts).strip(BLANK)


def _encodable(text: str) -> str:
    """The parser takes no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
