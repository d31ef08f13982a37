r"""Constructs of documentation generators that Markdown does not know, and what the parser sees in their place.

    {{< tab >}} … {{< /tab >}}           Hugo: raw text, so no heading inside; the parser sees one paragraph
    {% highlight %} … {% endhighlight %}  Liquid (Jekyll): the same for highlight, comment and code
    !!! note "Title"                      MkDocs: admonitions and tabs with indented content; the parser sees list items
    === "Tab"

Nothing moves: what the parser sees has as many characters. Shortcodes and tags around Markdown (``{{% tab %}}``,
``{% hint %}``) are containers, see containers.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from quire.substitutions import without_spaces

_Opening = TypeVar("_Opening")
_Closing = TypeVar("_Closing")

TEMPLATE_TAG = re.compile(
    r"\{(?:\{(?P<kind>[<%])-?+[ \t]*+(?P<closes>/?+)[ \t]*+(?P<name>[\w./-]*+)(?P<rest>[^{}\n]*?)-?[>%]\}\}"
    r"|%-?+[ \t]*+(?P<end>end)?+(?P<word>\w++)[^{}\n]*?-?%\})"
)
"""A shortcode of Hugo, or a tag of Liquid."""
CLOSING_TAG = re.compile(r"\{(?:\{[<%]-?[ \t]*/|%-?[ \t]*end)")
_RAW_WORDS = frozenset({"highlight", "comment", "code"})
_LINE_START = re.compile(r"(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*\Z")
_MAX_OPEN = 64
"""How many openings may wait for their closing; keeps hostile input linear."""
_INDENTED = re.compile(
    r"\n(?P<indent>[ ]*+)(?P<mark>!!!|\?\?\?\+?|===[!+]?)[ ]++(?=[\w\"':])[^\n]*+(?=\n++(?P=indent)[ ]{4}[ ]*+[^ \n])"
)
"""The first line of an admonition or a tab of MkDocs, above indented content."""
ADMONITION_MARKS = ("!!!", "???", "===")
FILLER = "\x7f"
"""Replaces a character that ``link_view`` removes inside a link."""
_REFERENCE = re.compile(
    r"""\{\{[<%][ \t]*+(?:rel)?ref[ \t]++["`]?(?P<page>[^\s"`<>{}]++)[^{}\n]*?[>%]\}\}"""
    r"""|\{%-?[ \t]*+(?:link|post_url)[ \t]++(?P<post>[^\s{}%]++)[ \t]*+-?%\}"""
    r"""|\{\{[ \t]*+site\.(?:baseurl|url)[^{}\n]*+\}\}"""
)
"""A destination made by the generator: Hugo's ``ref``, Liquid's ``link``; or the site's address in front of one."""
_LINK_AROUND_BRACKETS = re.compile(r"\[\[([^\[\]\n]*+)\]\](?=[(\[])")


def link_view(lines: str) -> str:
    """``lines`` as the parser should see them to find links: with the text of shortcodes, but not their code.

    Destinations that the generator makes are replaced by their argument, filled up with ``FILLER``.
    """
    if "{%" in lines or "{{" in lines:
        lines = _blanked(lines, _code_spans(lines))
        lines = _REFERENCE.sub(lambda tag: (tag["page"] or tag["post"] or "").ljust(len(tag[0]), FILLER), lines)
        lines = without_spaces(lines, FILLER)
    if "]](" in lines or "]][" in lines:  # no wiki link
        lines = _LINK_AROUND_BRACKETS.sub(rf"[{FILLER}\1{FILLER}]", lines)
    return with_items(lines) if any(mark in lines for mark in ADMONITION_MARKS) else lines


def _code_spans(lines: str) -> Iterator[tuple[int, int]]:
    """The contents of shortcodes and tags that show code."""
    name, start = "", 0
    for tag in TEMPLATE_TAG.finditer(lines):
        word = tag["name"] if tag["kind"] else tag["word"]
        closes = tag["closes"] or tag["end"]
        if not name and not closes and word in _RAW_WORDS:
            name, start = word, tag.end()
        elif name and closes and word == name:
            yield start, tag.start()
            name = ""


def _blanked(lines: str, spans: Iterable[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            parts += (lines[done:start], "x" * (end - start))
            done = end
    return "".join(parts) + lines[done:] if parts else lines


def without_raw_text(lines: str) -> tuple[str, dict[str, None]]:
    """``lines`` with each outermost construct that has raw text over several lines as one word; the closed names."""
    waiting = Openings[tuple[str, bool, int, int]]()  # name, is raw, start, how many spans there were
    spans: list[tuple[int, int]] = []
    closed: dict[str, None] = {}
    for tag in TEMPLATE_TAG.finditer(lines):
        kind, closes, name, rest, end, word = tag.groups()
        name = name if kind else word
        is_raw = kind == "<" or (not kind and name in _RAW_WORDS)
        if not (closes or end):
            if not (rest or "").rstrip().endswith("/"):
                waiting.open((name, is_raw, tag.start(), len(spans)))
            continue
        closed[name] = None
        if opening := waiting.closed_by((name, is_raw), lambda opening, mark: opening[:2] == mark):
            _, _, start, before = opening
            if not is_raw:  # what is around it has Markdown inside, so it is not raw
                waiting[:] = [(outer, False, at, count) for outer, _, at, count in waiting]
            elif _is_block(lines, start, tag.end()):
                spans[before:] = [(start, tag.end())]
    return _blanked(lines, spans), closed


class Openings(list[_Opening]):
    """The openings that wait for their closings, the innermost last."""

    def open(self, opening: _Opening) -> None:
        """Add an opening."""
        del self[_MAX_OPEN:]
        self.append(opening)

    def closed_by(self, closing: _Closing, matches: Callable[[_Opening, _Closing], bool]) -> _Opening | None:
        """Take the last opening that ``closing`` matches, and those inside it, off the list."""
        for index in range(len(self) - 1, -1, -1):
            if matches(self[index], closing):
                opening = self[index]
                del self[index:]
                return opening
        return None


def _is_block(lines: str, start: int, end: int) -> bool:
    """Whether a construct goes over several lines and starts one of them."""
    line = lines.rfind("\n", 0, start) + 1
    return lines.find("\n", start, end) >= 0 and _LINE_START.match(lines, line, start) is not None


def with_items(lines: str) -> str:
    """``lines`` with a bullet in place of the mark of each admonition and tab; tabs in a row are one list."""
    parts: list[str] = []
    done = 0
    bullet, other, was_tab = "*", "+", False
    for line in _INDENTED.finditer(f"\n{lines}"):
        start, end = line.start("mark") - 1, line.end("mark")  # with the space behind it
        is_tab = line["mark"].startswith("===")
        if not (is_tab and was_tab):
            bullet, other = other, bullet
        was_tab = is_tab
        parts += (lines[done:start], f"{bullet}   ".ljust(end - start, "x"))
        done = end
    return "".join(parts) + lines[done:] if parts else lines
