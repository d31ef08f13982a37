"""The levels at which a block may be cut, the best first: where its lines, sentences, words and graphemes end."""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

from quire.cut.sentences import STOPS, sentence_ends, stop_ends
from quire.cut.words import block_starts, grapheme_ends, inline_atoms, inner_word_ends, outside, word_ends
from quire.model.offsets import LINE_END

Positions: TypeAlias = Callable[[str, int, int], Sequence[int]]
"""Where a span of a text, which is not empty, may be cut: ascending, the last is the end of the span."""

_BLANK_LINES = re.compile(r"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")
_PARAGRAPH = 160  # a line of so many characters is not one of hard line breaks
_STOP = 12  # characters at the end of a line among which its stop is
_STOP_AND_SPACE = re.compile(rf"""[{STOPS}][\s"')\]*_~”’»]*\Z""")
_INDENT = re.compile(r"[ \t]*")
_PIPE = re.compile(r"(?<!\\)\|")


def line_ends(text: str, start: int, end: int) -> list[int]:
    """After each line."""
    lines = text[start:end]
    if "\r" in lines:
        return _with_end([match.end() for match in LINE_END.finditer(text, start, end)], end)
    return _with_end([*accumulate([len(line) + 1 for line in lines.split("\n")], initial=start)][1:-1], end)


def blank_line_ends(text: str, start: int, end: int) -> list[int]:
    """After each run of blank lines."""
    return _with_end([match.end() for match in _BLANK_LINES.finditer(text, start, end)], end)


def cell_starts(text: str, start: int, end: int) -> list[int]:
    """Before each cell of a table row but the first."""
    return _with_end([match.start() for match in _PIPE.finditer(text, start + 1, end)], end)


def sentence_line_ends(text: str, start: int, end: int) -> list[int]:
    """After each sentence that ends its line: text without hard line breaks has its paragraphs there."""
    if text.find("\n", start, end) < 0 and text.find("\r", start, end) < 0:
        return [end]
    ends = sentence_ends(text, start, end)
    return _with_end([at for at in ends if "\n" in text[at - 2 : at] or "\r" in text[at - 2 : at]], end)


def paragraph_line_ends(text: str, start: int, end: int) -> list[int]:
    """After each sentence that ends its line, and each long line that ends with a stop, whatever the next line is."""
    edges = [start, *line_ends(text, start, end)]
    if len(edges) == 2:
        return [end]
    is_end = _STOP_AND_SPACE.search
    long = [at for first, at in pairwise(edges) if at - first >= _PARAGRAPH and is_end(text[at - _STOP : at])]
    starts = [_INDENT.match(text, at, end).end() for at in long]  # type: ignore[union-attr]  # it matches the empty text too
    ends = sorted({*sentence_line_ends(text, start, end), *starts})
    return outside(outside(ends, inline_atoms(text, start, end)), block_starts(text, start, end))


def safe_grapheme_ends(text: str, start: int, end: int) -> list[int]:
    """After each grapheme, unless the rest would open another block."""
    return outside(grapheme_ends(text, start, end), block_starts(text, start, end))


def character_ends(_text: str, start: int, end: int) -> Sequence[int]:
    """After each character: the last resort."""
    return range(start + 1, end + 1)


def _with_end(positions: list[int], end: int) -> list[int]:
    if not positions or positions[-1] != end:
        positions.append(end)
    return positions


class Level(NamedTuple):
    """One way to cut a span."""

    positions: Positions  # where it may be cut
    is_preference: bool = False
    """Whether spans above the limit, not only those above the cap, are cut on the next level."""
    window: tuple[int, int] = (0, 1 << 62)  # the positions between which it may be cut

    def ends(self, text: str, start: int, end: int) -> Sequence[int]:
        """The positions in the window; the last is ``end``."""
        low, high = self.window
        return _with_end([at for at in self.positions(text, start, end) if low <= at <= high], end)


WORDS = (Level(word_ends), Level(inner_word_ends), Level(safe_grapheme_ends), Level(character_ends))
_SENTENCES = (Level(sentence_ends), Level(stop_ends), *WORDS)
LEVELS: dict[str, tuple[Level, ...]] = {
    "prose": (Level(sentence_line_ends, is_preference=True), *_SENTENCES),
    "paragraphs": (Level(paragraph_line_ends, is_preference=True), *_SENTENCES),
    "code": (Level(blank_line_ends, is_preference=True), Level(line_ends), *WORDS),
    "table": (Level(line_ends), Level(line_ends), Level(cell_starts), *WORDS),
    **dict.fromkeys(("html", "math"), (Level(line_ends), *WORDS)),
}
"""The levels of each kind of block, the best first; lists, quotes and the like are cut between the blocks inside.

The second level of a table may separate the header from the first row.
"""
