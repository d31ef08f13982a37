"""What goes into merging and what comes out of it. ``counting`` and ``merge`` decide, ``phases`` brings and takes.

They are made by the hundred in every search, so they are of the kind that is made fastest.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from quire.index.node import Ancestor
from quire.search.records import How

Rule = Literal["parent", "aggregated", "passed over", "apart", "set back"]


class Rules(NamedTuple):
    """When a node gathers its children, and what for."""

    threshold: float
    """More than this part of its children must match."""
    least: int
    """At least so many."""
    cap: float
    """It scores the sum of theirs, at most so many times the best of them."""

    def gathers(self, depth: int, children: int, matching: int) -> bool:
        """Whether so many of the children are enough; the whole document is returned only for all of them."""
        enough = matching >= self.least and matching / children > self.threshold
        return enough and (depth > 0 or matching == children)


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A node that matches. No two are the same node."""

    document: str
    """The id of its document."""
    position: int
    """Its place among the nodes of the document; 0 is the document itself."""
    depth: int
    """0 for the document, else the heading's level."""
    score: float
    """How well it matches by itself."""
    own: float
    """The share of the query, 0 to 1, that its own title and body satisfy."""
    ancestors: tuple[Ancestor, ...] = ()
    """From the document down to its parent."""


class Step(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one rule did at one node, with the numbers that decided."""

    rule: Rule
    """``parent``: matches in its own right; ``aggregated``: enough children match; ``passed over``: a candidate that
    the better ones below it stand for; ``apart``: the result's parent, of which too few children match; ``set back``:
    a further result of its document."""
    position: int
    """The node."""
    score: float = 0.0
    """What the result scores; of a candidate that is passed over, its own score, which the result has at least."""
    own: float = 0.0
    """The share of the query that the node itself satisfies."""
    best_own: float = 0.0
    """The best such share of the candidates below it."""
    matching: int = 0
    """How many of its children match."""
    children: int = 0
    """How many children it has."""
    total: float = 0.0
    """The sum of the children's scores."""
    limit: float = 0.0
    """The most that gathering them may score."""
    replaced: tuple[int, ...] = ()
    """The results whose place it takes, in document order."""


class Merged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A section that answers."""

    document: str
    """The id of its document."""
    position: int
    """Its place among the nodes of the document."""
    depth: int
    """0 for the document, else the heading's level."""
    score: float
    """By itself or after merging."""
    how: How
    """Whether it is a candidate as it came, takes the place of those below it, or gathers its children."""
    constituents: tuple[int, ...]
    """The candidates in it, the best first; itself among them if it is one."""
    trail: tuple[Step, ...] = ()
    """How it came about, bottom-up."""
