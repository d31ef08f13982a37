"""Where a fragment such as ``#install`` leads in a document: to a section, or to something with an id in one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from quire.model import Document
from quire.parsing.events import opened, plain_text
from quire.parsing.heading_ids import split_id
from quire.parsing.links import inline_events, inline_text
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


def heading_anchors(document: Document) -> dict[str, int]:
    """The number of the section with each anchor or slug; the first of several that are equal."""
    numbers: dict[str, int] = {}
    sections = document.section_columns
    for number in range(1, len(sections.anchors)):
        numbers.setdefault(sections.anchors[number], number)
        numbers.setdefault(sections.slugs[number], number)
    return numbers


class Anchors:
    """Where fragments lead in one document. ``rule`` is tried before other rules for the anchors of headings."""

    def __init__(self, document: Document, rule: str = "github") -> None:
        self._document, self._rule = document, rule
        self._headings = heading_anchors(document)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of every anchor: headings by all rules, those inside other blocks as well, and ids."""
        return _all_anchors(self._document, self._rule)

    def position(self, fragment: str, *, any_case: bool = False) -> int | None:
        """The position of the section or the id that a fragment leads to; None if there is none.

        With ``any_case``, ``#sendRequest`` finds the anchor ``sendrequest``, as people write it.
        """
        number = self._headings.get(fragment)
        if number is not None:
            return self._document.section_columns.starts[number]
        position = _find(self.positions, fragment)
        if position is None and any_case:
            folded = {anchor.casefold(): start for anchor, start in reversed(self.positions.items())}
            position = _find(folded, fragment.casefold())
        return position


def _find(positions: Mapping[str, int], fragment: str) -> int | None:
    """The position of an anchor: GitHub, Material for MkDocs and VS Code put something in front of some."""
    names = (fragment, fragment.removeprefix("user-content-"), fragment.lstrip("+_"))
    return next((positions[name] for name in names if name in positions), None)


def _all_anchors(document: Document, rule: str) -> dict[str, int]:
    sections = document.section_columns
    titles, starts = sections.titles[1:], sections.starts[1:]
    positions: dict[str, int] = {}
    _add_headings(positions, titles, sections.ids[1:], starts, rule)
    _add_headings(
        positions, titles, [""] * len(titles), starts, rule
    )  # the slug that a title would make without its id
    for match in _ID.finditer(document.text):
        name = match[match.lastindex or 1]
        if match["tab"]:
            name = unicode_slug(name)
            anchor = sections.anchors[document.section_at(match.start())]
            positions.setdefault(f"{anchor}-{name}", match.start())
        positions.setdefault(name, match.start())
    if (document.path or "").endswith(".mdx"):  # components make anchors of table rows
        for match in _TABLE_ROW.finditer(document.text):
            positions.setdefault(match[1], match.start())
    _add_inner_headings(positions, document, rule)
    return positions


def _add_inner_headings(positions: dict[str, int], document: Document, rule: str) -> None:
    text = inline_text(document)
    data, events = text.encode(), inline_events(text)
    headings = [(plain_text(events), place["start"]) for event, place in events if opened(event)[0] == "Heading"]
    starts = [document.source.markdown_start + len(data[:start].decode()) for _, start in headings]
    for content in ([title for title, _ in headings], [title.partition("{{")[0] for title, _ in headings]):
        split = [split_id(title, document.source.substitutions) for title in content]
        _add_headings(
            positions, [heading.content for heading in split], [heading.id for heading in split], starts, rule
        )


def _add_headings(positions: dict[str, int], titles: list[str], ids: list[str], starts: list[int], rule: str) -> None:
    for name in dict.fromkeys((rule, *RULES)):
        for anchor, start in zip(anchors(name, titles, ids), starts, strict=True):
            positions.setdefault(anchor, start)
