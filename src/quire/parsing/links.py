"""The links of a document, by the parser, and the anchors that fragments such as ``#install`` lead to."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from quire.model.dialects import CODE_SHORTCODES
from quire.model.document import Document, Link
from quire.model.substitutions import substitute, without_spaces
from quire.parsing.containers import ADMONITION_MARKS, template_tags, with_items
from quire.parsing.headings import split_id
from quire.parsing.parser import blanked, encodable, events_of, opened, plain_lines, plain_text
from quire.parsing.slugs import RULES, anchors, unicode_slug

_FILLER = "\x7f"  # replaces a character that is removed inside a link
_REFERENCE = re.compile(
    r"""\{\{[<%][ \t]*+(?:rel)?ref[ \t]++["`]?(?P<page>[^\s"`<>{}]++)[^{}\n]*?[>%]\}\}"""
    r"""|\{%-?[ \t]*+(?:link|post_url)[ \t]++(?P<post>[^\s{}%]++)[ \t]*+-?%\}"""
    r"""|\{\{[ \t]*+site\.(?:baseurl|url)[^{}\n]*+\}\}"""
)
"""A destination made by the generator: Hugo's ``ref``, Liquid's ``link``; or the site's address in front of one."""
_LINK_AROUND_BRACKETS = re.compile(r"\[\[([^\[\]\n]*+)\]\](?=[(\[])")
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


def links_of(document: Document) -> Iterator[Link]:
    """The links of ``document``, in order."""
    if document.source.syntax != "markdown" or not ("[" in document.text or "<" in document.text):
        return
    text = _inline_text(document)
    data, events = text.encode(), events_of(text, wiki_links=True)
    start, seen, variables = document.source.markdown_start, 0, document.source.substitutions
    for event, place in events:
        # ``opened`` costs more, and most events open nothing. Names of events and elements have none of these in them.
        if "Start" not in event or "Link" not in (element := event["Start"]):
            continue
        words = substitute(plain_text(events, "Link").replace(_FILLER, ""), variables)
        start += len(data[seen : place["start"]].decode())  # bytes to characters
        end = start + len(data[place["start"] : place["end"]].decode())
        target = substitute(element["Link"]["dest_url"].replace(_FILLER, ""), variables)
        yield Link(words, start, end, target.removesuffix("\\"))
        start, seen = end, place["end"]


def _inline_text(document: Document) -> str:
    """What the parser reads in place of the Markdown of a document, which is as long: shortcodes without their code."""
    lines = plain_lines(document.text[document.source.markdown_start :])
    if "{%" in lines or "{{" in lines:
        lines = blanked(lines, _code_spans(lines))
        lines = _REFERENCE.sub(lambda tag: (tag["page"] or tag["post"] or "").ljust(len(tag[0]), _FILLER), lines)
        lines = without_spaces(lines, _FILLER)
    if "]](" in lines or "]][" in lines:  # no wiki link
        lines = _LINK_AROUND_BRACKETS.sub(rf"[{_FILLER}\1{_FILLER}]", lines)
    return encodable(with_items(lines) if any(mark in lines for mark in ADMONITION_MARKS) else lines)


def _code_spans(lines: str) -> Iterator[tuple[int, int]]:
    """The contents of shortcodes and tags that show code."""
    opened, content = "", 0
    for start, end, name, closes in template_tags(lines):
        if not opened and not closes and name in CODE_SHORTCODES:
            opened, content = name, end
        elif opened and closes and name == opened:
            yield content, start
            opened = ""


def heading_anchors(document: Document) -> dict[str, int]:
    """The number of the section with each anchor or slug; the first of several that are equal."""
    columns = document.section_columns
    last_first = [*enumerate(zip(columns.anchors, columns.slugs, strict=True))][:0:-1]
    return {name: number for number, names in last_first for name in names}


class Anchors:
    """Where fragments lead in one document. ``rule`` is tried before other rules for the anchors of headings."""

    def __init__(self, document: Document, rule: str = "github") -> None:
        self._document, self._rule = document, rule
        self._headings = heading_anchors(document)

    def position(self, fragment: str, *, any_case: bool = False) -> int | None:
        """The position of the section or id that a fragment leads to; ``any_case``: ``#aB`` finds the anchor ``ab``."""
        number = self._headings.get(fragment)
        if number is not None:
            return self._document.section_columns.starts[number]
        position = _find(self.positions, fragment)
        if position is None and any_case:
            folded = {anchor.casefold(): start for anchor, start in reversed(self.positions.items())}
            position = _find(folded, fragment.casefold())
        return position

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of every anchor: headings by all rules, those inside other blocks as well, and ids."""
        document, sections = self._document, self._document.section_columns
        titles, starts = sections.titles[1:], sections.starts[1:]
        positions: dict[str, int] = {}
        self._add_headings(positions, titles, sections.ids[1:], starts)
        self._add_headings(positions, titles, [""] * len(titles), starts)  # the slugs of titles without their ids
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
        headings = list(_inner_headings(document))
        starts = [start for _, start in headings]
        for contents in ([title for title, _ in headings], [title.partition("{{")[0] for title, _ in headings]):
            split = [split_id(content, document.source.substitutions) for content in contents]
            self._add_headings(positions, [title for title, _ in split], [given_id for _, given_id in split], starts)
        return positions

    def _add_headings(self, positions: dict[str, int], titles: list[str], ids: list[str], starts: list[int]) -> None:
        for rule in dict.fromkeys((self._rule, *RULES)):
            for anchor, start in zip(anchors(rule, titles, ids), starts, strict=True):
                positions.setdefault(anchor, start)


def _find(positions: Mapping[str, int], fragment: str) -> int | None:
    """The position of an anchor: GitHub, Material for MkDocs and VS Code put something in front of some."""
    names = (fragment, fragment.removeprefix("user-content-"), fragment.lstrip("+_"))
    return next((positions[name] for name in names if name in positions), None)


def _inner_headings(document: Document) -> Iterator[tuple[str, int]]:
    """The text and the position of every heading, also of those inside other blocks."""
    text = _inline_text(document)
    data, events = text.encode(), events_of(text, wiki_links=True)
    for event, place in events:
        if opened(event)[0] == "Heading":
            yield plain_text(events), document.source.markdown_start + len(data[: place["start"]].decode())
