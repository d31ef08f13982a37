r"""The fast way through a document: what is plain to see is seen without the parser, the rest is left to it.

Used by blocks.py. Most of a document is headings, paragraphs, closed fences and simple lists that start in the first
column. Their lines alone say where such blocks start and end, once it is known that a block may start there at
document level: not inside a fence, a comment or an item that was opened above. The parser is asked exactly that. Each
run of such blocks is replaced by a thematic break of the same length; a thematic break is reported if and only if a
block can start there. If one is not reported, the document is parsed the slow way, so the result is always the
parser's. What remains for the parser is about a fifth of the events.

Every pattern is possessive: a match never gives back what it has taken, so the cost is linear in the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from quire.model import BLANK

# A line that continues a paragraph, or starts one, whatever stands around it: none of these can open another block,
# underline a heading or delimit a table.
_PROSE = r"""(?:[A-Za-z?("'{@$!/.%;,\x7f]|\*\*?[A-Za-z]|_[A-Za-z]|`[^`\n]|[0-9]+[^0-9.)\n]|\[[^\[\]\\\n]*+\][^:\n])"""
_PARAGRAPH = rf"(?:{_PROSE}[^\n]*+\n)++(?=\n|\Z|\#{{1,6}}[ ])"

# A heading whose text has no markup but code.
_PLAIN = r"[^\n\\`*_\[\]<&~]*+"
_HEADING = rf"\#{{1,6}}[ ]{_PLAIN}(?:`[^`\n]++`{_PLAIN})*+\n"


def _fence(mark: str, least: int, info: str) -> str:
    """A fence of ``least`` marks, to the first line that closes it; one that is never closed goes on to the end."""
    closing = rf"[ ]{{0,3}}{mark}{{{least},}}[ ]*+(?:\n|\Z)"
    return rf"{mark}{{{least}}}(?!{mark}){info}*+\n(?:(?!{closing})[^\n]*+\n)*+[^\n]*+(?:\n|\Z)"


# The usual lengths; longer ones are rare. No groups that capture: they are not safe inside a possessive pattern.
_FENCE = "|".join(_fence(mark, least, info) for mark, info in (("`", r"[^`\n]"), ("~", r"[^\n]")) for least in (3, 4))


def _list(marker: str, following: str, indent: int) -> str:
    """Items with one space behind their marker, and lines indented as far as their text, or blank."""
    item = rf"""{marker}[ ](?:[A-Za-z0-9`\[("'{{@$!\\&/.%?<\x7f]|\*\*?[A-Za-z]|_[A-Za-z])[^\n]*+\n"""
    more = rf"[ ]{{{indent}}}[^\n]*+\n|\n++(?=[ ]{{{indent}}}|{item})"
    # Blank lines and then something that is no further item, so that the list ends here.
    return rf"(?:{item}(?:{more})*+)++(?=\n++(?![ \t]|{following}(?:[ \t\n]|\Z))|\Z|\#{{1,6}}[ ])"


_LIST = "|".join((_list("-", "-", 2), _list(r"\*", r"\*", 2), _list("[0-9][.]", "[0-9]+[.]", 3)))

# The first block of a run must end whatever is open above it: a heading and a fence do, prose does after a blank line.
_RUN_START = re.compile(rf"\n\n*+(?=\#|```|~~~|(?<=\n\n){_PROSE})")
_NEXT_BLOCK = re.compile(rf"\n*+(?:({_HEADING})|({_FENCE})|({_PARAGRAPH})|({_LIST}))")
_NAMES = ("", "Heading", "CodeBlock", "Paragraph", "List")
_STAND_IN = "***"


class Run(NamedTuple):
    """A run of plain blocks."""

    end: int
    """Where it ends."""
    blocks: list[tuple[str, int, int]]
    """Its blocks by the parser's names, with start and end."""


class Skeleton(NamedTuple):
    """A text with its runs of plain blocks taken out."""

    text: str
    """What is left for the parser: a thematic break for each run; nothing has moved."""
    runs: dict[int, Run]
    """The runs by where they start."""


def skeleton(text: str) -> Skeleton:
    """Take the runs of plain blocks out of ``text``."""
    # The two line ends make the first line of the text follow a blank line.
    padded = "\n\n" + text
    parts: list[str] = []
    runs: dict[int, Run] = {}
    seen = 2
    candidate = _RUN_START.search(padded)
    while candidate:
        start = candidate.end()
        run = _run_at(padded, start)
        if run.end - start > len(_STAND_IN):
            parts += (padded[seen:start], _STAND_IN.ljust(run.end - start - 1), "\n")
            runs[start - 2] = Run(run.end - 2, [(name, first - 2, end - 2) for name, first, end in run.blocks])
            seen = run.end
        # A run may end with a line end that the next one needs to see.
        candidate = _RUN_START.search(padded, max(start, run.end - 1))
    return Skeleton("".join((*parts, padded[seen:])), runs)


def _run_at(text: str, position: int) -> Run:
    blocks: list[tuple[str, int, int]] = []
    while match := _NEXT_BLOCK.match(text, position):
        group = match.lastindex or 0
        start, position = match.span(group)
        blocks.append((_NAMES[group], start, position))
    return Run(position, blocks)


FEED = re.compile(r"[\x0b\x0c]")
"""White space to everyone but Markdown; titles show a space."""
_CODE = re.compile(r"`([^`]+)`")
_CLOSING_HASHES = re.compile(r"(?:\A|[ \t])#+\Z")


def plain_title(content: str) -> str:
    """The plain text of a heading of a run, from what stands behind its opening hashes."""
    title = FEED.sub(" ", content).replace("\t", " ").strip(BLANK)
    if title.endswith("#"):
        title = _CLOSING_HASHES.sub("", title).rstrip(BLANK)
    return _CODE.sub(_code_text, title) if "`" in title else title


def _code_text(match: re.Match[str]) -> str:
    code = match.group(1)
    padded = code.startswith(" ") and code.endswith(" ") and not code.isspace()
    return code[1:-1] if padded else code
