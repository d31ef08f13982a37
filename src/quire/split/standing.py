"""How code or a table stands when a part of it stands alone. Used by fences.py and ladder.py; before it: around.py.

In a list, a footnote or a quote the lines of a block are indented, and not all alike. Alone, four columns would make
other code of them. So bullets stand in the place of what was around the block: its lines are then where they were,
inside an item. They are never moved themselves.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from quire.split.around import INDENTED, LABEL, Around, Stops, width

_BULLET = re.compile(r"[-*+](?=[ \t])")
_NUMBER = re.compile(r"[0-9]{1,9}[.)](?=[ \t])")
_PREFIX = re.compile(r"[ \t]*(?:(?:>|(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t])|\[\^[^\]\s]+\]:)[ \t]*)*")


class Standing(NamedTuple):
    """What parts of a block need around them to stand where they stood."""

    again: str
    """What stands before what is opened again; perhaps with a line of its own above."""
    behind: str
    """What stands before the lines below that are added."""
    lead: str
    """What stands before the part that has the block's own start."""
    left_out: int
    """How many characters at the block's start ``lead`` takes the place of."""


def prefix_at(text: str, start: int) -> str:
    """What stands before the own text of a line: an indentation, markers of quotes and items, a label."""
    return _PREFIX.match(text, start).group()  # type: ignore[union-attr]  # it matches the empty text too


def standing(prefix: str, around: Around, *, moves: bool = False) -> Standing:
    """How parts of code or a table stand that starts behind ``prefix``, with what is ``around`` it.

    What ``moves`` may be indented anew where it is repeated.
    """
    *quoted, last = _parts(prefix)
    quotes = [*map(_upright, quoted, around.stops)]
    own, column, behind, stops = width(prefix), around.column, _behind(prefix), around.stops[-1]
    least, most = around.reach
    if last.strip():  # it starts on the line of an item's marker
        indent = len(last) - len(last.lstrip())
        above = _up_to(stops, indent) if indent >= INDENTED else ()
        return Standing("> ".join([*quotes, _upright(last, stops)]), behind, *_led(prefix, quotes, above))
    if not column or max(own, most) < INDENTED:
        return Standing("> ".join([*quotes, last]), behind, *_led(prefix, quotes, ()))
    if own >= column + INDENTED or (least >= own and most < own + INDENTED):
        stops = _up_to(stops, own)
    elif moves:
        behind = "> ".join([*_parts(behind)[:-1], " " * column])
    else:  # the item's text starts before the block does, so its marker has a line of its own
        return Standing(_line_above(quotes, stops) + behind, behind, *_led(prefix, quotes, stops))
    return Standing("> ".join([*quotes, _bullets(stops)]), behind, *_led(prefix, quotes, stops))


def standing_before(prefix: str, around: Around) -> Standing | None:
    """How other text stands that starts behind ``prefix``, so that code and tables below it are what they are.

    None if it needs nothing.
    """
    *quoted, last = _parts(prefix)[: around.quotes + 1]
    stops = around.stops[-1] if max(len(last) - len(last.lstrip()), around.reach[1]) >= INDENTED else ()
    if not (stops or quoted):
        return None  # the usual case
    quotes = [*map(_upright, quoted, around.stops)]
    lead, left_out = _led(prefix, quotes, stops)
    return Standing(_line_above(quotes, stops), _behind(prefix), lead, left_out) if lead else None


def _led(prefix: str, quotes: list[str], stops: Stops) -> tuple[str, int]:
    """What stands before the part that has a block's own start; how many characters it takes the place of.

    ``quotes`` are what stands before the marks of quotes around it, upright; ``stops`` are those of the items inside.
    """
    parts = _parts(prefix)
    if not stops and quotes == parts[: len(quotes)]:
        return "", 0
    indent = len(parts[0]) - len(parts[0].lstrip())
    bullets = _bullets(stops) if stops else quotes[0]
    if indent == len(bullets) and quotes[1:] == parts[1 : len(quotes)] and not (quotes and stops):
        return bullets, len(prefix) - len(prefix.lstrip(" \t"))
    # Marks of quotes stand in the text, and so does an indentation that is no item's: bullets have a line of their own.
    return _line_above(quotes, stops), 0


def _line_above(quotes: list[str], stops: Stops) -> str:
    """A line that opens what is around a block, and has nothing else on it."""
    return "> ".join([*quotes, _bare(stops) if stops else ""]).rstrip() + "\n"


def _behind(prefix: str) -> str:
    """What stands before a line that is added below ``prefix``: markers of items are blank there."""
    # Bullets by themselves, for there may be thousands, and it takes a tenth of the time.
    parts = (_BULLET.sub(" ", part) for part in _parts(prefix))
    return "> ".join(_NUMBER.sub(lambda number: " " * len(number.group()), part) for part in parts)


def _parts(prefix: str) -> list[str]:
    """What stands before the first mark of a quote, and behind each; a label is a bullet."""
    first, *others = LABEL.sub(_bullets([INDENTED]), prefix, count=1).expandtabs(4).split(">")
    return [first, *(each.removeprefix(" ") for each in others)]


def _upright(part: str, stops: Stops) -> str:
    """A part of a prefix, with bullets for an indentation: that of items, or one that would make code."""
    marks = part.lstrip()
    if not marks:
        return _bullets(stops) if stops else part
    indent = len(part) - len(marks)
    return _bullets(_up_to(stops, indent)) + marks if indent >= INDENTED else part


def _up_to(stops: Stops, column: int) -> Stops:
    """Those of ``stops`` up to ``column``, and that as the last."""
    kept = [stop for stop in stops if stop <= column]
    if kept and column < kept[-1] + INDENTED:
        kept.pop()
    return [*kept, column]


def _bullets(stops: Stops) -> str:
    """Markers of nested items, as wide as an indentation; none is wider than four columns."""
    made = ""
    for stop in stops:
        while (rest := stop - len(made)) > INDENTED:
            made += "-".ljust(INDENTED if rest > INDENTED + 1 else INDENTED - 1)
        made += "-".ljust(rest) if rest else ""
    return made


def _bare(stops: Stops) -> str:
    """Markers of nested items with nothing behind them, whose text starts on the lines below."""
    *outer, last = stops
    made = _bullets(outer)
    if last - len(made) == len("1. "):
        return f"{made}1."
    return f"{_bullets([*outer, last - len('* ')])}*"  # three dashes would be a rule
