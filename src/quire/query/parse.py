"""Query text to a query tree (``parse``), and back to one canonical line (``show``).

    query  = branch (OR branch)*
    branch = item*                         any may match; those with a field must
    item   = [-] [field:] (word | "phrase" | ( query )) [^boost]

In the tree, a ``Not`` is always an item of a ``Group`` that also has something to search for.
"""

from functools import lru_cache

import msgspec

from quire.errors import QueryError
from quire.query import lex
from quire.query.lex import LEAST_BOOST, MOST_BOOST, Token
from quire.query.query_tree import Either, Field, Group, Not, Phrase, Query, Word

MAX_DEPTH = 50  # how deeply groups may be nested; redundant brackets do not count


@lru_cache(maxsize=8)
def parse(query: str, keys: frozenset[str] = frozenset()) -> Query | None:
    """The query tree; None if there is nothing to search for. Invalid syntax raises ``QueryError``.

    ``keys`` are those of front matter, which are fields, too.
    """
    parser = _Parser(query, _drop_redundant_brackets(query, lex.tokens(query, keys)))
    items = parser.either(_Context())
    return parser.join(items, 0) if items else None


def _drop_redundant_brackets(query: str, tokens: list[Token]) -> list[Token]:
    """The tokens, with brackets that are not closed or change nothing turned into marks.

    Words without OR mean the same without brackets, so brackets in prose and code do no harm, however deep.
    """
    result = [token._replace(kind="mark") if token.kind in ("open", "close") else token for token in tokens]
    opened: list[int] = []
    with_or: set[int] = set()
    for at, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(at)
        elif token.kind == "or":
            with_or.add(opened[-1] if opened else -1)
        elif token.kind == "close" and opened:
            start = opened.pop()
            if _is_group(tokens[start], start in with_or) or token.boost != 1:
                result[start] = tokens[start]._replace(boost=token.boost)
                result[at] = token
    for start in opened:
        if _is_group(tokens[start], start in with_or):
            at = tokens[start].span.start
            raise QueryError(query, at, "this bracket is not closed", "put a ) where the group ends")
    return result


def _is_group(token: Token, with_or: bool) -> bool:
    return with_or or token.negated or token.field is not None


class _Context(msgspec.Struct, frozen=True):
    """The field and boost that enclosing groups give to an item."""

    field: Field | None = None
    boost: float = 1.0
    depth: int = 0


class _Parser:
    """Reads tokens from left to right, one method per grammar rule."""

    def __init__(self, query: str, tokens: list[Token]) -> None:
        self.query = query
        self.tokens = tokens
        self.at = 0

    def kind(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else "end"

    def either(self, context: _Context) -> list[Query]:
        """The rest of a group: one ``Either``, or items that must all match."""
        start, branches = self.at, list[Query]()
        items = self.branch(context)
        while self.kind() == "or":
            sign = self.tokens[self.at]
            self.at += 1
            at, others = self.at, self.branch(context)
            if items and others:
                branches += self.alternatives(items, start)
                start, items = at, others
            else:  # without a neighbour, OR is an ordinary word
                items += [Word(text="OR", span=sign.span, field=context.field, boost=context.boost), *others]
        return [Either(items=(*branches, *self.alternatives(items, start)))] if branches else items

    def alternatives(self, items: list[Query], start: int) -> tuple[Query, ...]:
        """A branch, flattened if it is itself an ``Either``."""
        joined = self.join(items, start)
        return joined.items if isinstance(joined, Either) else (joined,)

    def branch(self, context: _Context) -> list[Query]:
        items: list[Query] = []
        while self.kind() not in ("or", "close", "end"):
            token = self.tokens[self.at]
            self.at += 1
            if token.kind == "open":
                items += self.group(token, context)
            elif token.kind != "mark":
                leaf = self.leaf(token, context)
                items.append(Not(item=leaf) if token.negated else leaf)
        return items

    def group(self, token: Token, context: _Context) -> list[Query]:
        if context.depth == MAX_DEPTH:
            problem = f"groups are nested more than {MAX_DEPTH} deep here"
            raise QueryError(self.query, token.span.start, problem, "take some out")
        start = self.at
        items = self.either(msgspec.structs.replace(self.inner_context(token, context), depth=context.depth + 1))
        self.at += 1
        if not items and token.field:
            items = [Word(text=token.field, span=token.span, field=context.field, boost=context.boost)]
        return [Not(item=self.join(items, start))] if token.negated and items else items

    def leaf(self, token: Token, context: _Context) -> Word | Phrase:
        if token.kind == "field":
            return Word(text=token.text, span=token.span, field=context.field, boost=context.boost)
        inner = self.inner_context(token, context)
        if token.kind == "phrase":
            return Phrase(text=token.text, span=token.span, field=inner.field, boost=inner.boost)
        return Word(text=token.text, span=token.span, field=inner.field, boost=inner.boost, prefix=token.prefix)

    def inner_context(self, token: Token, context: _Context) -> _Context:
        """The context with the field and boost of the token itself."""
        if token.field is None and token.boost == 1:
            return context
        if token.field and context.field:
            at = token.start + self.query.startswith("-", token.start)
            raise QueryError(self.query, at, f"{token.field}: is inside {context.field}:( )", "a word has one field")
        boost = min(max(context.boost * token.boost, LEAST_BOOST), MOST_BOOST)
        return _Context(token.field or context.field, boost, context.depth)

    def join(self, items: list[Query], start: int) -> Query:
        """One query for all items; ``start`` is the number of their first token, for the error."""
        if all(isinstance(item, Not) for item in items):
            at = next(token.start for token in self.tokens[start:] if token.negated)
            advice = "add a word to look for, or put it in quotes"
            raise QueryError(self.query, at, "this only says what to leave out", advice)
        return items[0] if len(items) == 1 else Group(items=tuple(items))


def show(query: Query | None) -> str:
    """The query as one canonical line, for ``--explain``. Parsing it gives an equal tree, apart from spans."""
    match query:
        case None:
            return ""
        case Group(items=items):
            return " ".join(f"({show(item)})" if isinstance(item, Either) else show(item) for item in items)
        case Either(items=items):
            return " OR ".join(f"({show(item)})" if isinstance(item, Group) else show(item) for item in items)
        case Not(item=Word() | Phrase() as leaf):
            return _show_leaf(leaf, "-")
        case Not(item=item):
            return f"-({show(item)})"
        case leaf:
            return _show_leaf(leaf, "")


def _show_leaf(leaf: Word | Phrase, dash: str) -> str:
    lead = f"{dash}{leaf.field}:" if leaf.field else dash
    boost = "" if leaf.boost == 1 else f"^{leaf.boost!r}".removesuffix(".0")
    if isinstance(leaf, Phrase):
        return f'{lead}"{leaf.text}"{boost}'
    text = leaf.text + "*" * leaf.prefix
    shown = lead + text + boost
    if shown == "OR":
        return "OR^1"
    # Brackets protect a word that would be read differently, such as a flag after a dash, or a power.
    return shown if _reads_as(shown, leaf, dash) else f"{lead}({text}){boost}"


def _reads_as(shown: str, word: Word, dash: str) -> bool:
    match lex.tokens(shown, [word.field] if word.field else ()):
        case [lex.Token(kind="word") as token]:
            read = Word(text=token.text, span=word.span, field=token.field, boost=token.boost, prefix=token.prefix)
            return read == word and token.negated == bool(dash)
    return False
