"""Query text -> query tree: ``lex`` makes tokens, this reads them. The index compiles the tree.

    query  = branch (OR branch)*
    branch = item*                         all of them must match
    item   = [-] [field:] (word | "phrase" | ( query )) [^boost]

In the tree a ``Not`` is only ever an item of an ``All`` that also has something to look for.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from quire.errors import QueryError
from quire.query import lex
from quire.query.lex import LEAST_BOOST, MOST_BOOST, Token
from quire.query.tree import All, Either, Field, Not, Phrase, Query, Word

DEEPEST = 50
"""How many groups may stand in each other; brackets that change nothing do not count."""


@lru_cache(maxsize=8)
def parse(query: str) -> Query | None:
    """What a query means; None if there is nothing to look for. Raises ``QueryError`` where syntax is used wrongly."""
    tokens = lex.tokens(query)
    reader = _Reader(query, _grouped(query, tokens))
    items = reader.either(_Around())
    return reader.joined(items, 0) if items else None


def _grouped(query: str, tokens: list[Token]) -> list[Token]:
    """The tokens, with brackets that are not closed or change nothing turned into marks.

    Words without OR may as well stand without brackets, however deep, so those in prose and code do no harm.
    """
    made = [token._replace(kind="mark") if token.kind in ("open", "close") else token for token in tokens]
    opened: list[int] = []
    with_or: set[int] = set()
    for at, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(at)
        elif token.kind == "or":
            with_or.add(opened[-1] if opened else -1)
        elif token.kind == "close" and opened:
            start = opened.pop()
            if _means_a_group(tokens[start], start in with_or) or token.boost != 1:
                made[start] = tokens[start]._replace(boost=token.boost)
                made[at] = token
    for start in opened:
        if _means_a_group(tokens[start], start in with_or):
            raise QueryError(
                query, tokens[start].span.start, "this bracket is not closed", "put a ) where the group ends"
            )
    return made


def _means_a_group(token: Token, with_or: bool) -> bool:
    return with_or or token.negated or token.field is not None


class _Around(msgspec.Struct, frozen=True):
    """What the groups around an item say about it."""

    field: Field | None = None
    boost: float = 1.0
    depth: int = 0


class _Reader:
    """Reads tokens from left to right, one method a rule."""

    def __init__(self, query: str, tokens: list[Token]) -> None:
        self.query = query
        self.tokens = tokens
        self.at = 0

    def kind(self) -> str:
        """The kind of the next token."""
        return self.tokens[self.at].kind if self.at < len(self.tokens) else "end"

    def either(self, around: _Around) -> list[Query]:
        """What must match up to the end of the group: one ``Either``, or items that are all wanted."""
        start, branches = self.at, list[Query]()
        items = self.branch(around)
        while self.kind() == "or":
            sign = self.tokens[self.at]
            self.at += 1
            at, others = self.at, self.branch(around)
            if items and others:
                branches += self.alternatives(items, start)
                start, items = at, others
            else:  # nothing stands beside it: it is the word
                items += [Word(text="OR", span=sign.span, field=around.field, boost=around.boost), *others]
        return [Either(items=(*branches, *self.alternatives(items, start)))] if branches else items

    def alternatives(self, items: list[Query], start: int) -> tuple[Query, ...]:
        """A branch, or its own branches if it is nothing but a group of them."""
        joined = self.joined(items, start)
        return joined.items if isinstance(joined, Either) else (joined,)

    def branch(self, around: _Around) -> list[Query]:
        """Items up to an OR, the end of the group or the end of the query."""
        items: list[Query] = []
        while self.kind() not in ("or", "close", "end"):
            token = self.tokens[self.at]
            self.at += 1
            if token.kind == "open":
                items += self.group(token, around)
            elif token.kind != "mark":
                leaf = self.leaf(token, around)
                items.append(Not(item=leaf) if token.negated else leaf)
        return items

    def group(self, token: Token, around: _Around) -> list[Query]:
        if around.depth == DEEPEST:
            raise QueryError(
                self.query, token.span.start, f"groups are nested more than {DEEPEST} deep here", "take some out"
            )
        start = self.at
        items = self.either(msgspec.structs.replace(self.inside(token, around), depth=around.depth + 1))
        self.at += 1
        if not items and token.field:
            items = [Word(text=token.field, span=token.span, field=around.field, boost=around.boost)]
        return [Not(item=self.joined(items, start))] if token.negated and items else items

    def leaf(self, token: Token, around: _Around) -> Word | Phrase:
        if token.kind == "field":
            return Word(text=token.text, span=token.span, field=around.field, boost=around.boost)
        inside = self.inside(token, around)
        if token.kind == "phrase":
            return Phrase(text=token.text, span=token.span, field=inside.field, boost=inside.boost)
        return Word(text=token.text, span=token.span, field=inside.field, boost=inside.boost, prefix=token.prefix)

    def inside(self, token: Token, around: _Around) -> _Around:
        """What is said about a token by itself and by what is around it."""
        if token.field is None and token.boost == 1:
            return around
        if token.field and around.field:
            at = token.start + self.query.startswith("-", token.start)
            raise QueryError(self.query, at, f"{token.field}: stands inside {around.field}:( )", "a word has one field")
        boost = min(max(around.boost * token.boost, LEAST_BOOST), MOST_BOOST)
        return _Around(token.field or around.field, boost, around.depth)

    def joined(self, items: list[Query], start: int) -> Query:
        """All of the items, of which at least one must be something to look for; ``start`` is their first token."""
        if all(isinstance(item, Not) for item in items):
            at = next(token.start for token in self.tokens[start:] if token.negated)
            raise QueryError(
                self.query, at, "this only says what to leave out", "add a word to look for, or put it in quotes"
            )
        return items[0] if len(items) == 1 else All(items=tuple(items))
