"""Heading trees as indented outlines, for the tests of merging.

Guide               the document; it does not match
  Setup 2.0         matches with this score and satisfies all of the query by itself
    Linux 1.0/0.5   satisfies half of the query by itself
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quire.index.engine.snapshot import Match
from quire.index.node import Outline as HeadingTree
from quire.search.merge import Merged, merge_document
from quire.search.search_settings import SearchSettings


@dataclass(frozen=True)
class Line:
    """A node of an outline."""

    name: str
    position: int
    last: int
    score: float | None
    own: float

    def holds(self, other: Line) -> bool:
        """Whether the other node is below this one."""
        return self.position < other.position <= self.last


@dataclass(frozen=True)
class Outline:
    """A document."""

    lines: tuple[Line, ...]
    tree: HeadingTree

    @property
    def name(self) -> str:
        return self.lines[0].name

    def matches(self) -> list[Match]:
        """The nodes that match, in document order."""
        return [_match(line.position, line.score, line.own) for line in self.lines if line.score is not None]

    def merged(self, settings: SearchSettings, matches: Sequence[Match] | None = None) -> list[Merged]:
        """The results, of these matches or of its own."""
        found = self.matches() if matches is None else matches
        return merge_document(found, self.tree, settings, ())

    def again(self, results: Sequence[Merged], own: float) -> list[Match]:
        """Results as if they were what matched."""
        return [_match(result.position, result.score, own) for result in results]


def _match(position: int, score: float, own: float) -> Match:
    return Match(score, None, 0, position, own)  # type: ignore[arg-type]  # merging reads no address


def outline(text: str) -> Outline:
    """The outline that indented lines draw; two spaces are a level."""
    rows = [row for row in text.splitlines() if row.strip()]
    outer = min(_indent(row) for row in rows)
    return planted(
        [(_indent(row) - outer) // 2 for row in rows],
        [row.split()[0] for row in rows],
        [_numbers(row.split()[1:]) for row in rows],
    )


def planted(depths: Sequence[int], names: Sequence[str], numbers: Sequence[tuple[float | None, float]]) -> Outline:
    """The outline with nodes of these depths; the first is the document, at depth 0."""
    parents = [next((at for at in range(n - 1, -1, -1) if depths[at] < depths[n]), -1) for n in range(len(depths))]
    ends = [
        next((at for at in range(n + 1, len(depths)) if depths[at] <= depths[n]), len(depths))
        for n in range(len(depths))
    ]
    children = [parents.count(position) for position in range(len(depths))]
    lines = zip(names, ends, numbers, strict=True)
    return Outline(
        tuple(Line(name, position, end - 1, *marks) for position, (name, end, marks) in enumerate(lines)),
        HeadingTree(list(depths), parents, children, [()] * len(depths), [0] * len(depths), names[0]),
    )


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _numbers(words: Sequence[str]) -> tuple[float | None, float]:
    if not words:
        return None, 0.0
    score, _, own = words[0].partition("/")
    return float(score), float(own or 1)
