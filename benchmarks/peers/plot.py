"""The picture: a bar for each tool's speed, and what went wrong beside it. Neighbours: report.py, ../svg.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks import svg

WIDTH, LEFT, RIGHT, TOP, ROW = 900, 390, 190, 64, 24


class Bar(NamedTuple):
    """A tool."""

    name: str
    speed: float
    """MB/s."""
    defects: int
    """How much went wrong."""
    is_own: bool
    """Whether it is quire."""
    has_cap: bool


def bars(rows: Sequence[Bar], heading: str, below: str) -> str:
    """The picture as SVG."""
    longest = max((row.speed for row in rows), default=1.0)
    scale = (WIDTH - LEFT - RIGHT) / longest
    height = TOP + ROW * len(rows) + 34
    shapes = [
        svg.text(16, 26, heading, "title"),
        svg.text(LEFT, 52, "MB/s", "small quiet"),
        svg.text(WIDTH - 16, 52, "things that went wrong", "small quiet", "end"),
        svg.line(LEFT, TOP - 4, LEFT, TOP + ROW * len(rows)),
    ]
    for number, row in enumerate(rows):
        top = TOP + ROW * number
        base = top + ROW - 9
        wrong = f"{row.defects:,}" if row.has_cap else f"{row.defects:,}, no cap"
        shapes += [
            svg.text(LEFT - 10, base, row.name.replace("`", ""), anchor="end"),
            svg.bar(LEFT, top + 3, row.speed * scale, ROW - 8, "own" if row.is_own else "other"),
            svg.text(LEFT + row.speed * scale + 6, base, f"{row.speed:.1f}", "small"),
            svg.text(WIDTH - 16, base, wrong, "good" if not row.defects else "bad", "end"),
        ]
    shapes.append(svg.text(16, height - 10, below, "small quiet"))
    return svg.picture(WIDTH, height, heading, shapes)
