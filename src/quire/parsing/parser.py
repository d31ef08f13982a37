"""The Markdown parser: the text that it reads in place of the source, and its events. The only user of pyromark.

The text is as long as the source and has the same blocks, without traps of the parser. One ASCII character replaces
every other one: the parser reports UTF-8 bytes, so bytes are characters. An event is a name (``"SoftBreak"``) or a
mapping with one entry (``{"Start": {"Heading": {...}}}``); the range of an opening event covers the whole element.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import pyromark
from pyromark import Options

from quire.model.document import Kind
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


Events: TypeAlias = Iterator[tuple[Any, Any]]

# The parser's front matter options stay off: they match in the middle of a document too. Math and task items are
# inline text here; without those options there are fewer events.
_OPTIONS = Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH
_PARSER = pyromark.Markdown(options=_OPTIONS)
_WIKI_LINK_PARSER = pyromark.Markdown(options=_OPTIONS | Options.ENABLE_WIKILINKS)
KINDS: dict[str, Kind] = {
    "Paragraph": "paragraph", "Heading": "heading", "CodeBlock": "code", "Table": "table", "List": "list",
    "BlockQuote": "quote", "HtmlBlock": "html", "FootnoteDefinition": "footnote", "Rule": "rule", "Item": "item",
    "TableHead": "row", "TableRow": "row",
}  # fmt: skip
"""The parser's names for blocks, and quire's."""


def events_of(text: str, *, wiki_links: bool = False) -> Events:
    """The events of ``text``, each with its range; for ASCII text the range is in characters."""
    parser = _WIKI_LINK_PARSER if wiki_links else _PARSER
    return iter(parser.events_with_range(encodable(text)))


def top_blocks(text: str) -> Iterator[tuple[Kind, int, int]]:
    """Kind, start (perhaps behind an indentation) and end (perhaps behind blank lines) of blocks of ASCII text."""
    end = -1
    for event, place in _PARSER.events_with_range(text):
        if place["start"] >= end:  # otherwise it is inside the block before
            tag, _ = opened(event)
            if tag in KINDS:  # not a cell that pads a row: those may start behind their table
                end = place["end"]
                yield KINDS[tag], place["start"], end


def inline_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each code span, fence, link, image and tag in prose; ``text`` is ASCII."""
    for event, place in _WIKI_LINK_PARSER.events_with_range(text):
        tag, details = opened(event)
        is_block = tag in ("Link", "Image") or (tag == "CodeBlock" and details != "Indented")
        if is_block or (not isinstance(event, str) and ("Code" in event or "InlineHtml" in event)):
            yield place["start"], place["end"]


def last_item_end(text: str) -> int:
    """Where the last item of a list ends; the list itself ends behind the definitions that follow it."""
    end = 0
    for event, place in events_of(text):
        if place["start"] >= end and opened(event)[0] == "Item":
            end = place["end"]
    return end


def definitions(text: str) -> str:
    """The reference definitions of ``text``, separated by blank lines."""
    data = encodable(text).encode()
    spans = [definition["span"] for definition in _PARSER.reference_definitions(data.decode()).values()]
    return "\n\n".join(data[span["start"] : span["end"]].decode() for span in spans)


def footnotes(text: str) -> str:
    """A short definition for each footnote of ``text``, separated by blank lines."""
    openings = (opened(event) for event, _ in events_of(text))
    return "\n\n".join(f"[^{label}]: x" for tag, label in openings if tag == "FootnoteDefinition")


def opened(event: Any) -> tuple[str, Any]:
    """The name and the details of the element that ``event`` opens; an empty name if it opens none."""
    if isinstance(event, str):
        return (event, None) if event == "Rule" else ("", None)
    start = event.get("Start")
    if start is None or isinstance(start, str):
        return start or "", None
    ((tag, details),) = start.items()
    return tag, details


def plain_text(events: Events, element: str = "Heading") -> str:
    """The text up to the end of the element just opened, without markup; code and the texts of images are kept."""
    parts: list[str] = []
    for event, _ in events:
        if isinstance(event, str):
            parts.append(" ")  # a line break: no other event in such an element is without details
            continue
        ((name, details),) = event.items()
        if name in ("Text", "Code"):
            parts.append(details)
        elif name == "End" and element in details:
            break
    return "".join(parts).strip(BLANK)


def encodable(text: str) -> str:
    """``text`` without lone surrogates, which the parser refuses."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
