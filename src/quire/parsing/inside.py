"""What is inside a block: the items of a list at every depth, the rows of a table, the content of a quote.

Asked for through ``Block.children``. The block is parsed again by itself, which costs only when somebody asks;
reference definitions are about inline text, so a block at document level has the same blocks inside when alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from quire.blank import BLANK, text_end
from quire.model import Block, Kind
from quire.parsing.events import KINDS, events_of, opened
from quire.parsing.group import group, may_group
from quire.parsing.standin import stand_in

CONTAINERS = frozenset({"list", "quote", "table", "footnote"})
"""The kinds of block at document level that hold blocks."""
_GROUPED = frozenset({"item", "quote", "footnote"})
"""The kinds that may hold directives, components and the like."""

_MARKER = re.compile(r"^(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t\n]|\Z)", re.MULTILINE)
_NEAR = 64
"""How many characters at the ends of a block are looked at first."""
_FENCE_INFO = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*([^\r\n]*)")


@dataclass
class _Open:
    """An element whose end has not been met; ``kind`` is None for one that is no block."""

    kind: Kind | None
    start: int
    end: int
    level: int = 0
    children: list[Block] = field(default_factory=list)
    prose: list[int] = field(default_factory=list)
    """Start and end of text that stands in an item without a paragraph around it, as in every tight list."""


class Inside:
    """Finds what is inside the blocks of one document."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[tuple[Kind, int, int], tuple[Block, ...]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Inside, (self._text,)  # what is known can be found again

    def __call__(self, block: Block) -> tuple[Block, ...]:
        """The blocks directly inside ``block``; each knows its own children."""
        return self._once(block, self._rows if block.kind == "table" else self._found)

    def _once(self, block: Block, found: Callable[[Block], tuple[Block, ...]]) -> tuple[Block, ...]:
        """What ``found`` returns for a block: there may be thousands inside, and they are asked for again and again."""
        key = block.kind, block.start, block.end
        if key not in self._known:
            self._known[key] = found(block)
        return self._known[key]

    def plain_items(self, block: Block) -> tuple[Block, ...]:
        """The items of a list whose every other line is blank or indented: each marker in the first column is one's."""
        return self._once(block, self._plain_items)

    def _plain_items(self, block: Block) -> tuple[Block, ...]:
        text, items = self._text, self._items
        starts = [block.start + mark.start() for mark in _MARKER.finditer(stand_in(text[block.start : block.end]))]
        ends = [*starts[1:], block.end]
        return tuple(
            Block("item", start, text_end(text, start, end), 0, "", items)
            for start, end in zip(starts, ends, strict=True)
        )

    def _items(self, item: Block) -> tuple[Block, ...]:
        """What is inside one of ``plain_items``: alone it is a list with one item."""
        return self._once(item, self._in_item)

    def _in_item(self, item: Block) -> tuple[Block, ...]:
        alone = self._found(item._replace(kind="list"))
        return alone[0].children if alone else ()

    def _rows(self, table: Block) -> tuple[Block, ...]:
        """The rows of a table: its lines, but for the second, which only delimits."""
        text, rows, start = self._text, [], table.start
        for number, line in enumerate(stand_in(text[table.start : table.end]).split("\n")):
            if number != 1:
                rows.append(_block("row", text, start, start + len(line), int(number == 0)))
            start += len(line) + 1
        return tuple(rows)

    def _found(self, block: Block) -> tuple[Block, ...]:
        text = self._text
        outermost = _Open(None, block.start, block.end)
        stack = [outermost]
        has_groups = may_group(text, block.start, block.end)
        for event, place in events_of(stand_in(text[block.start : block.end])):
            start, end = block.start + place["start"], block.start + place["end"]
            if not isinstance(event, str) and "End" in event:
                _close(stack, text, has_groups=has_groups)
            elif (tag := opened(event)) != ("", None):
                _open(stack, text, tag, (start, end))
            else:
                _note_prose(stack[-1], start, end)
        same = outermost.children[0] if outermost.children else None
        return same.children if same is not None and same.kind == block.kind else ()


def _open(stack: list[_Open], text: str, opening: tuple[str, Any], span: tuple[int, int]) -> None:
    tag, value = opening
    kind = KINDS.get(tag)
    if kind is None:
        _note_prose(stack[-1], *span)
    else:
        _end_prose(stack[-1], text)
    level = 1 if tag == "TableHead" else int(value["level"][1]) if tag == "Heading" else 0
    stack.append(_Open(kind, *span, level))
    if tag == "Rule":  # the one block that has no closing event
        _close(stack, text)


def _close(stack: list[_Open], text: str, *, has_groups: bool = False) -> None:
    done = stack.pop()
    if done.kind is None:
        return
    _end_prose(done, text)
    block = _block(done.kind, text, done.start, done.end, done.level)
    is_grouped = has_groups and done.kind in _GROUPED
    inner = group(text, done.children, is_inside=True) if is_grouped else tuple(done.children)
    stack[-1].children.append(block._replace(inner=inner))


def _note_prose(element: _Open, start: int, end: int) -> None:
    if element.kind == "item":
        element.prose = [element.prose[0] if element.prose else start, end]


def _end_prose(element: _Open, text: str) -> None:
    if element.prose:
        element.children.append(_block("paragraph", text, *element.prose))
        element.prose = []


def _block(kind: Kind, text: str, start: int, end: int, level: int = 0) -> Block:
    """A block from its first to its last character that is not blank: the parser may start or end it outside."""
    start, end = _trimmed(text, start, end)
    return Block(kind, start, end, level, fence_info(text, start) if kind == "code" else "")


def fence_info(text: str, start: int) -> str:
    """The info string of the fence that starts here; nothing for code that is only indented."""
    match = _FENCE_INFO.match(text, start)
    return match.group(1).strip(BLANK) if match else ""


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the blanks around it. Blocks may be nested a thousand deep, so not all of each is looked at."""
    first, last = text[start : min(start + _NEAR, end)], text[max(end - _NEAR, start) : end]
    if first.isspace() or last.isspace():
        first = last = text[start:end]
    start += len(first) - len(first.lstrip(BLANK))
    return start, max(start, end - len(last) + len(last.rstrip(BLANK)))
