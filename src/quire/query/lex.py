"""Query text to tokens, the first half of the parser. docs/reference/query.md has the rules.

A character is syntax only where the grammar allows it; elsewhere it belongs to a word. Punctuation alone becomes a
``mark``, which matches nothing. Text that was never meant as a query therefore gives words, not errors.

The cost is linear: brackets are paired once, and each word and quote is scanned a fixed number of times.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple
from unicodedata import category

from quire.errors import QueryError
from quire.model import Span
from quire.patterns import pattern
from quire.query.query_tree import FIELDS, Field

Kind = Literal["word", "phrase", "open", "close", "or", "field", "mark"]

# Control characters and lone surrogates belong to no word; UTF-8 cannot encode the latter.
_BLANK = r"\s\x00-\x1f\x7f-\x9f\u200b\ufeff\ud800-\udfff"
_BLANKS = pattern(f"[{_BLANK}]*+")
_NO_BLANK = pattern(f"[^{_BLANK}()]*+")
_BRACKET_OR_BLANK = pattern(f"[()]|[{_BLANK}]++")

KEYED = pattern(r"(?<![\w-])-?([A-Za-z][\w-]*+):[^\s:/\\]")
"""A word that names a key of front matter, if there is such a key."""
_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
LEAST_BOOST, MOST_BOOST = 0.01, 100.0
_BOOST = pattern(_NUMBER)
_BOOST_SUFFIX = pattern(rf"\^({_NUMBER})(?![\w^])")
_QUOTES = pattern('"++')
_LETTER = pattern(r"[^\W\d_]")
# Command-line flags and numbers: --help, -1, -d, -it, -std=c11. A dash before anything longer negates.
_FLAG = pattern(r"-(?:-|[0-9]|[A-Za-z]{1,2}[.,;:!?]*+\Z|[^=]*+=)")
_PUNCTUATION = frozenset(["Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Zl", "Zp", "Zs", "Cc", "Cf", "Cs"])


class Token(NamedTuple):
    """A token with its leading ``-`` and field and its trailing boost."""

    kind: Kind  # "field": a field name with nothing after its colon; "mark": punctuation
    start: int  # with the ``-`` and the field
    span: Span  # of its own text; for a phrase with the quotes
    end: int  # where the next token may start
    text: str = ""  # of a word, a phrase or a field name
    negated: bool = False
    field: Field | None = None
    prefix: bool = False
    boost: float = 1.0


def tokens(query: str, keys: Iterable[str] = ()) -> list[Token]:
    """All tokens in order. Brackets need not be balanced. ``keys`` are fields besides those of every index."""
    pairs, fields = _bracket_pairs(query), _field_pattern(frozenset(keys))
    result: list[Token] = []
    at = _skip(_BLANKS, query, 0)
    while at < len(query):
        token = _token(query, at, pairs, fields)
        result.append(token)
        at = _skip(_BLANKS, query, token.end)
    return result


@lru_cache(maxsize=8)
def _field_pattern(keys: frozenset[str]) -> re.Pattern[str]:
    """Finds a field. Not in ``path::new`` and ``body::before``, which are code."""
    others = "|".join(sorted(map(re.escape, keys), key=len, reverse=True))
    return re.compile(f"({'|'.join(FIELDS)}{'|(?i:' * bool(others)}{others}{')' * bool(others)}):(?!:)")


def _skip(pattern: re.Pattern[str], query: str, at: int) -> int:
    """The end of a match at ``at``, for patterns that match the empty text too."""
    match = pattern.match(query, at)
    return match.end() if match else at


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
    if query[at] == "-" and not _can_negate(query, at):
        return _mark(at, at + 1)
    negated, field, name_end, body = _lead(query, at, pairs, fields)
    if query.startswith("(", body):
        return Token("open", at, Span(body, body + 1), body + 1, negated=negated, field=field)
    if query.startswith('"', body):
        return _phrase(query, at, body, negated=negated, field=field)
    end = _word_end(query, body, pairs)
    if field and not _is_text(query[body:end]):
        name = Span(name_end - 1 - len(field), name_end - 1)
        return Token("field", at, name, name_end, text=field, negated=negated)
    return _word(query, at, Span(body, end), negated=negated, field=field)


def _mark(start: int, end: int) -> Token:
    return Token("mark", start, Span(start, end), end)


def _lead(query: str, at: int, pairs: dict[int, int], fields: re.Pattern[str]) -> tuple[bool, Field | None, int, int]:
    """Whether a token is negated, its field, the end of the field name, and the start of its text."""
    name = fields.match(query, at)
    body = name.end() if name else at
    negated = _negates(query, body, pairs, fields)
    if negated and not name:
        name = fields.match(query, body + 1)
        body = name.end() if name else body + 1
    elif negated:
        body += 1
    return negated, name[1].lower() if name else None, name.end() if name else at, body


def _negates(query: str, at: int, pairs: dict[int, int], fields: re.Pattern[str]) -> bool:
    """Whether there is a dash at ``at`` that negates, rather than being a part of a word."""
    if not query.startswith("-", at):
        return False
    if query.startswith(("(", '"'), at + 1) or fields.match(query, at + 1):
        return True
    text, _, _ = split_word(query[at : _word_end(query, at, pairs)])
    first = text[1:2]
    return (first.isalnum() or first == "_" or first > "\x7f") and not _FLAG.match(text)


def _can_negate(query: str, at: int) -> bool:
    """Whether a dash may be syntax: after a space or a bracket, but not as in ``max(-value, 0)``."""
    if at == 0 or _skip(_BLANKS, query, at - 1) >= at:
        return True
    return query[at - 1] == "(" and not query[max(at - 2, 0) : at - 1].isalnum()


def _boost_suffix(query: str, at: int) -> tuple[int, float]:
    """The end of the boost after a phrase or a group, and the boost; ``at`` and 1 without one."""
    match = _BOOST_SUFFIX.match(query, at)
    return (match.end(), float(match[1])) if match and _is_boost(match[1]) else (at, 1.0)


def _is_boost(number: str) -> bool:
    """``HEAD^0`` and ``m^-1`` have no boost."""
    return LEAST_BOOST <= float(number) <= MOST_BOOST


def _is_text(text: str) -> bool:
    """Whether a text has letters, digits, symbols or emoji, not only punctuation."""
    return any(char.isalnum() or category(char) not in _PUNCTUATION for char in text)


def _word_end(query: str, start: int, pairs: dict[int, int]) -> int:
    """A word ends at a space or a bracket, but ``f(x)`` and ``file(s)`` are whole words."""
    at = _skip(_NO_BLANK, query, start)
    while at > start and at in pairs:
        at = _skip(_NO_BLANK, query, pairs[at] + 1)
    return at


def _word(query: str, start: int, whole: Span, *, negated: bool, field: Field | None) -> Token:
    typed = query[whole.start : whole.end]
    text, prefix, boost = split_word(typed)
    span = Span(whole.start, whole.start + len(text))
    if not _is_text(text):
        return _mark(start, whole.end)
    if typed == "OR" and whole.start == start:
        return Token("or", start, span, whole.end)
    return Token("word", start, span, whole.end, text, negated, field, prefix, boost)


def split_word(word: str) -> tuple[str, bool, float]:
    """The word without its ``*`` and ``^2``, whether it is a prefix, its boost.

    ``x^y``, ``x^0`` and ``2^10`` have no boost; ``**bold**`` and ``src/*`` are no prefixes.
    """
    text, boost = word, 1.0
    base, caret, number = word.rpartition("^")
    if caret and _BOOST.fullmatch(number) and _is_boost(number) and _LETTER.search(base):
        text, boost = base, float(number)
    prefix = len(text) > 1 and text.endswith("*") and text.count("*") == 1 and _is_text(text[-2])
    return text[: len(text) - prefix], prefix, boost


def _phrase(query: str, start: int, opening: int, *, negated: bool, field: Field | None) -> Token:
    """A phrase; a mark for an unclosed quote, three quotes in a row, and quoted punctuation."""
    quotes_end = _skip(_QUOTES, query, opening)
    if quotes_end - opening > 2:
        return _mark(start, quotes_end)
    end = query.find('"', opening + 1) + 1
    if not end:
        if opening > start:  # after a dash or a field, the quote is meant as syntax
            raise QueryError(query, opening, "this quote is not closed", 'put another " at the end of the phrase')
        return _mark(start, opening + 1)
    text = " ".join(re.split(f"[{_BLANK}]+", query[opening + 1 : end - 1])).strip()
    if not text:
        return _mark(start, end)
    boost_end, boost = _boost_suffix(query, end)
    kind: Kind = "phrase" if _is_text(text) else "mark"
    return Token(kind, start, Span(opening, end), boost_end, text, negated, field, boost=boost)
