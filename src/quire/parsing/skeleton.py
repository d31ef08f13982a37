r"""The fast way through a document: what is plain to see is seen without the parser, the rest is left to it.

Used by blocks.py and scan.py. Most of a document is headings, paragraphs, fences, lists, quotes and tables that start
in the first column. Their lines alone say where such blocks start and end, once it is known that a block may start
there at document level: not inside a fence, a comment or an item that was opened above. The parser is asked exactly
that. Each run of such blocks is replaced by a thematic break, and a thematic break is reported if and only if a block
can start there. If one is not reported, the text is parsed the slow way, so the result is always the parser's. What
remains for the parser is a small part of the events.

Every pattern is possessive: a match never gives back what it has taken, so the cost is linear in the text. No pattern
has groups that capture inside: those are not safe in a possessive one.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

# The first characters of an item's text: such a line is neither a rule nor an underline.
_IN_ITEM = r"""(?:[A-Za-z0-9`\[("'{@$!\\&/.%?<\x7f]|\*\*?[A-Za-z`]|_[A-Za-z])"""

# What surely ends a paragraph: a blank line, a heading, an item, a quote.
_PARAGRAPH_END = rf"(?=\n|\Z|\#{{1,6}}[ ]|>|[-*+][ ]{_IN_ITEM}|1[.)][ ]{_IN_ITEM})"
# A line that continues a paragraph, or starts one, whatever stands around it: none of these can open another block,
# underline a heading or delimit a table. Nor can it open what group.py puts together, such as ``$$``.
_PROSE = (
    r"""(?:[A-Za-z?("'{@!/.%;,\x7f]|\*\*?[A-Za-z`]|_[A-Za-z]|`[^`\n]|\$[^$\n]"""
    r"""|[0-9]+[^0-9.)\n]|\[[^\[\]\\\n]*+\][^:\n])"""
)
_PARAGRAPH = rf"(?:{_PROSE}[^\n]*+\n)++{_PARAGRAPH_END}"

_HEADING = r"\#{1,6}(?:[ ][^\n]*+)?+\n"


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
_NEXT_BLOCK = re.compile(
    rf"\n*+(?:({_HEADING})|({_PARAGRAPH})|({_FENCE})|({_BULLETS})|({_NUMBERS})|({_QUOTE})|({_PIPES})|([^\n]))"
)
_NAMES = ("", "Heading", "Paragraph", "CodeBlock", "Bullets", "List", "BlockQuote", "Pipes")
_NOT_PLAIN = len(_NAMES)
_NOT_BLANK = re.compile(r"[^ \n]")
STAND_IN = "***\n"
"""The thematic break in place of a run."""

Plain: TypeAlias = tuple[str, int, int]
"""A plain block: the parser's name for it, or ``Bullets`` or ``Pipes`` for what may be several; its start and end."""


class Skeleton(NamedTuple):
    """A text with its runs of plain blocks taken out."""

    text: str
    """What is left for the parser, with a thematic break in place of each run; empty if nothing is left."""
    runs: dict[int, list[Plain]]
    """The blocks of each run, by where its thematic break starts."""


def skeleton(text: str) -> Skeleton:
    """Take the runs of plain blocks out of ``text``; nothing is open where it starts."""
    # The two line ends make the first line of the text follow a blank line.
    padded = "\n\n" + text
    # Without the blank lines at its end, which would be looked at from each of them on.
    last = len(padded.rstrip("\n")) + 1
    parts: list[str] = []
    runs: dict[int, list[Plain]] = {}
    start = seen = 2
    length = 0
    while True:
        blocks = _blocks_at(padded, start, last)
        if blocks:
            parts += (padded[seen:start], STAND_IN)
            length += start - seen
            runs[length] = blocks
            length += len(STAND_IN)
            seen = start = blocks[-1][2] + 2
        candidate = _RUN_START.search(padded, start)
        if candidate is None:
            break
        start = candidate.end()
    parts.append(padded[seen:])
    is_left = any(map(_NOT_BLANK.search, parts[::2]))
    return Skeleton("".join(parts) if is_left else "", runs)


def _blocks_at(padded: str, start: int, last: int) -> list[Plain]:
    """The plain blocks from ``start`` on, as they stand in the text, up to the first that is not plain."""
    blocks: list[Plain] = []
    for match in _NEXT_BLOCK.finditer(padded, start, last):
        kind = match.lastindex or 0
        if kind == _NOT_PLAIN:
            break
        first, end = match.span(kind)
        blocks.append((_NAMES[kind], first - 2, end - 2))
    return blocks
