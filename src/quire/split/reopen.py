"""What a part of a cut block needs around it to stay valid: a fence, a table's header, list markers, quote marks.

A part of a code block is opened and closed again with its fence; a part of a table repeats the header rows. Inside list
items, footnotes and quotes the lines of a block are indented, and four columns of indentation would turn them into
indented code. There, list markers as wide as the indentation are put in front, so that no line has to move.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from quire.model import Block
from quire.offsets import BLANK, line_start, text_end
from quire.parsing.site_generators import ADMONITION_MARKS

CODE_INDENT = 4
"""This many columns of indentation make code."""
DEEPEST = 40
"""Blocks nested deeper are cut at lines, and quote marks nested deeper are not repeated."""

_LABEL = re.compile(r"(?:\A[ \t]*|(?<=[> \t]))\[\^[^\]\s]+\]:[ \t]*")
"""The label of a footnote, perhaps in a quote; lines below it are indented by four columns."""
_MARKER = re.compile(r"([-*+]|[0-9]{1,9}[.)])([ \t]*)")
_BULLET = re.compile(r"[-*+](?=[ \t])")
_NUMBER = re.compile(r"[0-9]{1,9}[.)](?=[ \t])")
_LINE_PREFIX = re.compile(r"[ \t]*(?:(?:>|(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t])|\[\^[^\]\s]+\]:)[ \t]*)*")
_FENCE_MARKS = re.compile(r"`+|~+")
_FENCE_LINE = re.compile(r"[ \t]*(?:[-*+>][ \t]*|[0-9]{1,9}[.)][ \t]*|\[\^[^\]\s]+\]:[ \t]*)*?((`{3,}|~{3,})[^\r\n]*)")
_QUOTE_MARKS = re.compile(r"(?:[ \t]{0,3}>[ \t]?)+")
_LINE_END = re.compile(r"[\r\n]")
_FIRST_LINE = re.compile(r"[^\r\n]*+[\r\n]")
_CONTAINER_OPENING = re.compile(r":::|\{\{[<%]|\{%|!!!|\?\?\?|===")
_CONTAINER_CLOSING = re.compile(r"[ \t]*(?::{3,}[ \t]*\Z|\{\{[<%]-?[ \t]*/|\{%-?[ \t]*end)")
_BULLETS = re.compile(r"(?:-[ ]+)+")
_INDENTED_KINDS = frozenset({"code", "table", "list", "quote"})
"""The kinds of block that are, or may contain, code or a table."""


class Reopening(NamedTuple):
    """What the parts of one block need around them."""

    prefix: str = ""
    """In front of a part that starts at a line: an opening fence, a table's header."""
    suffix: str = ""
    """Behind a part that does not reach the block's end: a closing fence."""
    first_prefix: str = ""
    """In front of the part with the block's own start."""
    line_prefix: str = ""
    """After ``prefix``, for a part that starts inside a line."""
    start: int = -1
    """Where the block starts."""
    end: int = -1
    """Where the block ends."""

    def around(self, start: int, end: int, *, in_line: bool = False) -> tuple[str, str]:
        """The prefix and suffix of the part from ``start``, perhaps inside a line, to ``end``."""
        suffix = "" if end >= self.end else self.suffix
        if start <= self.start:
            return self.first_prefix, suffix
        return f"{self.prefix}{self.line_prefix}" if in_line else self.prefix, suffix


NOTHING = Reopening()


def without_bullets(prefix: str) -> str:
    """A prefix with spaces for bullets: below the first line of an admonition, text is indented anyway."""
    bullets = _BULLETS.match(prefix)
    return " " * bullets.end() + prefix[bullets.end() :] if bullets else prefix


class Fence(NamedTuple):
    """How a cut code fence is reopened."""

    reopening: Reopening
    bare_prefix: str
    """The opening fence without its info string."""
    inside: tuple[int, int]
    """The fence lines stay with a line of code: cuts are between these positions."""
    end: int
    """Where the code ends; in a quote, marks may follow it."""


Columns: TypeAlias = Sequence[int]
"""The columns at which the text of nested list items starts, outermost first."""


