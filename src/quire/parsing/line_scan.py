r"""The line scan: finds plain blocks by regular expressions over whole lines. blocks.py combines it with the parser.

Most blocks start in the first column, and their lines alone show where they start and end, provided that a block at
document level can start there. The parser decides that: each series of plain blocks is replaced by a thematic break,
which it reports if and only if a block can start there.

Every pattern is possessive, so the cost is linear: a match never gives back what it has taken. Groups inside a
possessive pattern must not capture.
"""

import re
from typing import NamedTuple

from quire.model.document import BlockColumns, Kind
from quire.model.offsets import BLANK
from quire.parsing.parser import DELIMITER_ROW, cell_count

# The first characters of an item's text. A line that starts so is neither a rule nor an underline.
_ITEM_TEXT = r"""(?:[^\x00-\x20\#)*+,\-:;=>\]^_|}~]|\*\*?[A-Za-z`]|_[A-Za-z])"""
_BLOCK_END = r"(?=\n|\#{1,6}[ ])"

# A line that starts or continues a paragraph wherever it is: it cannot open another block or a container, underline a
# heading or delimit a table.
_PROSE = (
    r"""(?:[^\x00-\x20\#$&)*+\-0-9:<=>\[\\\]^_`|}~]|\*\*?[A-Za-z`]|_[A-Za-z]|`[^`\n]|\$[^$\n]"""
    r"""|[0-9]++[^0-9.)\n]|\[[^\[\]\\\n]*+\][^:\n])[^\n]*+\n"""
)
_PARAGRAPH_END = rf"(?=\n|\#{{1,6}}[ ]|>|```[^`\n]*+\n|~~~|(?:[-*+]|1[.)])[ ]{_ITEM_TEXT})"
_PARAGRAPH = rf"[ ]{{0,3}}+{_PROSE}(?:[ ]*+{_PROSE})*+{_PARAGRAPH_END}"
_HEADING = r"\#\#{0,5}(?:[ ][^\n]*+)?+\n"
_INDENT = r"(?:(?<=\n)|(?<=\n[ ])|(?<=\n[ ]{2})|(?<=\n[ ]{3}))"


def _fence(mark: str, info: str) -> str:
    """A fence, up to the first line that closes it or the end of the text."""
    closing = rf"{mark}{mark[0]}*+[ ]*+\n"
    return rf"{mark}(?!{mark[0]}){info}*+\n(?:[^{mark[0]}]++|(?!{_INDENT}{closing}){mark[0]})*+(?:{closing}|\Z)"


# The usual lengths; the parser reads longer ones.
_FENCES = [_fence("```", r"[^`\n]"), _fence("````", r"[^`\n]"), _fence("~~~", r"[^\n]"), _fence("~~~~", r"[^\n]")]
_INDENTED_CODE = r"[ ][ ]{3,}+[^ \t\n][^\n]*+\n(?:[ ]{4}[^\n]*+\n|\n++(?=[ ]{4}))*+(?!\n*+[ \t])"


def _list(markers: dict[str, int], any_marker: str) -> str:
    """A list: items, with lines that are blank or indented as far as their text. No further item follows it."""
    items = "|".join(
        rf"{marker}{_ITEM_TEXT}[^\n]*+\n"
        rf"(?:[ ]{{{indent}}}[^\n]*+\n|\n++(?=[ ]{{{indent}}}|{any_marker}[ ]++{_ITEM_TEXT}))*+"
        for marker, indent in markers.items()
    )
    return rf"(?:{items})++(?=\n++(?![ \t]|{any_marker}[ \t\n])|\#{{1,6}}[ ])"


_LISTS = [
    *(_list({f"{mark}[ ]": 2, f"{mark}[ ]{{3}}": 4}, mark) for mark in ("-", r"\*", r"\+")),
    _list({"[0-9][.][ ]": 3, "[0-9][.][ ]{2}": 4, "[0-9]{2}[.][ ]": 4}, "[0-9]{1,9}[.]"),
]
PLAIN_LIST = re.compile("|".join(_LISTS))  # a list whose items start in the first column, and only they do
_QUOTE = rf">[^\n]*+\n(?:>[^\n]*+\n)*+{_BLOCK_END}"
_TABLE = rf"\|[^\n\\]*+\n(?=\|){DELIMITER_ROW}[ \t]*+\n(?:\|(?![ \t]*+\n)[^\n]*+\n)*+{_BLOCK_END}"
_RULE = r"(?:-{3,}+|\*{3,}+|_{3,}+)[ ]*+\n"
HTML_BLOCK_TAGS = (
    "t(?:able|r|d|h|head|body|foot|itle|rack)|p|param|div|h[1-6]|hr|head|header|ul|ol|li|link|legend|details|summary|section"
    "|dl|dt|dd|address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dialog|dir|fieldset"
    "|figcaption|figure|footer|form|frame|frameset|html|iframe|main|menu|menuitem|nav|noframes|optgroup|option|search"
)
_COMMENT = r"!--(?!-?>)(?:[^-]++|-(?!->))*+(?:-->[^\n]*+\n|\Z)"
_HTML = rf"<(?:/?(?i:{HTML_BLOCK_TAGS})(?=[ >\n]|/>)(?:[^\n]++\n)++|{_COMMENT})"

