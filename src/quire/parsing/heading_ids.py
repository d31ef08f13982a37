r"""The ids that authors give their headings, as the common documentation generators write them.

    ## Title {#id .class key=value}  Hugo, VitePress, Docusaurus 2, Pandoc
    ## Title { #id }                 MkDocs with attribute lists
    ## Title {: #id }                Python-Markdown, kramdown (Jekyll)
    ## Title {/* #id */}             Docusaurus 3 with MDX
    ## <a id="id"></a>Title          HTML; also name="id", and on a line of its own above the heading
    (id)=                            MyST, on a line of its own above the heading
    ## Title [id]                    Elastic docs-builder; elsewhere it is part of the title

Attributes, comments and shortcodes are not part of a title.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from quire.dialects import COMMONMARK, DOCS_BUILDER
from quire.substitutions import NO_SUBSTITUTIONS, substitute, title_text

_VALUE = r"""(?:"[^"\n]*+"|'[^'\n]*+'|[^\s{}"']++)"""
_ATTRIBUTE = rf"(?:[#.][^\s{{}}]++|[\w:.-]++={_VALUE})"
_ATTRIBUTE_LIST = rf"{_ATTRIBUTE}(?:[ \t]++{_ATTRIBUTE})*+"
_WORD = rf"(?:{_ATTRIBUTE}|[\w-]++)"  # only behind a colon
_WORD_LIST = rf"{_WORD}(?:[ \t]++{_WORD})*+"
_ATTRIBUTES = re.compile(rf"\{{(?::[ \t]*+({_WORD_LIST})|[ \t]*+({_ATTRIBUTE_LIST}))[ \t]*+\}}[ \t]*+\Z")
_ID = re.compile(r"(?:\A|(?<=\s))#([^\s#]+)|(?:\A|(?<=\s))id=[\"']?([^\s\"']+)")
_COMMENT = re.compile(r"[ \t]*(?:\{/\*[ \t]*(.*?)[ \t]*\*/\}|<!--[ \t]*(.*?)[ \t]*-->)")
_ANCHOR = re.compile(
    r"""<a[ \t][^<>]*?\b(?:id|name)[ \t]*=[ \t]*["']?([^\s"'<>]+)["']?[^<>]*>(?:[ \t]*</a>)?""", re.IGNORECASE
)
BRACKETED_ID = re.compile(r"(?<=[^\]\s])[ \t]*+\[#?([^\s\[\]^]++)\][ \t]*+\Z")
_SHORTCODE = re.compile(r"(?P<ticks>`++).+?(?<!`)(?P=ticks)(?!`)|\{\{[<%][^{}\n]*+(?<=[>%])\}\}")
_PARAMETER = re.compile(r"""[<%]-?[ \t]*param[ \t]+["'`]?(?:[\w-]+\.)*([\w-]+)""")
"""Hugo's parameter without a value: its last word."""
_MAX_CONTENT = 2000
"""A longer heading is taken as it is: its title is cut anyway, and no pattern below has to be linear."""
_TEXT = re.compile(r'\btext="([^"\n]*)"')
_QUOTED = re.compile(r'"([^"\n]+)"')
_LABEL_ABOVE = re.compile(r"(?:\A|\n)[ ]{0,3}\(([^()\s][^()\n]*)\)=[ \t]*\Z")
_ANCHOR_ABOVE = re.compile(rf"(?:\A|\n)[ ]{{0,3}}{_ANCHOR.pattern}[ \t]*(?:</a>)?[ \t]*\Z", re.IGNORECASE)

_ID_LINE = rf"[ \t]*+(?:\([^()\s][^()\r\n]*+\)=|{_ANCHOR.pattern}(?:[ \t]*+</a>)?)[ \t]*+(?:\r\n|\r|\n|\Z)"
_ID_LINES = re.compile(rf"(?:{_ID_LINE}|[ \t]*+(?:\r\n|\r|\n))++", re.IGNORECASE)


class HeadingId(NamedTuple):
    """The content of a heading without what is not its title, and its id."""

    content: str
    id: str
    """Empty if the author gave none."""


def split_id(content: str, variables: Mapping[str, str] = NO_SUBSTITUTIONS, dialect: str | None = None) -> HeadingId:
    """Take attributes, comments, shortcodes and anchors off the content of a heading, and replace its variables."""
    heading_id = ""
    if len(content) > _MAX_CONTENT or dialect == COMMONMARK:
        return HeadingId(substitute(content, variables), heading_id)
    if dialect == DOCS_BUILDER and (brackets := BRACKETED_ID.search(content)):
        content, heading_id = content[: brackets.start()], brackets[1]
    if "{" in content:
        content = title_text(content, variables).strip(" \t") or content.strip("{}% \t")
        attributes = _ATTRIBUTES.search(content)
        if attributes:
            ids = _ID.search(attributes[1] or attributes[2])
            heading_id = (ids[1] or ids[2]) if ids else ""
            content = content[: attributes.start()]
    if "{/*" in content or "<!--" in content:
        for comment in _COMMENT.finditer(content):
            said = comment[1] or comment[2] or ""
            heading_id = heading_id or (said[1:] if said.startswith("#") and " " not in said else "")
        content = _COMMENT.sub("", content)
    if "<a" in content or "<A" in content:
        anchor = _ANCHOR.search(content)
        if anchor:
            heading_id = heading_id or anchor[1]
            content = content[: anchor.start()] + content[anchor.end() :]
    if "{{" in content:
        shown = _SHORTCODE.sub(_shortcode_text, content).strip(" \t")
        content = shown or " ".join(_QUOTED.findall(content)) or content.strip("{}<>% \t")
    return HeadingId(content.strip(" \t"), heading_id)


def _shortcode_text(shortcode: re.Match[str]) -> str:
    """The text that a shortcode is known to show; code as it is."""
    if shortcode[0].startswith("`"):
        return shortcode[0]
    text = _TEXT.search(shortcode[0]) or _PARAMETER.search(shortcode[0])
    return text[1] if text else ""


def ids_end(text: str, start: int, end: int) -> int:
    """Where lines end that only give ids, and blank lines, from ``start`` on; ``start`` if there are none."""
    lines = _ID_LINES.match(text, start, min(end, start + _MAX_CONTENT))
    return lines.end() if lines else start


def id_above(text: str, start: int, end: int) -> str:
    """The id that the block from ``start`` to ``end``, directly above a heading, gives it; empty if none."""
    above = text[max(start, end - 200) : end]
    if above.endswith(")="):
        match = _LABEL_ABOVE.search(above)
    else:
        match = _ANCHOR_ABOVE.search(above) if "<a" in above or "<A" in above else None
    return match[1] if match else ""
