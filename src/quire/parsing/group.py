"""Blocks that Markdown knows only in parts, put together: directives, math, ``<details>`` and MDX components.

Used by blocks.py. The parser sees ``:::note`` as a paragraph, ``$$`` as inline text and ``<details>`` as HTML up
to the next blank line. Here everything from the opening to the closing becomes one block whose children are the
parts, unless a heading stands between: headings make sections, whatever surrounds them. In math there is none
(formulas.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quire.model import Block, Kind
from quire.parsing import formulas

_DIRECTIVE = re.compile(r" {0,3}(:{3,})[ \t]*\{?[ \t]*([^\s{}\[\]:]+)")
_DIRECTIVE_END = re.compile(r"[\r\n] {0,3}(:{3,})[ \t]*\Z|\A {0,3}(:{3,})[ \t]*\Z")
_TAG = re.compile(r"<(/?)((?i:details)|[A-Z][\w.]*)(?=[\s/>])[^<>]*?(/?)>")
_CLOSING_TAG = re.compile(r"</(?:(?i:details)|[A-Z])")
_MOST_OPEN = 64
"""So many openings may wait for their closing; further ones are plain blocks. Keeps hostile input linear."""


class _Mark(NamedTuple):
    """An opening or a closing."""

    kind: Kind
    name: str = ""
    colons: int = 0
    opens: bool = True


class _Opening(NamedTuple):
    """An opening that waits for its closing."""

    mark: _Mark
    at: int

    @property
    def kind(self) -> Kind:
        """What it opens."""
        return self.mark.kind

    def closed_by(self, mark: _Mark) -> bool:
        """Whether ``mark`` is its closing."""
        if self.kind == "directive":
            return mark.kind == "directive" and self.mark.colons <= mark.colons
        return (self.kind, self.mark.name) == (mark.kind, mark.name)


class _Group(NamedTuple):
    """The blocks from an opening to its closing."""

    opening: _Opening
    last: int


def group(text: str, blocks: Sequence[Block], start: int, end: int) -> tuple[Block, ...]:
    """``blocks`` from ``start`` to ``end``, with all that stands between an opening and its closing made one block."""
    has_colons, has_dollars = text.find(":::", start, end) >= 0, text.find("$$", start, end) >= 0
    if not (has_colons or has_dollars or _CLOSING_TAG.search(text, start, end)):
        return tuple(blocks)
    grouped: list[Block] = []
    done = 0
    for opening, last in _groups(text, blocks):
        grouped += blocks[done : opening.at]
        grouped.append(_joined(opening, blocks[opening.at : last + 1]))
        done = last + 1
    return (*grouped, *blocks[done:])


def _joined(opening: _Opening, parts: Sequence[Block]) -> Block:
    inner = tuple(parts) if len(parts) > 1 else ()
    return Block(opening.kind, parts[0].start, parts[-1].end, info=opening.mark.name, inner=inner)


def _groups(text: str, blocks: Sequence[Block]) -> list[_Group]:
    """The outermost groups, in order."""
    waiting: list[_Opening] = []
    groups: list[_Group] = []
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            waiting.clear()
        elif block.kind not in ("code", "rule", "table", "reference"):
            for mark in _marks(block, text[block.start : block.end], waiting):
                if mark.opens:
                    waiting = [*waiting[:_MOST_OPEN], _Opening(mark, index)]
                else:
                    _close(waiting, groups, mark, index)
    return groups


def _close(waiting: list[_Opening], groups: list[_Group], mark: _Mark, index: int) -> None:
    for place in range(len(waiting) - 1, -1, -1):
        opening = waiting[place]
        if opening.closed_by(mark):
            del waiting[place:]
            if opening.at == index and opening.kind == "html":
                return  # one block already
            while groups and groups[-1].opening.at >= opening.at:
                groups.pop()
            # A block that closes one group and opens the next belongs to both: they are one, for no text stands in two.
            first = groups.pop().opening if groups and groups[-1].last >= opening.at else opening
            groups.append(_Group(first, index))
            return


def _marks(block: Block, text: str, waiting: Sequence[_Opening]) -> Iterator[_Mark]:
    """The openings and closings in a block."""
    if waiting and waiting[-1].kind == "math":
        if text.count("$$") % 2:
            yield _Mark("math", opens=False)
        return
    if block.kind == "paragraph" and "$$" in text:
        yield from _math(text)
    if ":::" in text:
        yield from _directive(block, text)
    if block.kind == "html" or any(opening.kind == "html" for opening in waiting):
        for match in _TAG.finditer(text):
            closing, name, empty = match.groups()
            if not empty:
                yield _Mark("html", name=name, opens=not closing)


def _math(text: str) -> Iterator[_Mark]:
    if formulas.opens(text):
        yield _Mark("math", opens=True)
    elif text.lstrip(" ").startswith("$$") and text.endswith("$$") and text.count("$$") % 2 == 0:
        yield _Mark("math", opens=True)
        yield _Mark("math", opens=False)


def _directive(block: Block, text: str) -> Iterator[_Mark]:
    if block.kind == "paragraph" and (opening := _DIRECTIVE.match(text)):
        yield _Mark("directive", name=opening.group(2), colons=len(opening.group(1)), opens=True)
    if ending := _DIRECTIVE_END.search(text):
        yield _Mark("directive", colons=len(ending.group(1) or ending.group(2)), opens=False)
