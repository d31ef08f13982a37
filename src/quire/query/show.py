"""Query tree -> one canonical line, which means the same when it is read again. For ``--explain``."""

from __future__ import annotations

from quire.query import lex
from quire.query.tree import All, Either, Not, Phrase, Query, Word


def show(query: Query | None) -> str:
    """A query as one line: parsing it gives an equal tree, apart from where its words stand."""
    match query:
        case None:
            return ""
        case All(items=items):
            return " ".join(f"({show(item)})" if isinstance(item, Either) else show(item) for item in items)
        case Either(items=items):
            return " OR ".join(f"({show(item)})" if isinstance(item, All) else show(item) for item in items)
        case Not(item=Word() | Phrase() as leaf):
            return _leaf(leaf, "-")
        case Not(item=item):
            return f"-({show(item)})"
        case leaf:
            return _leaf(leaf, "")


def _leaf(leaf: Word | Phrase, dash: str) -> str:
    lead = f"{dash}{leaf.field}:" if leaf.field else dash
    boost = "" if leaf.boost == 1 else f"^{leaf.boost!r}".removesuffix(".0")
    if isinstance(leaf, Phrase):
        return f'{lead}"{leaf.text}"{boost}'
    text = leaf.text + "*" * leaf.prefix
    if lead + text + boost == "OR":
        return "OR^1"
    # Where a word would be read otherwise in its place (a flag behind a dash, a power), brackets keep it apart.
    together = lead + text + boost
    return together if lex.is_plain(together) or _reads(together, leaf, dash) else f"{lead}({text}){boost}"


def _reads(shown: str, word: Word, dash: str) -> bool:
    """Whether what is shown is read as that one word."""
    match lex.tokens(shown):
        case [lex.Token(kind="word") as token]:
            read = Word(text=token.text, span=word.span, field=token.field, boost=token.boost, prefix=token.prefix)
            return read == word and token.negated == bool(dash)
    return False
