"""The blocks inside a block, which is parsed again by itself: items, rows, the content of quotes and containers."""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import pairwise

from quire.model.document import Block, BlockColumns, Kind, fence_info
from quire.model.offsets import BLANK, line_start
from quire.parsing.blocks import flat_blocks
from quire.parsing.containers import ADMONITION_MARKS, Marks, container_marks, containers
from quire.parsing.line_scan import PLAIN_LIST
from quire.parsing.parser import KINDS, events_of, for_parser, opened, parser_input

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
NESTING = frozenset({"item", "quote", "footnote"})  # their content is indented or marked; it may have containers
_WITH_BLOCKS = frozenset({"list", "quote", "footnote"})
_FIRST_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)")
_DIRECTIVE_CLOSINGS = {
    ":::": re.compile(r"[ \t]*:{3,}[ \t]*\Z"),
    "{{<": re.compile(r"[ \t]*\{\{<-?[ \t]*/"),
    "{{%": re.compile(r"[ \t]*\{\{%-?[ \t]*/"),
    "{%": re.compile(r"[ \t]*\{%-?[ \t]*end"),
} | dict.fromkeys(ADMONITION_MARKS)
"""The line that closes a directive, by the marks that open it; admonitions and tabs end with their indentation."""
_FIRST_COLUMN = re.compile(r"\n[^ \n]")
_DEEPEST_CONTAINER = 2


@dataclass(slots=True)
class _Open:
    """An element whose end has not been reached; ``kind`` is None for inline elements."""

    kind: Kind | None
    start: int
    end: int
    level: int = 0
    children: list[Block] = field(default_factory=list)
    prose: tuple[int, int] | None = None  # text of an item without a paragraph around it, as in every tight list

    def end_prose(self, text: str) -> None:
        """Make a paragraph of the text without one."""
        if self.prose:
            self.children.append(_block("paragraph", text, *self.prose))
            self.prose = None


def inner_blocks(text: str, block: Block, depth: int = 0) -> tuple[Block, ...]:
    """The blocks directly inside a block in ``depth`` containers, each with its children; most kinds have none."""
    if block.kind == "directive" and text.startswith(ADMONITION_MARKS, block.start):
        block = block._replace(kind="list")
    if block.kind in _WITH_BLOCKS:
        return _content(text, block)
    if block.kind == "table":
        return _rows(text, block)
    if block.kind not in ("directive", "math", "html") or depth > _DEEPEST_CONTAINER:
        return ()
    if block.kind == "html" and "\r" not in text and not _BLANK_LINE.search(text, block.start, block.end):
        return ()  # the usual case: nothing but HTML
    start, end = directive_content(text, block) if block.kind == "directive" else (block.start, block.end)
    if start == block.start:
        end = block.end
    parts, _ = flat_blocks(text, start, end, parser_input(text[start:end]).lines)
    if len(parts.kinds) < 2 and start == block.start:
        return ()
    blocks = [_block_in_container(text, *row, depth) for row in zip(*parts[:3], strict=True)]
    return tuple([inner._replace(children=inner_blocks(text, inner, depth + 1)) for inner in blocks])


def list_items(text: str, block: Block) -> tuple[Block, ...]:
    """The items of a list; of a plain one without their content, which ``item_content`` finds."""
    lines = parser_input(text[block.start : block.end]).lines
    plain = PLAIN_LIST.match(f"{lines}\n\n")
    if plain is None or plain.end() < len(lines):
        return _content(text, block)
    starts = [0, *(match.end() - 1 for match in _FIRST_COLUMN.finditer(lines))]
    edges = pairwise((*starts, len(lines)))
    return tuple([_block("item", text, block.start + start, block.start + end) for start, end in edges])


def item_content(text: str, item: Block) -> tuple[Block, ...]:
    """The blocks inside an item of a plain list."""
    items = _content(text, item._replace(kind="list"))
    return items[0].children if items else ()


