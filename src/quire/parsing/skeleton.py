r"""The fast way through a document: what is plain to see is seen without the parser, the rest is left to it.

Used by blocks.py. Most of a document is headings, paragraphs, fences, lists, quotes and tables that start in the first
column. Their lines alone say where such blocks start and end, once it is known that a block may start there at
document level: not inside a fence, a comment or an item that was opened above. The parser is asked exactly that. Each
run of such blocks is replaced by a thematic break, and a thematic break is reported if and only if a
block can start there. If one is not reported, the document is parsed the slow way, so the result is always the
parser's. What remains for the parser is a small part of the events.

Every pattern is possessive: a match never gives back what it has taken, so the cost is linear in the text. No pattern
has groups that capture inside: those are not safe in a possessive one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from quire.model import BLANK

# The first characters of an item's text: such a line is neither a rule nor an underline.
_IN_ITEM = r"""(?:[A-Za-z0-9`\[("'{@$!\\&/.%?<\x7f]|\*\*?[A-Za-z`]|_[A-Za-z])"""

# What surely ends a paragraph: a blank line, a heading, an item, a quote.
_PARAGRAPH_END = rf"(?=\n|\Z|\#{{1,6}}[ ]|>|[-*+][ ]{_IN_ITEM}|1[.)][ ]{_IN_ITEM})"
# A line that continues a paragraph, or starts one, whatever stands around it: none of these can open another block,
# underline a heading or delimit a table.
_PROSE = r"""(?:[A-Za-z?("'{@$!/.%;,\x7f]|\*\*?[A-Za-z`]|_[A-Za-z]|`[^`\n]|[0-9]+[^0-9.)\n]|\[[^\[\]\\\n]*+\][^:\n])"""
_PARAGRAPH = rf"(?:{_PROSE}[^\n]*+\n)++{_PARAGRAPH_END}"

# A heading whose text has no markup but code.
_PLAIN = r"(?:[^\n\\`*_\[\]<&~]++|&(?=[ ]))*+"
_HEADING = rf"\#{{1,6}}(?:[ ]{_PLAIN}(?:`[^`\n]++`{_PLAIN})*+)?+\n"


def _fence(mark: str, least: int, info: str) -> str:
    """A fence of ``least`` marks, to the first line that closes it; one that is never closed goes on to the end."""
    closing = rf"[ ]{{0,3}}{mark}{{{least},}}[ ]*+(?:\n|\Z)"
    return rf"{mark}{{{least}}}(?!{mark}){info}*+\n(?:(?!{closing})[^\n]*+\n)*+[^\n]*+(?:\n|\Z)"


# The usual lengths; longer ones are rare.
_FENCE = "|".join(_fence(mark, least, info) for mark, info in (("`", r"[^`\n]"), ("~", r"[^\n]")) for least in (3, 4))


def _items(markers: tuple[tuple[str, int], ...], any_marker: str) -> str:
    """Lists: items, and lines indented as far as their text or blank, up to something that is no further item."""
    items = "|".join(
        rf"{marker}{_IN_ITEM}[^\n]*+\n"
        rf"(?:[ ]{{{indent}}}[^\n]*+\n|\n++(?=[ ]{{{indent}}}|{any_marker}[ ]++{_IN_ITEM}))*+"
        for marker, indent in markers
    )
    return rf"(?:{items})++(?=\n++(?![ \t]|{any_marker}(?:[ \t\n]|\Z))|\Z|\#{{1,6}}[ ])"


_BULLETS = _items((("[-*+][ ]", 2), ("[-*+][ ]{3}", 4)), "[-*+]")
_NUMBERS = _items((("[0-9][.][ ]", 3), ("[0-9][.][ ]{2}", 4), ("[0-9]{2}[.][ ]", 4)), "[0-9]{1,9}[.]")
_QUOTE = r"(?:>[^\n]*+\n)++(?=\n|\Z|\#{1,6}[ ])"
_PIPES = r"(?:\|[^\n]*+\n)++(?=\n|\Z|\#{1,6}[ ])"

# The first block of a run must end whatever is open above it: a heading and a fence do, most others do after a blank
# line; an item may belong to a list above.
_RUN_START = re.compile(rf"\n(?<!\n\n)\n*+(?=\#|```|~~~|(?<=\n\n)(?:{_PROSE}|[>|]))")
_UP_TO_HEADING = re.compile(rf"(?:\n|{_PARAGRAPH}|{_FENCE}|{_BULLETS}|{_NUMBERS}|{_QUOTE}|{_PIPES})*+({_HEADING})?+")
_NEXT_BLOCK = re.compile(
    rf"\n*+(?:({_HEADING})|({_PARAGRAPH})|({_FENCE})|({_BULLETS})|({_NUMBERS})|({_QUOTE})|({_PIPES}))"
)
_NAMES = ("", "Heading", "Paragraph", "CodeBlock", "Bullets", "List", "BlockQuote", "Pipes")
_NOT_BLANK = re.compile(r"[^ \n]")
STAND_IN = "***\n"
"""The thematic break in place of a run."""


class Run(NamedTuple):
    """A run of plain blocks."""

    start: int
    """Where it starts in the text."""
    end: int
    """Where it ends."""
    headings: list[tuple[int, int]]
    """Start and end of the headings in it."""


class Skeleton(NamedTuple):
    """A text with its runs of plain blocks taken out."""

    text: str
    """What is left for the parser, with a thematic break in place of each run; empty if nothing is left."""
    runs: dict[int, Run]
    """The runs by where their thematic breaks start."""


def skeleton(text: str) -> Skeleton:
    """Take the runs of plain blocks out of ``text``."""
    # The two line ends make the first line of the text follow a blank line.
    padded = "\n\n" + text
    parts: list[str] = []
    runs: dict[int, Run] = {}
    seen, length = 2, 0
    candidate = _RUN_START.search(padded)
    while candidate:
        start = candidate.end()
        end, headings = _run_at(padded, start)
        if end > start:
            parts += (padded[seen:start], STAND_IN)
            length += start - seen
            runs[length] = Run(start - 2, end - 2, headings)
            length += len(STAND_IN)
            seen = end
        candidate = _RUN_START.search(padded, end)
    parts.append(padded[seen:])
    is_left = any(map(_NOT_BLANK.search, parts[::2]))
    return Skeleton("".join(parts) if is_left else "", runs)


def _run_at(padded: str, position: int) -> tuple[int, list[tuple[int, int]]]:
    """Where the run at ``position`` ends, and the headings in it."""
    headings: list[tuple[int, int]] = []
    up_to_heading = _UP_TO_HEADING.match
    while True:
        found = up_to_heading(padded, position)
        start, position = found.span(1)  # type: ignore[union-attr]  # it matches the empty text too
        if start < 0:
            return found.end(), headings  # type: ignore[union-attr]
        headings.append((start - 2, position - 2))


def blocks_in(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """The blocks of a run by the parser's names, and ``Bullets`` and ``Pipes`` for what may be several."""
    # Without the blank lines at its end, which would be looked at from each of them on.
    end = start + len(text[start:end].rstrip("\n")) + 1
    return [
        (_NAMES[match.lastindex or 0], *match.span(match.lastindex or 0))
        for match in _NEXT_BLOCK.finditer(text, start, end)
    ]


FEED = re.compile(r"[\x0b\x0c]")
"""White space to everyone but Markdown; titles show a space."""
_CODE = re.compile(r"`([^`]+)`")
_CLOSING_HASHES = re.compile(r"(?:\A|[ \t])#+\Z")
_ODD = re.compile(r"[`\t\x0b\x0c]|#(?:\n|\Z)")


def plain_titles(contents: Sequence[str]) -> list[str]:
    """The plain texts of headings of a run, from what stands behind their opening hashes."""
    titles = [content.strip(BLANK) for content in contents]
    return list(map(_plain_title, titles)) if _ODD.search("\n".join(titles)) else titles


def _plain_title(title: str) -> str:
    if not _ODD.search(title):
        return title
    title = FEED.sub(" ", title).replace("\t", " ").strip(BLANK)
    if title.endswith("#"):
        title = _CLOSING_HASHES.sub("", title).rstrip(BLANK)
    return _CODE.sub(_code_text, title)


def _code_text(match: re.Match[str]) -> str:
    code = match.group(1)
    padded = code.startswith(" ") and code.endswith(" ") and not code.isspace()
    return code[1:-1] if padded else code
