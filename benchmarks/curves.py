"""The picture of growth: a panel for each shape, a curve for each strategy. Neighbours: growth.py, svg.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from benchmarks import svg

ACROSS, WIDTH, HEIGHT, PAD = 3, 290, 190, 44


class Point(Protocol):
    """What a document of some size took."""

    @property
    def size(self) -> int:
        """Bytes of the document."""

    @property
    def seconds(self) -> float:
        """How long it took."""

    @property
    def memory(self) -> int:
        """Bytes of memory."""


Points = Mapping[str, Mapping[str, Sequence[Point]]]
"""By shape, by strategy."""
Value = Callable[[Point], float]


def panels(points: Points) -> str:
    """The picture as SVG: milliseconds a megabyte for each shape; memory for the first."""
    first = next(iter(points))
    drawn = [(shape, "ms/MB", points[shape], _time) for shape in points]
    drawn.append((f"{first}: memory", "bytes a byte", points[first], _memory))
    rows = math.ceil(len(drawn) / ACROSS)
    shapes = [svg.text(16, 26, "Time and memory as one document grows", "title"), *_key(list(points[first]))]
    for number, (title, unit, curves, value) in enumerate(drawn):
        x, y = 16 + number % ACROSS * WIDTH, 66 + number // ACROSS * HEIGHT
        shapes += _panel(x, y, title, unit, curves, value)
    return svg.picture(32 + ACROSS * WIDTH, 76 + rows * HEIGHT, "Time and memory as one document grows", shapes)


def _time(point: Point) -> float:
    return point.seconds / point.size * 1e9


def _memory(point: Point) -> float:
    return point.memory / point.size


def _key(strategies: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(strategies):
        x = 480 + 100 * number
        yield svg.bar(x, 17, 14, 8, f"f{number}")
        yield svg.text(x + 20, 26, name)


def _panel(x: int, y: int, title: str, unit: str, curves: Mapping[str, Sequence[Point]], value: Value) -> Iterator[str]:
    points = [point for curve in curves.values() for point in curve]
    low, high = min(point.size for point in points), max(point.size for point in points)
    top = _round_up(max(map(value, points)))
    left, right, base, height = x + PAD, x + WIDTH - 16, y + HEIGHT - 44, HEIGHT - 74
    yield svg.text(x + 4, y + 4, title)
    for share in (0, 0.5, 1):
        yield svg.line(left, base - share * height, right, base - share * height)
        yield svg.text(left - 6, base - share * height + 4, f"{top * share:g}", "small quiet", "end")
    yield svg.text(right, y + 22, unit, "small quiet", "end")

    def across(size: int) -> float:
        return left + (right - left) * math.log(size / low) / max(math.log(high / low), 1e-9)

    for size in sorted({point.size for point in points}):
        yield svg.text(across(size), base + 16, _size(size), "small quiet", "middle")
    for number, curve in enumerate(curves.values()):
        yield svg.curve([(across(point.size), base - value(point) / top * height) for point in curve], f"s{number}")


def _round_up(number: float) -> float:
    """The next of 1, 2, 4, 6, 8 and 10 times a power of ten."""
    power: float = 10 ** math.floor(math.log10(max(number, 1e-9)))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= number)


def _size(number: int) -> str:
    return f"{number // 1000} KB" if number < 1e6 else f"{number // 1_000_000} MB"