def directive_content(text: str, block: Block) -> tuple[int, int]:
    """Where the content of a directive starts, and ends if a line closes it; both its start if none opens it."""
    first, last = _FIRST_LINE.match(text, block.start, block.end), line_start(text, block.end, block.start)
    opening = next((mark for mark in _DIRECTIVE_CLOSINGS if text.startswith(mark, block.start)), None)
    if first is None or last < first.end() or opening is None:
        return block.start, block.start
    closing = _DIRECTIVE_CLOSINGS[opening]
    return first.end(), last if closing and closing.match(text, last, block.end) else block.end


def _block_in_container(text: str, kind: Kind, start: int, end: int, depth: int) -> Block:
    """A block of a container: a shortcode with blank lines is one itself; others, and deeper ones, are cut as HTML."""
    if kind == "heading":  # in math
        kind = "paragraph"
    elif kind == "paragraph" and text.startswith(("{{<", "{%"), start) and "\n" in text[start:end]:
        has_blocks = depth < _DEEPEST_CONTAINER and _BLANK_LINE.search(text, start, end)
        kind = "directive" if has_blocks else "html"
    return Block(kind, start, end, 0, fence_info(text, start) if kind == "code" else "")


def _rows(text: str, table: Block) -> tuple[Block, ...]:
    rows, start = [], table.start
    for number, line in enumerate(parser_input(text[table.start : table.end]).lines.split("\n")):
        if number != 1:
            rows.append(_block("row", text, start, start + len(line), int(number == 0)))
        start += len(line) + 1
    return tuple(rows)


def _content(text: str, block: Block) -> tuple[Block, ...]:
    """The content of a list, a quote or a footnote, by the parser's events."""
    stack = [_Open(None, block.start, block.end)]
    part = text[block.start : block.end]
    lines, tags, _ = parser_input(part)
    marks = container_marks(text, block.start, block.end, part, tags)
    for event, place in events_of(for_parser(lines)):
        start, end = block.start + place["start"], block.start + place["end"]
        tag, details = opened(event)
        kind = KINDS.get(tag)
        if kind is not None:
            stack[-1].end_prose(text)
            level = int(details["level"][1]) if tag == "Heading" else int(tag == "TableHead")
            stack.append(_Open(kind, start, end, level))
        elif isinstance(event, str) or "End" not in event:
            if (prose := stack[-1]).kind == "item":
                prose.prose = (prose.prose[0] if prose.prose else start, end)
            if tag:
                stack.append(_Open(None, start, end))
        if kind == "rule" or (not isinstance(event, str) and "End" in event):  # a rule has no closing event
            _close(stack, text, marks)
    same = stack[0].children[0] if stack[0].children else None
    return same.children if same is not None and same.kind == block.kind else ()


def _close(stack: list[_Open], text: str, marks: Marks) -> None:
    done = stack.pop()
    if done.kind is None:
        return
    done.end_prose(text)
    block, children = _block(done.kind, text, done.start, done.end, done.level), done.children
    if marks.positions and done.kind in NESTING:
        children = _joined(text, marks, children)
    stack[-1].children.append(block._replace(children=tuple(children)) if children else block)


def _joined(text: str, marks: Marks, blocks: list[Block]) -> list[Block]:
    """``blocks`` with each container as one block that has its parts as children."""
    joined: list[Block] = []
    done = 0
    columns = BlockColumns([], [], [], {})
    positions: list[int] = []
    for block in blocks:
        columns.add(block.kind, block.start, block.end)
        if block.kind not in _WITH_BLOCKS:  # they may be nested a thousand deep
            first, last = (bisect_left(marks.positions, edge) for edge in (block.start, block.end))
            positions += marks.positions[first:last]
    for first, last, kind, name in containers(text, Marks(positions, marks.tags), columns):
        parts = blocks[first : last + 1]
        children = tuple(parts) if len(parts) > 1 else ()
        joined += (*blocks[done:first], Block(kind, parts[0].start, parts[-1].end, 0, name, children))
        done = last + 1
    return joined + blocks[done:]


def _block(kind: Kind, text: str, start: int, end: int, level: int = 0) -> Block:
    """A block without the blank characters that the parser may include."""
    while start < end and text[start] in BLANK:
        start += 1
    while start < end and text[end - 1] in BLANK:
        end -= 1
    return Block(kind, start, end, level, fence_info(text, start) if kind == "code" else "")
