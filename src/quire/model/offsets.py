r"""Characters to UTF-8 bytes and lines, and blank text. Positions must be ascending, so that one pass is enough.

A line ends with ``\n``, ``\r\n`` or a lone ``\r``, as in CommonMark; form feeds and U+2028 do not end a line.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from quire.model.patterns import pattern

BLANK = " \t\r\n"
"""The characters that Markdown calls blank. All others, NBSP and form feeds too, are text that must not be lost."""
LINE_END = pattern(r"\r\n|\r|\n")
_SURROGATE = pattern(r"[\ud800-\udfff]")
_BLANK_LINES = pattern(r"(?:[ \t]*(?:\r\n|\r|\n))*")


def line_starts(text: str) -> list[int]:
    """The position at which each line starts; the first is always 0."""
    return [0, *(match.end() for match in LINE_END.finditer(text))]


def line_start(text: str, position: int, least: int = 0) -> int:
    """Where the line of a position starts, or ``least``, whichever comes later."""
    line = max(text.rfind("\n", least, position) + 1, least)
    return max(text.rfind("\r", line, position) + 1, line)


def lines_at(text: str, positions: Iterable[int]) -> list[int]:
    """The 1-based line of each of the ascending ``positions``."""
    if "\r" in text:
        starts = line_starts(text)
        return [bisect_right(starts, position) for position in positions]
    lines: list[int] = []
    line, seen = 1, 0
    count = text.count
    for position in positions:
        line += count("\n", seen, position)
        seen = position
        lines.append(line)
    return lines


def bytes_at(text: str, positions: Sequence[int]) -> Sequence[int]:
    """The UTF-8 byte offset of each of the ascending ``positions``."""
    if text.isascii():
        return positions
    offsets: list[int] = []
    offset, seen = 0, 0
    for position in positions:
        offset += utf8_length(text[seen:position])
        seen = position
        offsets.append(offset)
    return offsets


def utf8_length(text: str) -> int:
    """The number of bytes of ``text`` in UTF-8; a lone surrogate has three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def repaired(text: str) -> str:
    """``text`` with U+FFFD for every lone surrogate, and pairs joined, as tiktoken does before it counts."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_end(text: str, start: int, end: int) -> int:
    """One past the last character of ``text[start:end]`` that is not blank; ``start`` if there is none."""
    return start + len(text[start:end].rstrip(BLANK))


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """``text[start:end]`` without blank lines above and blanks behind it; ``start`` twice if all of it is blank."""
    last = text_end(text, start, end)
    first = _BLANK_LINES.match(text, start, last)
    return (first.end() if first else start), last
