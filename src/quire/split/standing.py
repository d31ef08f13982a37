"""What stands before code or a table on its line, when a part of it stands alone. Used by fences.py and ladder.py.

In a list, a footnote or a quote a fence is indented, and so are its closing line and all that follows. Alone, four
columns would make other code of it. So a bullet stands in the place of such an indentation: what follows is then where
it was, inside an item.
"""

from __future__ import annotations

import re

_MARKER = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t])")
_LABEL = re.compile(r"(?:\A[ \t]*|(?<=[> \t]))\[\^[^\]\s]+\]:[ \t]*")
"""The label of a footnote, perhaps in a quote; the lines below it are indented by four columns."""
_PREFIX = re.compile(r"[ \t]*(?:(?:>|(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t])|\[\^[^\]\s]+\]:)[ \t]*)*")
INDENTED = 4
"""So many columns make code of what stands behind them."""
ITEM = 2
"""The least columns by which the text of an item is indented."""


def prefix_of(line: str) -> str:
    """What stands before a line's own text: an indentation, markers of quotes and items, a label."""
    return line[: _PREFIX.match(line).end()]  # type: ignore[union-attr]  # it matches the empty text too


def upright(prefix: str, least: int = INDENTED) -> str:
    """What stands before what is opened again: ``prefix``, with bullets for an indentation, or a label."""
    if _LABEL.search(prefix):
        return _LABEL.sub(_bullets(INDENTED), prefix, count=1)
    bullets = bullets_for(prefix, least)
    bare = prefix.lstrip(" \t") if bullets else prefix
    quotes, inner = _quoted(bare)
    return f"{bullets}{quotes}> {_bullets(_columns(inner) - 1)}" if inner else bullets + bare


def led(prefix: str, least: int = INDENTED) -> tuple[str, int]:
    """What stands before the part that has a block's own start, so that it is no other code.

    And how many characters of ``prefix`` it takes the place of.
    """
    bullets = bullets_for(prefix, least)
    bare = prefix.lstrip(" \t") if bullets else prefix
    quotes, inner = _quoted(bare)
    if inner and not quotes.strip(" \t>"):  # the marks stand in the text, so bullets have a line of their own
        return f"{bullets}{quotes}> {_bullets(_columns(inner) - 1).rstrip()}\n", 0
    return bullets, len(prefix) - len(bare)


def bullets_for(prefix: str, least: int = INDENTED) -> str:
    """Bullets in the place of an indentation of ``least`` columns or more; nothing where it has fewer."""
    width = _columns(prefix[: len(prefix) - len(prefix.lstrip(" \t"))])
    return _bullets(width) if width >= least else ""


def continued(prefix: str) -> str:
    """What stands on the lines below ``prefix``: markers of items are blank there, those of quotes are not."""
    return _MARKER.sub(lambda marker: " " * len(marker.group()), _LABEL.sub(" " * INDENTED, prefix))


def is_closing(line: str, mark: str, behind: str) -> bool:
    """Whether a line closes a fence of ``mark``, where lines stand behind ``behind``."""
    quotes = behind.count(">")
    *marks, rest = line.split(">", quotes)
    if len(marks) != quotes or any(each.strip(" \t") for each in marks):
        return False
    fence = rest.strip(" \t")
    is_fence = fence.startswith(mark) and not fence.strip(mark[0])
    room = _columns(behind.rpartition(">")[2]) + INDENTED
    return is_fence and _columns(rest[: len(rest) - len(rest.lstrip(" \t"))]) < room


def _quoted(prefix: str) -> tuple[str, str]:
    """What stands before the last mark of a quote, and the indentation behind it, if that makes code of the rest.

    The first blank behind the mark belongs to it.
    """
    quotes, mark, inner = prefix.rpartition(">")
    return (quotes, inner) if mark and not inner.strip(" \t") and _columns(inner) > INDENTED else ("", "")


def _bullets(width: int) -> str:
    """Markers of nested items, as wide as an indentation; none is wider than four columns."""
    made = ""
    while width > INDENTED:
        step = INDENTED if width - INDENTED > 1 else INDENTED - 1
        made += "-".ljust(step)
        width -= step
    return made + "-".ljust(width)


def _columns(blank: str) -> int:
    return len(blank.expandtabs(4))
