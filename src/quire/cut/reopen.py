"""What a part of a cut block needs around it to stay valid: a fence, a table's header, quote marks.

Inside list items, footnotes and quotes these have the block's own indentation, so that no line has to move.
"""

import re
from typing import NamedTuple

from quire.model.document import Block
from quire.model.offsets import BLANK, LINE_END, line_start, text_end
from quire.parsing.nested_blocks import directive_content

CODE_INDENT = 4  # this many columns of indentation make code

_MARKER = r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t])"
_LABEL = r"\[\^[^\]\s]+\]:"
_LINE_PREFIX = re.compile(rf"[ \t]*(?:(?:>|{_MARKER}|{_LABEL})[ \t]*)*")
"""The start of a line before its own text: indentation, quote marks, list markers, a footnote's label."""
_INDENT = re.compile(r"[ \t]*")
_LABELS = re.compile(rf"{_LABEL}[ \t]*")
_NOT_INDENT = re.compile(r"[^> \t]")
_FENCE = re.compile(r"(`{3,}|~{3,})[^\r\n]*")
_QUOTE_MARKS = re.compile(r"(?:[ \t]{0,3}>[ \t]?)+")
_LONGEST_LINE = 20_000


class Affixes(NamedTuple):
    """What the parts of one block need around them."""

    prefix: str = ""  # in front of a part that starts at a line: an opening fence, a table's header
    suffix: str = ""  # behind a part that does not reach the block's end: a closing fence
    line_prefix: str = ""  # after `prefix`, for a part that starts inside a line
    start: int = -1  # where the block starts
    end: int = -1  # where the block ends

    def around(self, start: int, end: int, *, in_line: bool = False) -> tuple[str, str]:
        """The prefix and suffix of the part from ``start``, perhaps inside a line, to ``end``."""
        suffix = "" if end >= self.end else self.suffix
        if start <= self.start:
            return "", suffix
        return f"{self.prefix}{self.line_prefix}" if in_line else self.prefix, suffix


NO_AFFIXES = Affixes()


def quote_marks(text: str, position: int) -> str:
    """The marks of the quotes around a position inside a line; empty at the start of a line, and in very long lines."""
    line = line_start(text, position, max(position - _LONGEST_LINE, 0))
    if line == position or (line and text[line - 1] not in "\r\n"):
        return ""
    marks = _QUOTE_MARKS.match(text, line, line + _LONGEST_LINE)
    return marks[0] if marks and marks.end() <= position else ""


def reopened_fence(
    text: str, quotes: str, start: int, end: int, *, is_nested: bool
) -> tuple[Affixes, tuple[int, int], int, int] | None:
    """How the fence from ``start`` to ``end`` is reopened; None for code that is only indented.

    Also the positions between which it may be cut, because a line of code stays with the fence; where the code ends;
    and the columns before its first or its last line, whichever has more.
    """
    first = (_LINE_PREFIX if is_nested else _INDENT).match(text, start).end()  # type: ignore[union-attr]  # it matches
    fence = _FENCE.match(text, first, end)
    indent = _below(quotes + text[start:first])
    if fence is None or (not is_nested and width(indent) >= CODE_INDENT):
        return None
    opening, marks = fence[0], fence[1]
    last = _code_end(text, start, end, indent.count(">"))
    closing = line_start(text, last, start)
    closing = closing if closing > start else end
    line = text[closing:last].lstrip("> \t")
    closing_indent = text[closing : last - len(line)]
    is_closed = line.startswith(marks) and not line.strip(marks[0]) and closing_indent.count(">") == indent.count(">")
    is_closed = is_closed and (is_nested or width(closing_indent) < CODE_INDENT)
    affixes = Affixes(
        prefix=f"{indent}{opening}\n",
        suffix=f"\n{indent}{marks}",
        line_prefix=indent,
        start=start,
        end=last if is_closed or text[last:end].strip(BLANK) else len(text) + 1,  # quote marks end it too
    )
    first_line = LINE_END.search(text, start, end)
    inside = (first_line.end() if first_line else end) + 1, closing - 1 if is_closed else last
    widest = max(width(indent), width(closing_indent) if is_closed else 0)
    return affixes, inside, last, widest


def repeated_header(text: str, start: int, first_row: int, end: int) -> Affixes:
    """How a table from ``start`` to ``end``, whose first body row is at ``first_row``, repeats its header."""
    header = text[start:first_row].rstrip(BLANK)
    line_prefix = _LINE_PREFIX.match(header)[0]  # type: ignore[index]  # it matches the empty text too
    indent = _below(line_prefix)
    return Affixes(f"{indent}{header[len(line_prefix) :]}\n", "", indent, start, end)


def reopened_container(text: str, block: Block) -> Affixes:
    """How a directive, a shortcode or an admonition is opened and closed again around its parts."""
    start, end = directive_content(text, block)
    if start == block.start:
        return NO_AFFIXES
    suffix = f"\n{text[end : block.end]}" if end < block.end else ""
    return Affixes(f"{text[block.start : start].rstrip()}\n", suffix, start=block.start, end=end)


def width(line_prefix: str) -> int:
    """The columns behind the last quote mark of a line prefix; one space belongs to the mark."""
    inner = line_prefix.expandtabs(4).rpartition(">")[2]
    return len(inner) - (">" in line_prefix and inner.startswith(" "))


def _below(line_prefix: str) -> str:
    """The prefix of a line added below: list markers become spaces, a footnote's label four."""
    return _NOT_INDENT.sub(" ", _LABELS.sub(" " * CODE_INDENT, line_prefix))


def _code_end(text: str, start: int, end: int, quotes: int) -> int:
    """Where code ends: in a container blank lines may follow it, in a quote with its marks."""
    if not quotes:
        return text_end(text, start, end)
    bare = start + len(text[start:end].rstrip(f"{BLANK}>"))
    line = LINE_END.search(text, bare, end)
    return text_end(text, start, line.start() if line else end)
