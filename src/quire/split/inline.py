r"""What in a line of prose should not be torn: code spans, links, images, autolinks, tags.

The parser reads the prose by itself. It does not know which labels are defined elsewhere, so ``[a][b]`` and a short
``[a]`` count as links. A mistake costs a better position for a cut and nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter
from typing import TypeAlias

from quire.offsets import BLANK
from quire.parsing.events import inline_spans

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_MARK = re.compile(r"[`\[<]")
_LABEL = re.compile(r"(?<!\\)!?+\[[^\[\]\\`]{0,100}+\](?:\[[^\[\]]*+\])?+")
"""The text of a link that is nothing but a label; a longer text in brackets is taken for prose."""

# What opens a fence or an HTML block at the start of a line, and makes that of the blocks which follow.
_OPENING = re.compile(r"<|`{3,}+|~{3,}+")
_BLOCK = re.compile(
    r"""~~~|`{3,}+[^`\r\n]*+(?:[\r\n]|\Z)|<(?:[?]|![A-Za-z\[-]|(?:script|pre|style|textarea)(?=[\s>]|\Z)"""
    r"""|/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl"""
    r"""|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main"""
    r"""|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title"""
    r"""|tr|track|ul)(?=[\s>]|/>|\Z)"""
    r"""|/?[A-Za-z][A-Za-z0-9-]*+(?:[^<>"'\r\n]++|"[^"\r\n]*+"|'[^'\r\n]*+')*+>[ \t]*+(?:[\r\n]|\Z))""",
    re.IGNORECASE,
)
_BEFORE_BLOCK = f"{BLANK}>"

_end_of = itemgetter(1)

Atom: TypeAlias = tuple[int, int]
"""Start and end of what should not be torn."""


def inline_atoms(text: str, start: int, end: int) -> list[Atom]:
    """The spans that should not be torn in the prose ``text[start:end]``: ascending, disjoint, the outermost ones."""
    if not _MARK.search(text, start, end):
        return []
    prose = text[start:end]
    lines = prose if prose.isascii() else _NOT_ASCII.sub("x", prose)
    spans = [*inline_spans(lines), *(match.span() for match in _LABEL.finditer(lines))]
    atoms: list[Atom] = []
    last = 0
    for first, stop in sorted(spans, key=lambda span: (span[0], -span[1])):
        if first >= last:
            atoms.append((first + start, stop + start))
        last = max(last, stop)
    return atoms


def outside(cuts: list[int], atoms: Sequence[Atom]) -> list[int]:
    """Those of the ascending ``cuts`` that tear none of ``atoms``."""
    if not (atoms and cuts):
        return cuts
    kept: list[int] = []
    at, count = bisect_left(atoms, cuts[0], key=_end_of), len(atoms)
    for cut in cuts:
        while at < count and atoms[at][1] <= cut:
            at += 1
        if at == count or cut <= atoms[at][0]:
            kept.append(cut)
    return kept


def block_starts(text: str, start: int, end: int, last: int) -> list[Atom]:
    """Where ``text[start:end]`` should not be cut up to ``last``: before what would open a fence or an HTML block."""
    atoms: list[Atom] = []
    for mark in _OPENING.finditer(text, start, last):
        first = at = mark.start()
        if _BLOCK.match(text, at, end):
            while first > start and text[first - 1] in _BEFORE_BLOCK:
                first -= 1
            atoms.append((first - 1, at + 1))
    return atoms
