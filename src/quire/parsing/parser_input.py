"""The text that the line scan and the parser read in place of the source: same length, same blocks, no parser traps.

The parser reports UTF-8 bytes. One ASCII character replaces every other one, so bytes are characters.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from quire.model.offsets import BLANK
from quire.parsing.containers import MATH, TemplateTag, raw_spans, template_tags, with_items

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_DELIMITER = re.compile(r"[|:]|--")
_TABS_TO_SPACES = str.maketrans("\t", " ")
_FEEDS_TO_DELETE = str.maketrans("\x0b\x0c", "\x7f\x7f")
_BLANK_LINE = re.compile(r"\n[ \t]++(?=\n)")
_ODD_LINE = re.compile(r"\n[ \t!?=](?:[ \t]*+(?:\n|!!!|\?\?\?|===)|!!|\?\?|==)")
"""A blank line that is not empty, or one that may start an admonition; one search is faster than two."""

_DASHES = r"[ \t]*+:?-++:?[ \t]*+"
DELIMITER_ROW = rf"\|?{_DASHES}(?:\|{_DASHES})*+\|?"  # a pattern for the second line of a table
_DELIMITER_LINE = re.compile(rf"\n([ \t>]*+)({DELIMITER_ROW})[ \t]*+(?=\n|\Z)")
_INLINE_TAG = r"(?:a|b|br|code|em|i|img|kbd|span|strong|sub|sup)\b[^<>\n]*+>[ \t]*+[^ \t\n]"
# Lines that open a block, that delimit or underline, or that end HTML.
_OPENING = rf"\#{{1,6}}[ \t\n]|```|~~~|[-+*][ \t\n]|[0-9]{{1,9}}[.)][ \t\n]|\[[^\]\n]*+\]:|<(?!{_INLINE_TAG})"
_RULING = r"[-*_=][-*_= \t]*+\n|[-:][-:| \t]*+\n"
_HEADER = re.compile(rf"[ \t>]*+(?![|\n]|{_OPENING}|{_RULING}|-->|\?>|\]\]>)")
"""The indentation of a line that may be a header row and does not start with a pipe."""
_CODE_INDENT = 4
_ITEM = ("- ", "-\t")
_MATH = re.compile(
    r"(?:\A|(?<=\n))([ ]{0,3}\$\$)((?:[^$\n]|\$(?!\$)|\n(?![ \t]*+(?:\n|```|~~~)))*+)"
    r"(?:(?<=\n)|(?=\$\$+[ \t]*+(?:\n|\Z)))(\$\$)"
)
"""Display math without a blank line, up to the ``$$`` that closes it: nothing in it is a block."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_ESCAPED = re.compile(r"\\.")


class ParserInput(NamedTuple):
    """A text for the line scan and the parser, and which constructs of documentation generators it has."""

    lines: str
    tags: list[TemplateTag]
    has_admonitions: bool  # whether it has admonitions or tabs of MkDocs, which the parser sees as list items


def parser_input(text: str, *, is_commonmark: bool = False) -> ParserInput:
    r"""``text`` with lines that end with ``\n``, empty blank lines, and bullets for admonitions."""
    lines = plain_lines(text.translate(_FEEDS_TO_DELETE) if "\x0c" in text or "\x0b" in text else text)
    has_odd_line = _ODD_LINE.search(f"\n{lines}") is not None
    if has_odd_line:  # blank lines become several empty ones, which mean the same
        lines = _BLANK_LINE.sub(lambda line: "\n" * len(line[0]), lines)
    tags = template_tags(lines)
    if "$" in lines and MATH in lines:  # one character is found much faster than two
        lines = _MATH.sub(lambda math: f"{math[1]}{'x' * len(math[2])}{math[3]}", lines)
    if is_commonmark:
        return ParserInput(lines, tags, has_admonitions=False)
    if tags:
        lines = blanked(lines, raw_spans(lines, tags))
    with_bullets = with_items(lines) if has_odd_line else lines
    return ParserInput(with_bullets, tags, with_bullets is not lines)


def blanked(lines: str, spans: Iterable[tuple[int, int]]) -> str:
    """``lines`` with each span as one word."""
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += (lines[done:start], "x" * (end - start))
        done = end
    return "".join(parts) + lines[done:] if parts else lines


def for_parser(lines: str) -> str:
    """``lines`` as ASCII, with tables that the parser sees."""
    if not lines.isascii():  # a control character has no meaning in Markdown
        lines = _NOT_ASCII.sub(lambda characters: "\x7f" * len(characters[0]), lines)
    return _mark_tables(lines)


def plain_lines(text: str) -> str:
    """``text`` with line ends and tabs that the parser understands; nothing moves."""
    if "\r" in text:
        # The parser does not always end a line at a lone carriage return.
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    if "\t" in text:
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if "\t" in line and (line[0] in " #" or line.rstrip(" \t")[-1:] in "-:|`~"):
                lines[number] = _without_tabs(line)
        text = "\n".join(lines)
    return text


def _without_tabs(line: str) -> str:
    """``line`` with spaces for tabs that hide a closing fence, closing hashes or a delimiter row from the parser."""
    if _HEADING.match(line):
        return line.translate(_TABS_TO_SPACES)
    text = line.rstrip(" \t")
    start = len(text)
    if text.endswith(("-", ":", "|")):
        first = _DELIMITER.search(line, len(line.rstrip("-:| \t")))
        start = first.start() if first else len(line)
    elif not text.endswith(("`", "~")):
        return line
    return line[:start] + line[start:].translate(_TABS_TO_SPACES)


def _mark_tables(lines: str) -> str:
    """``lines`` with a pipe before each header row: else the parser sees no table in the middle of a paragraph."""
    if "|" not in lines:
        return lines
    parts: list[str] = []
    done = 0
    for row in _DELIMITER_LINE.finditer(lines):
        if "|" not in row[2]:
            continue
        if row[2].startswith(_ITEM):  # a list item, which the parser would take for a delimiter row
            start, mark = row.start(2) + len(row[2].rstrip(" \t")) - 1, "x"
        else:
            header = _HEADER.match(lines, lines.rfind("\n", 0, row.start()) + 1)
            if header is None or not _is_header(header[0], lines[header.end() : row.start()], row[1], row[2]):
                continue
            start = header.end()
            mark = "|x" if lines.startswith(r"\|", start) else "|"
        parts += (lines[done:start], mark)
        done = start + len(mark)
    return "".join(parts) + lines[done:] if parts else lines


def _is_header(header_indent: str, header: str, row_indent: str, row: str) -> bool:
    """Whether a line can be the header above a delimiter row: as many cells, and not in another block."""
    if header_indent.count(">") != row_indent.count(">"):
        return False
    deeper = len(row_indent.expandtabs(4)) - len(header_indent.expandtabs(4))
    return deeper < _CODE_INDENT and cell_count(header) == cell_count(row)


def cell_count(row: str) -> int:
    """How many cells a table row has: unescaped pipes separate them, the outer ones are optional."""
    plain = (_ESCAPED.sub("", row) if "\\" in row else row).strip(BLANK)
    return plain.removeprefix("|").removesuffix("|").count("|") + 1
