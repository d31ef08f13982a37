"""Where a fragment such as ``#install`` leads in a document: to a section, or to something with an id in one."""

from __future__ import annotations

import re
from collections.abc import Container

from quire.model import Document
from quire.parsing.events import opened, plain_text
from quire.parsing.heading_ids import split_id
from quire.parsing.links import inline_events
from quire.parsing.slugs import RULES, anchors, unicode_slug

_ID = re.compile(
    r"""(?<![\w-])(?:id|name)[ ]*=[ ]*["']?([^\s"'<>{}]+)"""  # HTML and shortcodes
    r"""|\{:?[ ]*+(?:[^\s{}\#]++[ ]++)*+\#([^\s{}\#"]++)"""  # a list of attributes
    r"""|^\(([^()\s]+)\)=|^[ ]*:(?:name|label):[ ]+([^\s<>]+)"""  # MyST
    r"""|<!--[ ]*\w+:\w+[ ]+([^\s<>]+)[ ]*-->"""  # macros of Material for MkDocs
    r"""|^\#{1,6}[ ].*[^\]\s][ ]*\[([\w.-]+)\][ ]*$"""  # a title with its id behind it
    r"""|^[ ]*===[!+]?[ ]+"(?P<tab>[^"\n]+)\"""",  # tabs of MkDocs
    re.MULTILINE,
)
"""What has an id, besides headings."""
_TABLE_ROW = re.compile(r"^[ ]*\|[ ]*`([^`\n]+)`", re.MULTILINE)


def find_anchor(document: Document, fragment: str, rule: str = "github") -> int | None:
    """The position of the section or the id that ``fragment`` leads to; ``rule`` is tried before other rules."""
    for section in document.sections[1:]:
        if fragment in (section.anchor, section.slug):
            return section.start
    known = all_anchors(document, rule)
    name = known_name(known, fragment)
    if name is None:  # people write #sendRequest for a heading with the anchor sendrequest
        known = {anchor.casefold(): position for anchor, position in reversed(known.items())}
        name = known_name(known, fragment.casefold())
    return None if name is None else known[name]


def known_name(known: Container[str], fragment: str) -> str | None:
    """The anchor that ``fragment`` means: GitHub, and Material for MkDocs, put something in front of some."""
    names = (fragment, fragment.removeprefix("user-content-"), fragment.lstrip("+"))
    return next((name for name in names if name in known), None)


def all_anchors(document: Document, rule: str = "github") -> dict[str, int]:
    """The position of every anchor: headings by all rules, those inside other blocks as well, and ids."""
    sections = document.section_columns
    titles, starts = sections.titles[1:], sections.starts[1:]
    found: dict[str, int] = {}
    _add_headings(found, titles, sections.ids[1:], starts, rule)
    _add_headings(found, titles, [""] * len(titles), starts, rule)  # the slug that a title would make without its id
    for match in _ID.finditer(document.text):
        name = match[match.lastindex or 1]
        if match["tab"]:
            name = unicode_slug(name)
            anchor = sections.anchors[document.section_at(match.start())]
            found.setdefault(f"{anchor}-{name}", match.start())
        found.setdefault(name, match.start())
    if (document.path or "").endswith(".mdx"):  # components make anchors of table rows
        for match in _TABLE_ROW.finditer(document.text):
            found.setdefault(match[1], match.start())
    _add_inner_headings(found, document, rule)
    return found


def _add_inner_headings(found: dict[str, int], document: Document, rule: str) -> None:
    data, events = inline_events(document)
    headings = [(plain_text(events), place["start"]) for event, place in events if opened(event)[0] == "Heading"]
    starts = [document.source.markdown_start + len(data[:start].decode()) for _, start in headings]
    for content in ([title for title, _ in headings], [title.partition("{{")[0] for title, _ in headings]):
        split = [split_id(each) for each in content]
        _add_headings(found, [each.content for each in split], [each.id for each in split], starts, rule)


def _add_headings(found: dict[str, int], titles: list[str], ids: list[str], starts: list[int], rule: str) -> None:
    for name in dict.fromkeys((rule, *RULES)):
        for anchor, start in zip(anchors(name, titles, ids), starts, strict=True):
            found.setdefault(anchor, start)