class Container:
    """The quotes, items and footnotes around a block that is cut; the document itself if there are none."""

    def __init__(self, text: str, columns: tuple[Columns, ...] = ((),), blocks: Sequence[Block] = ()) -> None:
        self._text = text
        self._blocks = blocks
        self._indents: tuple[int, int] | None = None
        self.columns = columns
        """Outside of quotes, then behind the mark of each quote."""
        self.quotes = len(columns) - 1
        """How many quotes are around the block."""
        self.column = columns[-1][-1] if columns[-1] else 0
        """The column at which text starts."""
        self.is_document = columns == ((),)

    def inside(self, block: Block) -> Container:
        """``block``, which is in this container, as a container."""
        if block.kind == "list":
            return self
        *outer, columns = self.columns
        if block.kind == "quote":
            outer, columns = [*outer, columns], ()
        elif block.kind == "footnote":
            columns = (*columns, self.column + CODE_INDENT)
        elif block.kind == "item":
            columns = (*columns, _item_column(self._text, block.start))
        return Container(self._text, (*outer, columns), block.children)

    @property
    def indents(self) -> tuple[int, int]:
        """The least and the greatest indentation of code and tables inside, by the lines that matter.

        Those are the first line of a block, the last of code and all of a table.
        """
        if self._indents is None:
            self._indents = self._measured()
        return self._indents

    def _measured(self) -> tuple[int, int]:
        text, beyond = self._text, self.column + CODE_INDENT
        least, most = beyond, self.column
        for block in self._blocks:
            if block.kind not in _INDENTED_KINDS:
                continue
            first = _width(text[line_start(text, block.start) : block.start])
            widths = {first}
            if block.kind in ("code", "table") and first < beyond:
                below = [match[1] for match in _lines_below(self.quotes).finditer(text, block.start, block.end)]
                all_widths = {first, *map(_width, {*below})}
                least = min(least, *all_widths)
                widths = all_widths if block.kind == "table" else {first, *map(_width, below[-1:])}
                fence = _FENCE_MARKS.match(text, block.start)
                if block.kind == "code" and fence and not text.endswith(fence[0], fence.end(), block.end):
                    most = max(most, CODE_INDENT)  # a fence that is not closed ends with the item
            most = max([most, *(each for each in widths if each < beyond)])
        return least, most


class QuoteMarks:
    """The quote marks at the start of lines. Remembers the last line, since cuts ask further and further on."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = (0, 0)  # the start of the last line, and how far it is known
        self._marks = (-1, -1)  # the line whose marks were looked for last, and where they end
        self.left_out = -1
        """The first line with too many marks to repeat; -1 for none."""

    def at(self, position: int) -> str:
        """The marks of the quotes around a position inside a line; empty at the start of a line."""
        if position == 0 or self._text[position - 1] in "\r\n":
            return ""
        start = self._line_of(position)
        if start != self._marks[0]:
            self._marks = (start, self._marks_end(start))
        end = self._marks[1]
        return self._text[start:end] if end <= position else ""

    def _marks_end(self, start: int) -> int:
        marks = _QUOTE_MARKS.match(self._text, start)
        if marks and marks.group().count(">") > DEEPEST:
            self.left_out = start if self.left_out < 0 else self.left_out
            marks = None
        return marks.end() if marks else start

    def _line_of(self, position: int) -> int:
        start, seen = self._line
        if position < start:
            start, seen = line_start(self._text, position), position
        elif position > seen:
            line = line_start(self._text, position, seen)
            is_new = line > seen or (seen > 0 and self._text[seen - 1] in "\r\n")
            start, seen = (line, position) if is_new else (start, position)
        self._line = (start, seen)
        return start


def reopened_fence(text: str, container: Container, quote_marks: str, start: int, end: int) -> Fence | None:
    """How the fence from ``start`` to ``end`` is reopened; None for code that is only indented."""
    fence = _FENCE_LINE.match(text, start, end)
    if fence is None:
        return None
    line_prefix, opening, marks = quote_marks + text[start : fence.start(1)], fence[1], fence[2]
    if container.is_document and _width(line_prefix) >= CODE_INDENT:
        return None
    last = _code_end(text, start, end, container.quotes)
    closing = line_start(text, last, start)
    closing = closing if closing > start else end
    is_closed = 0 <= _closing_indent(text[closing:last], marks, container.quotes) < container.column + CODE_INDENT
    indent = _indent(line_prefix, container)
    reopening = Reopening(
        prefix=f"{indent.opening}{opening}\n",
        suffix=f"\n{indent.below}{marks}",
        first_prefix=indent.first,
        line_prefix=indent.below,
        start=start + indent.replaced,
        end=last if is_closed or text[last:end].strip(BLANK) else len(text) + 1,  # quote marks end it too
    )
    first_line = _LINE_END.search(text, start, end)
    first_end = end if first_line is None else first_line.end()
    first_end += text.startswith("\r\n", first_end - 1) if first_line else 0
    return Fence(reopening, f"{indent.opening}{marks}\n", (first_end + 1, closing - 1 if is_closed else last), last)


def repeated_header(text: str, container: Container, start: int, first_row: int, end: int) -> Reopening:
    """How a table from ``start`` to ``end``, whose first body row is at ``first_row``, repeats its header."""
    header = text[start:first_row].rstrip(BLANK)
    line_prefix = prefix_at(header, 0)
    indent = _indent(line_prefix, container, may_move=True)
    break_ = _LINE_END.search(header)
    names = len(header) if break_ is None else break_.end() + header.startswith("\r\n", break_.start())
    delimiter = header[names + len(prefix_at(header, names)) :]
    again = f"{indent.opening}{header[len(line_prefix) : names]}{indent.below}{delimiter}\n"
    return Reopening(again, "", indent.first, indent.below, start + indent.replaced, end)


def reopened_container(text: str, block: Block) -> Reopening:
    """How a directive, a shortcode or an admonition is opened and closed again around its parts."""
    first, last = _FIRST_LINE.match(text, block.start, block.end), line_start(text, block.end, block.start)
    if first is None or last < first.end() or not _CONTAINER_OPENING.match(text, block.start):
        return NOTHING
    closing = text[last : block.end] if _CONTAINER_CLOSING.match(text, last, block.end) else ""
    suffix = f"\n{closing}" if closing else ""
    return Reopening(f"{first[0].rstrip()}\n", suffix, start=block.start, end=last if closing else block.end)


def repeated_markers(text: str, container: Container, start: int) -> Reopening | None:
    """The list markers that text from ``start`` on needs, so that code and tables below stay what they are."""
    line_prefix = prefix_at(text, start)
    *quoted, last = _by_quote(line_prefix)[: container.quotes + 1]
    is_wide = max(len(last) - len(last.lstrip()), container.indents[1]) >= CODE_INDENT
    columns = container.columns[-1] if is_wide else ()
    if not (columns or quoted):
        return None  # the usual case
    quotes = [*map(_with_bullets, quoted, container.columns)]
    first, replaced = _first_prefix(line_prefix, quotes, columns)
    if not first:
        return None
    below = _below(line_prefix)
    return Reopening(_line_above(quotes, columns), "", first, below, start + replaced, len(text) + 1)


def prefix_at(text: str, start: int) -> str:
    """The start of a line before its own text: indentation, quote marks, list markers, a footnote's label."""
    return _LINE_PREFIX.match(text, start).group()  # type: ignore[union-attr]  # it matches the empty text too