# A pattern that starts with a character is left out at once where another is.
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("paragraph", _PARAGRAPH),
    ("heading", _HEADING),
    *(("code", pattern) for pattern in (*_FENCES, _INDENTED_CODE)),
    ("list", rf"(?=[-*+0-9])(?:{'|'.join(_LISTS)})"),
    ("table", _TABLE),
    ("html", _HTML),
    ("quote", _QUOTE),
    ("rule", _RULE),
)
_NEXT_BLOCK = re.compile(rf"\n*+()(?:{'|'.join(f'{pattern}()' for _, pattern in _PATTERNS)}|[^\n])")
"""The empty groups tell where a block starts, and which pattern it has: none if it is not plain."""
_NOT_PLAIN = 1
_KINDS: dict[int | None, Kind] = dict(enumerate((kind for kind, _ in _PATTERNS), _NOT_PLAIN + 1))
_TABLE_GROUP = next(group for group, kind in _KINDS.items() if kind == "table")
# The first block of a series must end whatever is open above it: a heading and a fence do, others do below a blank
# line. A list item may belong to a list above.
_SERIES_START = re.compile(rf"\n(?<!\n\n)\n*+(?=\#|```|~~~|(?<=\n\n)(?:{_PROSE}|[>|<]|{_RULE}))")
_NOT_BLANK = re.compile(r"[^ \n]")
THEMATIC_BREAK = "***\n"  # the replacement for a series of plain blocks


class LineScan(NamedTuple):
    """The plain blocks of a text, and the text that the parser must read."""

    blocks: BlockColumns  # the plain blocks
    rest: str  # the text with a thematic break for each series; empty if plain blocks are all there is
    series: dict[int, tuple[slice, int]]
    """The blocks of each series, and where it ends in the source, by where its thematic break starts."""


def scan_lines(lines: str, base: int) -> LineScan:
    """Find the plain blocks in ``lines``, the parser's input for the text from ``base`` on; no block is open there."""
    # A blank line follows every block. If there were more at the end, they would be tried one by one.
    lines = lines.rstrip("\n") + "\n\n"
    blocks = BlockColumns([], [], [], {})
    series: dict[int, tuple[slice, int]] = {}
    parts: list[str] = []
    start = seen = 0
    length = 0
    while True:
        first = len(blocks.kinds)
        end = _add_series(lines, start, base, blocks)
        if end > start:
            parts += (lines[seen:start], THEMATIC_BREAK)
            length += start - seen
            series[length] = (slice(first, len(blocks.kinds)), end + base)
            length += len(THEMATIC_BREAK)
            seen = start = end
        candidate = _SERIES_START.search(lines, start)
        if candidate is None:
            break
        start = candidate.end()
    parts.append(lines[seen:])
    rest = "".join(parts) if any(map(_NOT_BLANK.search, parts[::2])) else ""
    return LineScan(blocks, rest, series)


def _add_series(lines: str, start: int, base: int, blocks: BlockColumns) -> int:
    """Append the plain blocks from ``start`` on, up to the first that is not plain; return where the last one ends."""
    add_kind, add_start, add_end = blocks.kinds.append, blocks.starts.append, blocks.ends.append
    for match in _NEXT_BLOCK.finditer(lines, start):
        group = match.lastindex
        first, past = match.start(1), match.end()
        if group == _NOT_PLAIN:
            break
        if group == _TABLE_GROUP:
            header, row, *_ = lines[first:past].split("\n", 2)
            if cell_count(header) != cell_count(row):
                break
        last = past - 1
        if lines[last - 1] in BLANK:
            last = first + len(lines[first:past].rstrip(BLANK))
        add_kind(_KINDS[group])
        add_start(first + base)
        add_end(last + base)
        start = past
    return start
