"""Blocks that Markdown knows only in parts, put together: directives, math, ``<details>`` and MDX components.

Used by blocks.py and inside.py. The parser sees ``:::note`` as a paragraph, ``$$`` as inline text, ``<details>`` as
HTML up to the next blank line, and a tag with JavaScript in it as text. Here everything from the opening to the closing
becomes one block whose children are the parts, unless a heading stands between: headings make sections, whatever
surrounds them. In math there is none (formulas.py). What stands right above an opening or right below a closing,
without a blank line, is of the same part and so of the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quire.model import Block, Kind
from quire.parsing import formulas

_LINE_START = r"(?:\A|(?<=[\r\n]))[ \t]*+"
_DIRECTIVE = re.compile(rf"{_LINE_START}(:{{3,}}+)[ \t]*+(?:\{{?[ \t]*+([^\s{{}}\[\]:]++)|(?=[\r\n]|\Z))")
"""A line that opens a directive, which then has a name, or closes one."""


def _braces(depth: int) -> str:
    """JavaScript in braces, with so many levels of further ones in it."""
    inner = rf"|{_braces(depth - 1)}" if depth else ""
    return rf"\{{(?:[^{{}}]++{inner})*+\}}"


_NAME = r"(?:(?i:details)|[A-Z][\w.]*+)"
_ATTRIBUTES = rf"""(?:[^<>{{}}"']++|"[^"]*+"|'[^']*+'|["']|{_braces(3)})*+"""
# One that is never finished is passed over as a whole, so no text is looked at from each of many tags on.
_TAG = re.compile(rf"<(/?)({_NAME})(?=[\s/>]|\Z)({_ATTRIBUTES})(>?)")
_TAG_LINE = re.compile(rf"{_LINE_START}<{_NAME}(?:[\s/>]|\Z)")
_CLOSING_TAG = re.compile(r"</(?:(?i:details)|[A-Z])")
_BELOW = re.compile(r"[ \t]*+(?:\r\n|\r|\n)[ \t]*+>")
"""The last line of a tag over several lines, which is a quote to the parser."""
_PASSED = frozenset({"code", "rule", "reference"})
"""The kinds of block in which nothing opens or closes."""
_PASSED_INSIDE = _PASSED | {"list", "quote", "footnote"}
"""Those inside another block: with what holds blocks itself, which may go a thousand deep."""
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


def may_group(text: str, start: int, end: int) -> bool:
    """Whether it is worth looking for groups between two positions."""
    has_marks = text.find(":::", start, end) >= 0 or text.find(formulas.MARK, start, end) >= 0
    return has_marks or _CLOSING_TAG.search(text, start, end) is not None


def group(text: str, blocks: Sequence[Block], *, is_inside: bool = False) -> tuple[Block, ...]:
    """``blocks``, with all that stands between an opening and its closing made one; they may be inside another."""
    grouped: list[Block] = []
    done = 0
    for opening, last in _groups(text, blocks, _PASSED_INSIDE if is_inside else _PASSED):
        grouped += blocks[done : opening.at]
        grouped.append(_joined(opening, blocks[opening.at : last + 1]))
        done = last + 1
    return (*grouped, *blocks[done:])


def _joined(opening: _Opening, parts: Sequence[Block]) -> Block:
    inner = tuple(parts) if len(parts) > 1 else ()
    return Block(opening.kind, parts[0].start, parts[-1].end, info=opening.mark.name, inner=inner)


def _groups(text: str, blocks: Sequence[Block], passed: frozenset[str]) -> list[_Group]:
    """The outermost groups, in order."""
    waiting: list[_Opening] = []
    groups: list[_Group] = []
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            waiting.clear()
        elif block.kind not in passed:
            for mark in _marks(text, block, waiting):
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


def _marks(text: str, block: Block, waiting: Sequence[_Opening]) -> Iterator[_Mark]:
    """The openings and closings in a block."""
    lines, is_text = text[block.start : block.end], block.kind == "paragraph"
    if "<" not in lines and ":::" not in lines and formulas.MARK not in lines:
        return  # the usual case
    if block.kind == "table":  # what stands right below a table is a row of it to the parser
        lines = "\n".join([line for line in lines.replace("\r", "\n").split("\n") if "|" not in line])
    if waiting and waiting[-1].kind == "math":
        if lines.count(formulas.MARK) % 2:
            yield _Mark("math", opens=False)
        return
    if is_text and formulas.MARK in lines:
        yield from _math(lines)
    if ":::" in lines:
        yield from _directives(lines, is_text=is_text)
    has_tags = block.kind == "html" or (is_text and "<" in lines and _TAG_LINE.search(lines))
    if has_tags or any(opening.kind == "html" for opening in waiting):
        yield from _tags(f"{lines}>" if is_text and _BELOW.match(text, block.end) else lines)


def _tags(text: str) -> Iterator[_Mark]:
    for match in _TAG.finditer(text):
        closing, name, attributes, end = match.groups()
        if end and not attributes.endswith("/"):
            yield _Mark("html", name="details" if name.lower() == "details" else name, opens=not closing)


def _math(text: str) -> Iterator[_Mark]:
    if formulas.opens(text):
        yield _Mark("math", opens=True)
    elif text.lstrip(" ").startswith("$$") and text.endswith("$$") and text.count("$$") % 2 == 0:
        yield _Mark("math", opens=True)
        yield _Mark("math", opens=False)


def _directives(text: str, *, is_text: bool) -> Iterator[_Mark]:
    """Only text opens directives; those in a list or a quote are closed there."""
    inside: list[int] = []
    for match in _DIRECTIVE.finditer(text):
        colons, name = len(match[1]), match[2]
        if name and is_text:
            yield _Mark("directive", name=name, colons=colons, opens=True)
        elif name:
            inside.append(colons)
        elif inside and inside[-1] <= colons:
            inside.pop()
        else:
            yield _Mark("directive", colons=colons, opens=False)