class _Indent(NamedTuple):
    """How a part is indented where it is opened again."""

    opening: str
    """In front of the reopened line; perhaps with a line of its own above."""
    below: str
    """In front of added lines below."""
    first: str
    """In front of the part with the block's own start."""
    replaced: int
    """How many characters at the block's start ``first`` replaces."""


def _indent(line_prefix: str, container: Container, *, may_move: bool = False) -> _Indent:
    """The indentation of parts of a block that starts behind ``line_prefix``; with ``may_move`` it may change."""
    *quoted, last = _by_quote(line_prefix)
    quotes = [*map(_with_bullets, quoted, container.columns)]
    own, column, below, columns = _width(line_prefix), container.column, _below(line_prefix), container.columns[-1]
    least, most = container.indents
    if last.strip():  # it starts on the line of an item's marker
        indent = len(last) - len(last.lstrip())
        outer = _up_to(columns, indent) if indent >= CODE_INDENT else ()
        opening = "> ".join([*quotes, _with_bullets(last, columns)])
        return _Indent(opening, below, *_first_prefix(line_prefix, quotes, outer))
    if not column or max(own, most) < CODE_INDENT:
        return _Indent("> ".join([*quotes, last]), below, *_first_prefix(line_prefix, quotes, ()))
    if own >= column + CODE_INDENT or (least >= own and most < own + CODE_INDENT):
        columns = _up_to(columns, own)
    elif may_move:
        below = "> ".join([*_by_quote(below)[:-1], " " * column])
    else:  # the item's text starts left of the block, so its marker gets a line of its own
        opening = _line_above(quotes, columns) + below
        return _Indent(opening, below, *_first_prefix(line_prefix, quotes, columns))
    return _Indent("> ".join([*quotes, _bullets(columns)]), below, *_first_prefix(line_prefix, quotes, columns))


def _first_prefix(line_prefix: str, quotes: list[str], columns: Columns) -> tuple[str, int]:
    """The prefix of the part with a block's own start, and how many characters it replaces."""
    parts = _by_quote(line_prefix)
    if not columns and quotes == parts[: len(quotes)]:
        return "", 0
    indent = len(parts[0]) - len(parts[0].lstrip())
    bullets = _bullets(columns) if columns else quotes[0]
    if indent == len(bullets) and quotes[1:] == parts[1 : len(quotes)] and not (quotes and columns):
        return bullets, len(line_prefix) - len(line_prefix.lstrip(" \t"))
    # Quote marks are in the text, and so is an indentation that is no item's: bullets get a line of their own.
    return _line_above(quotes, columns), 0


