"""Query text -> tokens. First half of the parser; ``parse`` makes the tree of them.

A character is syntax only where the syntax has a place for it; anywhere else it is part of a word, and a token that is
nothing but punctuation looks for nothing (a ``mark``). So text that was never meant as syntax gives words, not errors.
docs/reference/query.md has the rules.

The cost is linear: brackets are paired once, a word is scanned a fixed number of times, a quote is looked for once.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast
from unicodedata import category

from quire.errors import QueryError
from quire.model import Span
from quire.query.tree import Field

Kind = Literal["word", "phrase", "open", "close", "or", "field", "mark"]

# Control characters and halves of surrogate pairs are in no word, and the latter cannot be written as UTF-8.
_BLANK = r"\s\x00-\x1f\x7f-\x9f\u200b\ufeff\ud800-\udfff"
_BLANKS = re.compile(f"[{_BLANK}]*+")
_RUN = re.compile(f"[^{_BLANK}()]*+")
_BRACKET_OR_BLANK = re.compile(f"[()]|[{_BLANK}]++")

# Not `path::new` and `body::before`: those are code.
_FIELD = re.compile("(title|path|tags|body|tree):(?!:)")
_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
LEAST_BOOST, MOST_BOOST = 0.01, 100.0
_BOOST = re.compile(_NUMBER)
_BOOST_BEHIND = re.compile(rf"\^({_NUMBER})(?![\w^])")
_QUOTES = re.compile('"++')
_LETTER = re.compile(r"[^\W\d_]")
_PLAIN = re.compile(rf"(?!OR[{_BLANK}]|OR\Z)[A-Za-z0-9]++(?=[{_BLANK}]|\Z)")
# Command-line flags and numbers: --help, -1, -d, -it, -std=c11. A dash in front of anything longer negates.
_FLAG = re.compile(r"-(?:-|[0-9]|[A-Za-z]{1,2}[.,;:!?]*+\Z|[^=]*+=)")


class Token(NamedTuple):
    """The smallest part of a query, with the ``-`` and the field in front of it and the boost behind it."""

    kind: Kind
    """A ``field`` has nothing behind its colon; a ``mark`` is punctuation."""
    start: int
    """Where it begins, with what stands in front."""
    span: Span
    """Where its own text stands; of a phrase with the quotes."""
    end: int
    """Where the next one may begin."""
    text: str = ""
    """Of a word or phrase what to look for, of a field its name."""
    negated: bool = False
    """Whether a ``-`` stands in front."""
    field: Field | None = None
    """The field in front."""
    prefix: bool = False
    """Whether a ``*`` stands behind the word."""
    boost: float = 1.0
    """The number behind ``^``."""


def tokens(query: str) -> list[Token]:
    """All tokens in order. The brackets among them need not be balanced."""
    pairs = _pairs(query)
    found: list[Token] = []
    at = _past(_BLANKS, query, 0)
    while at < len(query):
        token = _plain(query, at) or _token(query, at, pairs)
        found.append(token)
        at = _past(_BLANKS, query, token.end)
    return found


def _past(pattern: re.Pattern[str], query: str, at: int) -> int:
    """Where a pattern that matches everywhere stops."""
    found = pattern.match(query, at)
    return found.end() if found else at


def _pairs(query: str) -> dict[int, int]:
    """Where each bracket is closed that is closed before the next space."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for found in _BRACKET_OR_BLANK.finditer(query):
        if found[0] == "(":
            opened.append(found.start())
        elif found[0] != ")":
            opened.clear()
        elif opened:
            pairs[opened.pop()] = found.start()
    return pairs


def is_plain(query: str) -> bool:
    """Whether a query is one word and all of it letters and digits."""
    return _PLAIN.fullmatch(query) is not None


def _plain(query: str, at: int) -> Token | None:
    """A word of letters and digits, as nearly all are: no syntax needs to be looked for."""
    word = _PLAIN.match(query, at)
    if word is None:
        return None
    end = word.end()
    return Token(kind="word", start=at, span=Span(at, end), end=end, text=word[0])


def _token(query: str, at: int, pairs: dict[int, int]) -> Token:
    if query[at] == ")":
        boost = _boost_behind(query, at + 1)
        end = boost.end() if boost else at + 1
        return Token(
            kind="close",
            start=at,
            span=Span(at, at + 1),
            end=end,
            boost=float(boost[1]) if boost else 1.0,
        )
    if query[at] == "-" and not _is_free(query, at):
        return _mark(at, at + 1)
    negated, field, name_end, place = _lead(query, at, pairs)
    if query.startswith("(", place):
        return Token(kind="open", start=at, span=Span(place, place + 1), end=place + 1, negated=negated, field=field)
    if query.startswith('"', place):
        return _phrase(query, at, place, negated=negated, field=field)
    end = _word_end(query, place, pairs)
    if field and not _is_text(query[place:end]):
        return Token(
            kind="field",
            start=at,
            span=Span(name_end - 1 - len(field), name_end - 1),
            end=name_end,
            text=field,
            negated=negated,
        )
    return _word(query, at, Span(place, end), negated=negated, field=field)


