"""Query text to a query tree (``parse``), and back to one line (``show``). docs/reference/query.md has the rules.

    query  = branch (OR branch)*
    branch = item*                         any may match; those with a field must
    item   = [-] [field:] (word | "phrase" | ( query )) [^boost]

A character is syntax only where the grammar allows it, so text that was never meant as a query gives words, not errors.
In the tree, a ``Not`` is always an item of a ``Group`` that also has something to search for. The cost is linear.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, zip_longest
from typing import NamedTuple
from unicodedata import category

import msgspec
from msgspec.structs import replace

from quire.errors import QueryError
from quire.model.document import Span
from quire.model.patterns import pattern
from quire.model.query_tree import FIELDS, Either, Field, Group, Not, Phrase, Query, Word, with_leaves

# Control characters and lone surrogates belong to no word; UTF-8 cannot encode the latter.
_BLANK = r"\s\x00-\x1f\x7f-\x9f\u200b\ufeff\ud800-\udfff"
_NO_BLANK = pattern(f"[^{_BLANK}]")
_BRACKET_OR_BLANK = pattern(f"[()]|[{_BLANK}]++")

KEYED = pattern(r"(?<![\w-])-?([A-Za-z][\w-]*+):[^\s:/\\]")  # names a key of front matter, if there is such a key
LEAST_BOOST, MOST_BOOST = 0.01, 100.0  # ``HEAD^0`` and ``m^-1`` have no boost
_NUMBER = pattern(number := r"[+-]?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_BOOST_SUFFIX = pattern(rf"\^({number})(?![\w^])")
_QUOTES = pattern('"{3,}+')
_INNER_DASH = pattern(rf"-(?:(?<=[^{_BLANK}(]-)|(?<=[^\W_]\(-))")  # no syntax, as in ``max(-value, 0)``
_LETTER = pattern(r"[^\W\d_]")
# Command-line flags and numbers: --help, -1, -d, -it, -std=c11. A dash before anything longer negates.
_FLAG = pattern(r"-(?:-|[0-9]|[A-Za-z]{1,2}[.,;:!?]*+\Z|[^=]*+=)")
_PUNCTUATION = frozenset(["Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Zl", "Zp", "Zs", "Cc", "Cf", "Cs"])
MAX_DEPTH = 50  # how deeply groups may be nested; redundant brackets do not count


@lru_cache(maxsize=8)
def parse(query: str, keys: frozenset[str] = frozenset()) -> Query | None:
    """The query tree; None if there is nothing to search for. Invalid syntax raises ``QueryError``.

    ``keys`` are those of front matter, which are fields, too.
    """
    items: list[Query | Token] = []
    groups = [_Group(query, items)]
    for token in _tokens(query, keys):
        group = groups[-1]
        if token.kind == "open":
            groups.append(_Group(query, items, group.field_of(token), token, len(items)))
        elif token.kind == "close" and group.opening:
            groups.pop()
            groups[-1].add_group(group, group.opening, token.boost)
        elif token.kind == "or":
            items.append(token)
            group.has_or = True
        elif token.kind in ("word", "phrase"):
            leaf = _leaf(token, group.field_of(token))
            items.append(Not(item=leaf, start=token.start) if token.negated else leaf)
    for group in groups:
        if group.opening and group.changes_meaning:
            at = group.opening.span.start
            raise QueryError(query, at, "this bracket is not closed", "put a ) where the group ends")
    alternatives = groups[0].alternatives()
    return _join(query, alternatives) if alternatives else None


class Token(NamedTuple):
    """A token with its leading ``-`` and field and its trailing boost."""

    kind: str  # word, phrase, open, close, or; mark: punctuation
    start: int  # with the ``-`` and the field
    span: Span  # of its own text; for a phrase with the quotes
    end: int  # where the next token may start
    text: str = ""  # of a word or a phrase
    negated: bool = False
    field: Field | None = None
    prefix: bool = False
    boost: float = 1.0


def _tokens(query: str, keys: frozenset[str]) -> Iterator[Token]:
    pairs, fields, end = _bracket_pairs(query), _field_pattern(keys), 0
    while first := _NO_BLANK.search(query, end):
        yield (token := _token(query, first.start(), pairs, fields))
        end = token.end


@lru_cache(maxsize=8)
def _field_pattern(keys: frozenset[str]) -> re.Pattern[str]:
    """Finds a field. Not in ``path::new`` and ``body::before``, which are code."""
    others = "|".join(sorted(map(re.escape, keys), key=len, reverse=True))
    return re.compile(f"({'|'.join(FIELDS)}{'|(?i:' * bool(others)}{others}{')' * bool(others)}):(?!:)")


def _bracket_pairs(query: str) -> dict[int, int]:
    """The closing bracket of each opening one, if there is no space between."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACKET_OR_BLANK.finditer(query):
        if match[0] == "(":
            opened.append(match.start())
        elif match[0] != ")":
            opened.clear()
        elif opened:
            pairs[opened.pop()] = match.start()
    return pairs


