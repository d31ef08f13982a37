"""What a query means, as a tree. Made by the parser, compiled by the index, explained by the search. Frozen.

Words are as typed: how they are cut into terms is the index's affair. A field in front of a group stands on each
of its leaves; so does a boost, multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from quire.model import Span

Field = Literal["title", "path", "tags", "body", "tree"]


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One word, as typed; it may still consist of several terms (``my_var``, ``C++``, Chinese text)."""

    text: str
    """Without the syntax around it."""
    span: Span
    """Where it stands in the query."""
    field: Field | None = None
    """Where it must stand; None for anywhere."""
    boost: float = 1.0
    """How much it weighs."""
    prefix: bool = False
    """Whether it is only the beginning of a word."""


class Phrase(msgspec.Struct, frozen=True, kw_only=True):
    """Words that must stand side by side."""

    text: str
    """Between the quotes."""
    span: Span
    """Where it stands in the query, quotes included."""
    field: Field | None = None
    """Where it must stand; None for anywhere, but all in one field."""
    boost: float = 1.0
    """How much it weighs."""


class Not(msgspec.Struct, frozen=True, kw_only=True):
    """What must not match."""

    item: Query
    """Never a ``Not`` itself."""


class All(msgspec.Struct, frozen=True, kw_only=True):
    """Every item must match; words of no meaning of their own may be missing (the search decides which)."""

    items: tuple[Query, ...]
    """At least two, of which at least one is no ``Not``."""


class Either(msgspec.Struct, frozen=True, kw_only=True):
    """At least one item must match."""

    items: tuple[Query, ...]
    """At least two."""


Query = Word | Phrase | Not | All | Either


def leaves(query: Query) -> Iterator[Word | Phrase]:
    """The words and phrases that are looked for, in order; not those that must not match."""
    if isinstance(query, All | Either):
        for item in query.items:
            yield from leaves(item)
    elif not isinstance(query, Not):
        yield query