def _mark(start: int, end: int) -> Token:
    return Token(kind="mark", start=start, span=Span(start, end), end=end)


def _lead(query: str, at: int, pairs: dict[int, int]) -> tuple[bool, Field | None, int, int]:
    """What stands in front: whether ``-`` does, which field, where the field's colon ends, where the lead ends."""
    name = _FIELD.match(query, at)
    place = name.end() if name else at
    negated = _negates(query, place, pairs)
    if negated and not name:
        name = _FIELD.match(query, place + 1)
        place = name.end() if name else place + 1
    elif negated:
        place += 1
    return negated, cast("Field", name[1]) if name else None, name.end() if name else at, place


def _negates(query: str, at: int, pairs: dict[int, int]) -> bool:
    """Whether a dash at ``at`` negates what follows, rather than being a part of it."""
    if not query.startswith("-", at):
        return False
    if query.startswith(("(", '"'), at + 1) or _FIELD.match(query, at + 1):
        return True
    text, _, _ = cut(query[at : _word_end(query, at, pairs)])
    behind = text[1:2]
    return (behind.isalnum() or behind == "_" or behind > "\x7f") and not _FLAG.match(text)


def _boost_behind(query: str, at: int) -> re.Match[str] | None:
    """The boost behind a phrase or a group."""
    found = _BOOST_BEHIND.match(query, at)
    return found if found and _is_boost(found[1]) else None


def _is_boost(number: str) -> bool:
    """Whether a number behind ``^`` is a boost: ``HEAD^0`` and ``m^-1`` have none."""
    return LEAST_BOOST <= float(number) <= MOST_BOOST


def _is_free(query: str, at: int) -> bool:
    """Whether a dash at ``at`` may be syntax: behind a space or a bracket, but not as in ``max(-value, 0)``."""
    if at == 0 or _past(_BLANKS, query, at - 1) >= at:
        return True
    return query[at - 1] == "(" and not query[max(at - 2, 0) : at - 1].isalnum()


def _is_text(text: str) -> bool:
    """Whether there is anything to look for: letters, digits, symbols or emoji, not punctuation alone."""
    return any(char.isalnum() or category(char) not in _PUNCTUATION for char in text)


_PUNCTUATION = frozenset(["Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Zl", "Zp", "Zs", "Cc", "Cf", "Cs"])


# Words


def _word_end(query: str, start: int, pairs: dict[int, int]) -> int:
    """Where a word ends: at a space or a bracket, but ``f(x)`` and ``file(s)`` are whole."""
    at = _past(_RUN, query, start)
    while at > start and at in pairs:
        at = _past(_RUN, query, pairs[at] + 1)
    return at


def _word(query: str, start: int, whole: Span, *, negated: bool, field: Field | None) -> Token:
    typed = query[whole.start : whole.end]
    text, prefix, boost = cut(typed)
    span = Span(whole.start, whole.start + len(text))
    if not _is_text(text):
        return _mark(start, whole.end)
    if typed == "OR" and whole.start == start:
        return Token(kind="or", start=start, span=span, end=whole.end)
    return Token(
        kind="word", start=start, span=span, end=whole.end, text=text, negated=negated, field=field,
        prefix=prefix, boost=boost,
    )  # fmt: skip


def cut(word: str) -> tuple[str, bool, float]:
    """A word without ``*`` and ``^2`` behind it, whether it is a prefix, its boost.

    ``x^y``, ``x^0`` and ``2^10`` have no boost, ``**bold**`` and ``src/*`` are no prefixes.
    """
    text, boost = word, 1.0
    base, caret, number = word.rpartition("^")
    if caret and _BOOST.fullmatch(number) and _is_boost(number) and _LETTER.search(base):
        text, boost = base, float(number)
    prefix = len(text) > 1 and text.endswith("*") and text.count("*") == 1 and _is_text(text[-2])
    return text[: len(text) - prefix], prefix, boost


# Phrases


def _phrase(query: str, start: int, place: int, *, negated: bool, field: Field | None) -> Token:
    """A phrase; a mark for a quote that is not closed, for three in a row, and for punctuation in quotes."""
    opening = _past(_QUOTES, query, place)
    if opening - place > 2:
        return _mark(start, opening)
    end = query.find('"', place + 1) + 1
    if not end:
        _refuse_unclosed(query, start, place)
        return _mark(start, place + 1)
    text = " ".join(re.split(f"[{_BLANK}]+", query[place + 1 : end - 1])).strip()
    if not text:
        return _mark(start, end)
    boost = _boost_behind(query, end)
    kind: Kind = "phrase" if _is_text(text) else "mark"
    return Token(
        kind=kind, start=start, span=Span(place, end), end=boost.end() if boost else end, text=text, negated=negated,
        field=field, boost=float(boost[1]) if boost else 1.0,
    )  # fmt: skip


def _refuse_unclosed(query: str, start: int, place: int) -> None:
    """A quote that is not closed is meant as one if a dash or a field stands in front of it."""
    if place > start:
        raise QueryError(query, place, "this quote is not closed", 'put another " at the end of the phrase')