def _token(query: str, at: int, pairs: dict[int, int], fields: re.Pattern[str]) -> Token:
    if query[at] == ")":
        end, boost = _boost_suffix(query, at + 1)
        return Token("close", at, Span(at, at + 1), end, boost=boost)
    if _INNER_DASH.match(query, at):
        return Token("mark", at, Span(at, at + 1), at + 1)
    negated = _negates(query, at, pairs, fields)
    body, field = at + negated, None
    if name := fields.match(query, body):
        field, body = name[1].lower(), name.end()
        if not negated and _negates(query, body, pairs, fields):
            negated, body = True, body + 1
    if query.startswith("(", body):
        return Token("open", at, Span(body, body + 1), body + 1, negated=negated, field=field)
    if query.startswith('"', body):
        return _phrase(query, at, body, negated=negated, field=field)
    end = _word_end(query, body, pairs)
    if name and not _is_text(query[body:end]):  # with nothing after its colon, the name of a field is a word
        return Token("word", at, Span(*name.span(1)), name.end(), name[1].lower(), negated)
    text, prefix, boost = _split_word(query[body:end])
    is_text = _is_text(text)
    kind = "or" if query[at:end] == "OR" else "word" if is_text else "mark"
    return Token(kind, at, Span(body, body + len(text)), end, text, negated and is_text, field, prefix, boost)


def _negates(query: str, at: int, pairs: dict[int, int], fields: re.Pattern[str]) -> bool:
    """Whether there is a dash at ``at`` that negates, rather than being a part of a word."""
    if not query.startswith("-", at):
        return False
    if query.startswith(("(", '"'), at + 1) or fields.match(query, at + 1):
        return True
    text, _, _ = _split_word(query[at : _word_end(query, at, pairs)])
    first = text[1:2]
    return (first.isalnum() or first == "_" or first > "\x7f") and not _FLAG.match(text)


def _boost_suffix(query: str, at: int) -> tuple[int, float]:
    """The end of the boost after a phrase or a group, and the boost; ``at`` and 1 without one."""
    match = _BOOST_SUFFIX.match(query, at)
    return (match.end(), float(match[1])) if match and LEAST_BOOST <= float(match[1]) <= MOST_BOOST else (at, 1.0)


def _is_text(text: str) -> bool:
    """Whether a text has letters, digits, symbols or emoji, not only punctuation."""
    return any(char.isalnum() or category(char) not in _PUNCTUATION for char in text)


def _word_end(query: str, start: int, pairs: dict[int, int]) -> int:
    """A word ends at a space or a bracket, but ``f(x)`` and ``file(s)`` are whole words."""
    at = start
    while True:
        end = match.start() if (match := _BRACKET_OR_BLANK.search(query, at)) else len(query)
        if end == start or end not in pairs:
            return end
        at = pairs[end] + 1


def _split_word(word: str) -> tuple[str, bool, float]:
    """The word without its ``*`` and ``^2``, whether it is a prefix, its boost."""
    # ``x^y``, ``x^0`` and ``2^10`` have no boost; ``**bold**`` and ``src/*`` are no prefixes.
    text, boost = word, 1.0
    base, caret, number = word.rpartition("^")
    if caret and _LETTER.search(base) and _NUMBER.fullmatch(number) and LEAST_BOOST <= float(number) <= MOST_BOOST:
        text, boost = base, float(number)
    prefix = len(text) > 1 and text.endswith("*") and text.count("*") == 1 and _is_text(text[-2])
    return text[: len(text) - prefix], prefix, boost


def _phrase(query: str, start: int, opening: int, *, negated: bool, field: Field | None) -> Token:
    """A phrase; a mark for an unclosed quote, three quotes in a row, and quoted punctuation."""
    quotes, end = _QUOTES.match(query, opening), query.find('"', opening + 1) + 1
    if not end and opening > start:  # after a dash or a field, the quote is meant as syntax
        raise QueryError(query, opening, "this quote is not closed", 'put another " at the end of the phrase')
    if quotes or not end:
        end = quotes.end() if quotes else opening + 1
        return Token("mark", start, Span(start, end), end)
    text = " ".join(re.split(f"[{_BLANK}]+", query[opening + 1 : end - 1])).strip()
    boost_end, boost = _boost_suffix(query, end)
    kind = "phrase" if _is_text(text) else "mark"
    return Token(kind, start, Span(opening, end), boost_end, text, negated, field, boost=boost)


