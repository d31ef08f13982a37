"""The query tree: words, phrases, groups. ``parse`` builds it, ``index.engine.first_pass`` makes engine queries of it.

Words are kept as typed. A field or boost of a group is copied to each leaf; boosts are multiplied.
"""

from collections.abc import Callable, Iterator

import msgspec

from quire.model.document import Span

Field = str
TEXT_FIELDS = ("title", "path", "tags", "body")
FIELDS = (*TEXT_FIELDS, "tree")  # the fields that every index has; others are keys of front matter


class _Leaf(msgspec.Struct, frozen=True, kw_only=True):
    text: str  # without quotes
    span: Span  # in the query, quotes included
    field: Field | None = None  # None: any field
    boost: float = 1.0
    prefix: bool = False  # typed with a ``*`` at the end; only a word can be


class Word(_Leaf, frozen=True, kw_only=True):
    """One word as typed; it may consist of several terms (``my_var``, ``C++``, Chinese text)."""


class Phrase(_Leaf, frozen=True, kw_only=True):
    """Adjacent words, all in one field."""


class Not(msgspec.Struct, frozen=True, kw_only=True):
    """An excluded item; never a ``Not`` itself."""

    item: "Query"
    start: int = 0  # of its dash or field in the query


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Two or more items, at least one of them no ``Not``. Any of them may match; those with a field must."""

    items: "tuple[Query, ...]"


class Either(msgspec.Struct, frozen=True, kw_only=True):
    """Two or more alternatives."""

    items: "tuple[Query, ...]"


Query = Word | Phrase | Not | Group | Either


def leaves(query: Query) -> Iterator[Word | Phrase]:
    """The words and phrases in order, without the excluded ones."""
    if isinstance(query, Group | Either):
        for item in query.items:
            yield from leaves(item)
    elif not isinstance(query, Not):
        yield query


def with_leaves(query: Query, change: Callable[[Word | Phrase], Query]) -> Query:
    """The query with other words and phrases; what it excludes stays."""
    if isinstance(query, Group | Either):
        return msgspec.structs.replace(query, items=tuple([with_leaves(item, change) for item in query.items]))
    return query if isinstance(query, Not) else change(query)
