r"""What in a line of prose should not be torn: code spans, links, images, autolinks, tags.

Used by sentences.py, words.py and levels.py, to leave out bad places for a cut. It reads one block by itself and
is an approximation of CommonMark: which labels are defined is not known, so ``[a][b]`` and a short ``[a]`` count as
links; attributes of tags have no ``<``; parentheses in an address nest three deep. A mistake costs a better place for
a cut and nothing else.

The cost is linear: a pattern that fails has stopped at the next mark of its own kind, so no text is tried many times.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeAlias

from quire.offsets import BLANK

# A mark, with what belongs to it. The plainest code and links are read whole, as groups 1 and 2. The first character
# stands alone: so the search for it is quick.
_CODE = r"([^`]++`)(?!`)"
_LINK = r"([^\[\]`\\<]*+\]\([^\s()<>\\]*+\))"
_MARK = re.compile(rf"[\\`!\[\]<](?:(?<=`)(?:{_CODE}|`*+)|(?<=\[)(?:{_LINK}|)|(?<=!)\[|(?<=\\).|(?<=[\]<]))", re.DOTALL)
_TICKS = re.compile(r"`++")

# What stands behind the closing bracket of a link: an address in parentheses, perhaps with a title, or a label.
_IN_ADDRESS = r"[^\s()\\]++|\\\S?+"
_NESTED = rf"\((?:{_IN_ADDRESS}|\((?:{_IN_ADDRESS}|\((?:{_IN_ADDRESS})*+\))*+\))*+\)"
_TITLE = r""""(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'|\((?:[^()\\]++|\\.)*+\)"""
_ADDRESS = rf"\(\s*+(?:<[^<>\n]*+>|(?:{_IN_ADDRESS}|{_NESTED})*+)(?:\s++(?:{_TITLE}))?+\s*+\)"
_TAIL = re.compile(rf"{_ADDRESS}|\[(?:[^\[\]\\]++|\\.)*+\]", re.DOTALL)

_IN_ANGLES = re.compile(
    r"""<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+>"""  # an address
    r"""|[^\s<>@]++@[^\s<>@]++>"""  # an e-mail address
    r"""|/?[A-Za-z][A-Za-z0-9-]*+(?=[\s/>])(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>"""  # a tag
    r"""|!--(?:[^<-]++|-(?!->)|<(?!!--))*+-->)"""  # a comment
)

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

# The text of a link that is nothing but a label. A longer text in brackets is taken for prose.
_LONGEST_LABEL = 100


Atom: TypeAlias = tuple[int, int]
"""Start and end of what should not be torn."""


def inline_atoms(text: str, start: int, end: int) -> list[Atom]:
    """The spans that should not be torn in the prose ``text[start:end]``: ascending, disjoint, the outermost ones."""
    scan = _Scan(text, end)
    position = start
    for match in _MARK.finditer(text, start, end):
        at, stop = match.span()
        if at < position:
            continue
        if match.lastindex is None:
            position = scan.read(at, stop)
        else:
            position = scan.add(at, stop)
            scan.dead = scan.dead if match.lastindex == 1 else len(scan.brackets)
    return scan.atoms


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
    found: list[Atom] = []
    for mark in _OPENING.finditer(text, start, last):
        first = at = mark.start()
        if _BLOCK.match(text, at, end):
            while first > start and text[first - 1] in _BEFORE_BLOCK:
                first -= 1
            found.append((first - 1, at + 1))
    return found


@dataclass(slots=True)
class _Scan:
    """What has been seen on the way through the text."""

    text: str
    end: int
    atoms: list[Atom] = field(default_factory=list)
    brackets: list[int] = field(default_factory=list)
    """Where brackets were opened that are not closed yet; an image's with its exclamation mark."""
    dead: int = 0
    """How many of them cannot open a link: links do not hold links."""
    ticks: dict[int, list[int]] | None = None
    """Where runs of backticks start that are still to come, by their length, the next one last."""

    def read(self, start: int, stop: int) -> int:
        """Read the mark between ``start`` and ``stop``; the answer is where to go on."""
        mark = self.text[start]
        if mark == "`":
            return self._code(start, stop)
        if mark == "<":
            return self._angles(start)
        if mark == "]":
            return self._closed(start)
        if mark != "\\":
            self.brackets.append(start)
        return stop

    def _code(self, start: int, stop: int) -> int:
        """A code span goes to the next run of as many backticks."""
        if self.ticks is None:
            self.ticks = _runs(self.text, start, self.end)
        closing = self.ticks.get(stop - start, [])
        while closing and closing[-1] < stop:
            closing.pop()
        return self.add(start, closing[-1] + stop - start) if closing else stop

    def _angles(self, start: int) -> int:
        match = _IN_ANGLES.match(self.text, start, self.end)
        return self.add(start, match.end()) if match else start + 1

    def _closed(self, at: int) -> int:
        """A closing bracket, with what follows it, may end a link or an image."""
        if not self.brackets:
            return at + 1
        start = self.brackets.pop()
        image = self.text[start] == "!"
        alive = image or len(self.brackets) >= self.dead
        self.dead = min(self.dead, len(self.brackets))
        if not alive:
            return at + 1
        if self._is_wiki(start, at):
            return self.add(self.brackets.pop(), at + 2)
        tail = _TAIL.match(self.text, at + 1, self.end)
        if tail:
            self.dead = self.dead if image else len(self.brackets)
            return self.add(start, tail.end())
        return self.add(start, at + 1) if at - start <= _LONGEST_LABEL else at + 1

    def _is_wiki(self, start: int, at: int) -> bool:
        """Whether the pair of brackets stands directly inside another one."""
        if not self.brackets:
            return False
        outer = self.brackets[-1]
        doubled = outer == start - 1 or (outer == start - 2 and self.text[outer] == "!")
        return doubled and at + 1 < self.end and self.text[at + 1] == "]"

    def add(self, start: int, end: int) -> int:
        """Add an atom; those inside it go."""
        while self.atoms and self.atoms[-1][0] >= start:
            self.atoms.pop()
        self.atoms.append((start, end))
        return end


def _runs(text: str, start: int, end: int) -> dict[int, list[int]]:
    runs: dict[int, list[int]] = {}
    for match in _TICKS.finditer(text, start, end):
        runs.setdefault(match.end() - match.start(), []).append(match.start())
    for starts in runs.values():
        starts.reverse()
    return runs