def _leaf(token: Token, field: Field | None) -> Word | Phrase:
    kind = Phrase if token.kind == "phrase" else Word
    return kind(text=token.text, span=token.span, field=field, boost=token.boost, prefix=token.prefix)


class _Group(msgspec.Struct):
    """A bracket and the items after it, or those of the whole query. Without OR, words mean the same in brackets."""

    query: str
    all_items: list[Query | Token]  # those of all groups, which end with those of the innermost; a token is an OR
    field: Field | None = None  # of items without one
    opening: Token | None = None
    start: int = 0  # the number of its first item
    has_or: bool = False
    depth: int = 0  # of the groups in it

    @property
    def changes_meaning(self) -> bool:
        """Whether its items would mean something else without the bracket."""
        return self.has_or or (self.opening is not None and (self.opening.negated or self.opening.field is not None))

    def field_of(self, token: Token) -> Field | None:
        if token.field and self.field:
            at = token.start + self.query.startswith("-", token.start)
            raise QueryError(self.query, at, f"{token.field}: is inside {self.field}:( )", "a word has one field")
        return token.field or self.field

    def add_group(self, group: "_Group", opening: Token, boost: float) -> None:
        if not group.changes_meaning and boost == 1:
            self.depth = max(self.depth, group.depth)
            return
        self.depth = max(self.depth, group.depth + 1)
        if self.depth > MAX_DEPTH:
            problem = f"groups are nested more than {MAX_DEPTH} deep here"
            raise QueryError(self.query, opening.span.start, problem, "take some out")

        def boosted(leaf: Word | Phrase) -> Query:
            return replace(leaf, boost=min(max(leaf.boost * boost, LEAST_BOOST), MOST_BOOST))

        items = [with_leaves(item, boosted) for item in group.alternatives()]
        if not items and opening.field:
            items = [Word(text=opening.field, span=opening.span)]
        negated = items and opening.negated
        self.all_items += [Not(item=_join(self.query, items), start=opening.start)] if negated else items

    def alternatives(self) -> list[Query]:
        """Take its items, or one ``Either``, off the list. Without a neighbour, OR is an ordinary word."""
        items = self.all_items[self.start :]
        del self.all_items[self.start :]
        branches: list[list[Query]] = [[]]
        for item, following in zip_longest(items, items[1:]):
            if not isinstance(item, Token):
                branches[-1].append(item)
            elif branches[-1] and following and not isinstance(following, Token):
                branches.append([])
            else:
                branches[-1].append(Word(text="OR", span=item.span, field=self.field))
        if len(branches) == 1:
            return branches[0]
        joined = [_join(self.query, branch) for branch in branches]
        flat = [item.items if isinstance(item, Either) else (item,) for item in joined]
        return [Either(items=tuple(chain.from_iterable(flat)))]


def _join(query: str, items: list[Query]) -> Query:
    exclusions = [item for item in items if isinstance(item, Not)]
    if len(exclusions) == len(items):
        advice = "add a word to look for, or put it in quotes"
        raise QueryError(query, exclusions[0].start, "the query has only exclusions", advice)
    return items[0] if len(items) == 1 else Group(items=tuple(items))


def show(query: Query | None) -> str:
    """The query as one canonical line, for ``--explain``. Parsing it gives an equal tree, apart from spans."""
    if query is None:
        return ""
    if isinstance(query, Group | Either):
        separator, bracketed = (" ", Either) if isinstance(query, Group) else (" OR ", Group)
        return separator.join(f"({show(item)})" if isinstance(item, bracketed) else show(item) for item in query.items)
    leaf, dash = (query.item, "-") if isinstance(query, Not) else (query, "")
    if not isinstance(leaf, Word | Phrase):
        return f"-({show(leaf)})"
    lead = f"{dash}{leaf.field}:" if leaf.field else dash
    boost = "" if leaf.boost == 1 else f"^{leaf.boost!r}".removesuffix(".0")
    if isinstance(leaf, Phrase):
        return f'{lead}"{leaf.text}"{boost}'
    text = leaf.text + "*" * leaf.prefix
    shown = lead + text + boost
    # Brackets protect a word that would be read differently, such as a flag after a dash, or a power.
    tokens = _tokens(shown, frozenset([leaf.field] if leaf.field else ()))
    read = [(token.kind, token.negated, replace(_leaf(token, token.field), span=leaf.span)) for token in tokens]
    is_read = read == [("word", bool(dash), leaf)]
    return shown if is_read else "OR^1" if shown == "OR" else f"{lead}({text}){boost}"