def _line_above(quotes: list[str], columns: Columns) -> str:
    """A line that opens the containers of a block and has nothing else on it."""
    return "> ".join([*quotes, _bare_bullets(columns) if columns else ""]).rstrip() + "\n"


def _below(line_prefix: str) -> str:
    """The prefix of a line added below: list markers become spaces."""
    # Bullets by themselves: there may be thousands, and it takes a tenth of the time.
    parts = (_BULLET.sub(" ", part) for part in _by_quote(line_prefix))
    return "> ".join(_NUMBER.sub(lambda number: " " * len(number.group()), part) for part in parts)


def _by_quote(line_prefix: str) -> list[str]:
    """A line prefix split at its quote marks; a footnote's label becomes a bullet."""
    first, *others = _LABEL.sub(_bullets([CODE_INDENT]), line_prefix, count=1).expandtabs(4).split(">")
    return [first, *(each.removeprefix(" ") for each in others)]


def _with_bullets(part: str, columns: Columns) -> str:
    """A part of a line prefix with bullets in place of an indentation that would make code."""
    marks = part.lstrip()
    if not marks:
        return _bullets(columns) if columns else part
    indent = len(part) - len(marks)
    return _bullets(_up_to(columns, indent)) + marks if indent >= CODE_INDENT else part


def _up_to(columns: Columns, column: int) -> Columns:
    """The columns up to ``column``, and that one as the last."""
    kept = [each for each in columns if each <= column]
    if kept and column < kept[-1] + CODE_INDENT:
        kept.pop()
    return [*kept, column]


def _bullets(columns: Columns) -> str:
    """Markers of nested items as wide as an indentation; none is wider than four columns."""
    made = ""
    for column in columns:
        while (rest := column - len(made)) > CODE_INDENT:
            made += "-".ljust(CODE_INDENT if rest > CODE_INDENT + 1 else CODE_INDENT - 1)
        made += "-".ljust(rest) if rest else ""
    return made


def _bare_bullets(columns: Columns) -> str:
    """Markers of nested items whose text starts on the next line."""
    *outer, last = columns
    made = _bullets(outer)
    if last - len(made) == len("1. "):
        return f"{made}1."
    return f"{_bullets([*outer, last - len('* ')])}*"  # three dashes would be a rule


def _item_column(text: str, start: int) -> int:
    """The column at which the text of the item starts whose marker is at ``start``."""
    line = line_start(text, start)
    bullet = _MARKER.match(text, start)
    if text.startswith(ADMONITION_MARKS, start):
        return _width(text[line:start]) + CODE_INDENT
    if bullet is None:
        return _width(text[line:start])
    marker, column = _width(text[line : bullet.end(1)]), _width(text[line : bullet.end()])
    is_empty = text[bullet.end() : bullet.end() + 1] in ("", "\r", "\n")
    return marker + 1 if is_empty or column > marker + CODE_INDENT else column


def _width(line_prefix: str) -> int:
    """The columns behind the last quote mark of a line prefix; one space belongs to the mark."""
    inner = _LABEL.sub(" " * CODE_INDENT, line_prefix).expandtabs(4).rpartition(">")[2]
    return len(inner) - (">" in line_prefix and inner.startswith(" "))


@cache
def _lines_below(quotes: int) -> re.Pattern[str]:
    """The prefixes of lines that are not blank, inside this many quotes."""
    return re.compile(rf"[\r\n]((?:[ \t]*+>){{{quotes}}}[ \t]*+)(?![ \t\r\n]|\Z)")


def _closing_indent(line: str, marks: str, quotes: int) -> int:
    """The indentation of a line that closes a fence, inside this many quotes; -1 if it does not close it."""
    *outer, rest = line.split(">", quotes)
    fence = rest.strip(" \t")
    if len(outer) != quotes or any(each.strip(" \t") for each in outer) or fence.strip(marks[0]):
        return -1
    return _width(line[: len(line) - len(rest.lstrip(" \t"))]) if fence.startswith(marks) else -1


def _code_end(text: str, start: int, end: int, quotes: int) -> int:
    """Where code ends: in a container blank lines may follow it, in a quote with its marks."""
    if not quotes:
        return text_end(text, start, end)
    bare = start + len(text[start:end].rstrip(f"{BLANK}>"))
    line = _LINE_END.search(text, bare, end)
    return text_end(text, start, line.start() if line else end)
