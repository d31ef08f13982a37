"""Text to terms, the same way for documents, queries and highlighting; and the spellings of a word in a query.

The engine splits at everything but letters and digits; ``normalize`` spells with letters what it would lose.
"""

import re
import string
import unicodedata
from functools import cache, lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

import tantivy

from quire.model.patterns import pattern

NONE = "none"  # the language of a tree whose words are not stemmed

_FOLD_FIRST = ("arabic", "dutch", "english", "german", "greek", "russian", "tamil", NONE)
"""Languages whose stemmers do not need the accents of Latin letters; accents are removed before stemming."""

_MAX_WORD_BYTES = 128  # longer words are not indexed: nobody types them, and encoded data is full of them
_MAYBE_TOO_LONG = pattern(r"[^\W_]{32,}")  # a character has at most four bytes

_VERSION = pattern(r"v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_HYPHENATED = pattern(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_APOSTROPHE = pattern(r"(?<=\w)['’]\w{1,2}\b|\b\w{1,2}['’](?=\w)")

# The name of a language with one letter: ``F#``, ``C++``. Patterns that start with one character are searched faster.
_SHARP = pattern(r"#(?<=[A-Za-z]#)(?<![A-Za-z0-9_][A-Za-z]#)(?![A-Za-z0-9+#])")
_PLUSPLUS = pattern(r"\+\+(?<=[A-Za-z]\+\+)(?<![A-Za-z0-9_][A-Za-z]\+\+)(?![A-Za-z0-9+#])")

# Humps: the parts of a camelCase name.
_HUMPS = pattern(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+")
_HUMPED = pattern(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?=[A-Z][a-z]))[A-Za-z0-9]*+")  # a name from its second hump on
_ALPHANUMERIC = string.ascii_letters + string.digits
_LONGEST_HUMP = 1_000

_FLAG = pattern(r"--(?<![A-Za-z0-9_-]--)[A-Za-z][A-Za-z0-9]*+(?:[-_.][A-Za-z0-9]++)*+")

_WORD = pattern(r"[^\W\d_]{1,64}")

# Character classes for patterns.
ALONE = (
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Chinese, Japanese and Korean: each character is a word."""
_CLUSTER_RANGES = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
CLUSTERS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _CLUSTER_RANGES)
"""Thai, Lao, Burmese and Khmer: each letter with its marks is a word."""
EMOJI = "\u203c\u2049\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff"  # each emoji is a word
_ANY_UNSPACED = pattern(f"[{ALONE}{EMOJI}{CLUSTERS}]")
_MARKED = pattern(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f\u0386\u0388-\u0390\u03aa-\u03b0\u03ca-\u03ce\u1f00-\u1fff]"
)
"""Accents, Hebrew points, Arabic and Syriac vowels and accented Greek letters, at which the engine would split words.
Marks that make another letter, as in ``й``, and accents of Latin letters are left to the engine."""
ASCII = bytes(range(128))


def normalize(text: str) -> str:
    """A text as the engine gets it."""
    if not text.isascii():
        # The engine turns the Turkish İ into i with a combining dot, which is another letter to it than i.
        text = unicodedata.normalize("NFKC", text).replace("\u0130", "I").replace("i\u0307", "i")
        # Most text is ASCII; dropping its bytes is five times as fast as searching it with a pattern.
        beyond_ascii = text.encode("utf-8", "replace").translate(None, ASCII).decode()
        text = _MARKED.sub(_without_marks, text) if _MARKED.search(beyond_ascii) else text
        text = _unspaced().sub(_as_word, text) if _ANY_UNSPACED.search(beyond_ascii) else text
    if "#" in text:
        text = _SHARP.sub("sharp", text)
    # Searching for one character is faster than for two.
    return _PLUSPLUS.sub("plusplus", text) if "+" in text and "++" in text else text


def indexed_texts(text: str) -> list[str]:
    """What is indexed for a text: itself, and the humps of each camelCase name in it."""
    text = normalize(text)
    names = set()
    for match in _HUMPED.finditer(text):
        before = text[max(match.start() - _LONGEST_HUMP, 0) : match.start()]
        names.add(before[len(before.rstrip(_ALPHANUMERIC)) :] + match[0])
    return [text, *sorted({parts for name in names if " " in (parts := humps(name))})]


def accented_words(text: str) -> set[str]:
    """The words with a letter that is not ASCII, in lower case; without scripts that have no spaces."""
    if text.isascii():
        return set()
    letters = text.encode("utf-8", "replace").translate(None, ASCII).decode()
    if not any(map(str.isalpha, set(letters))):
        return set()
    text = unicodedata.normalize("NFKC", text).lower()
    return {word for word in _WORD.findall(text) if not word.isascii() and not is_unspaced(word)}


def flags(text: str) -> list[str]:
    """The command-line flags in a text, sorted, without duplicates: the engine drops dashes, but ``--from`` matters."""
    return sorted({flag.lower() for flag in _FLAG.findall(text)}) if "--" in text else []


def humps(word: str) -> str:
    """The parts of a camelCase name, with spaces between: ``HTTPServer`` becomes ``HTTP Server``."""
    return " ".join(_HUMPS.findall(word))


def is_unspaced(text: str) -> bool:
    """Whether a text has characters of scripts without spaces, so that a word is a phrase of them."""
    return not text.isascii() and _ANY_UNSPACED.search(unicodedata.normalize("NFKC", text)) is not None


def _as_word(character: re.Match[str]) -> str:
    return f" emoji{ord(character[0]):x} " if character.lastgroup == "emoji" else f" {character[0]} "


def _without_marks(character: re.Match[str]) -> str:
    return "".join(mark for mark in unicodedata.normalize("NFD", character[0]) if not unicodedata.combining(mark))


@cache
def _unspaced() -> re.Pattern[str]:
    characters = [chr(code) for first, last in _CLUSTER_RANGES for code in range(first, last + 1)]
    marks = "".join([character for character in characters if unicodedata.category(character).startswith("M")])
    return re.compile(f"[{ALONE}]|(?![{marks}])[{CLUSTERS}][{marks}]*|(?P<emoji>[{EMOJI}])")


@cache
def analyser(language: str) -> tantivy.TextAnalyzer:
    """Splits at everything but letters and digits; lower case, without accents, stemmed."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(_MAX_WORD_BYTES)).filter(tantivy.Filter.lowercase())
    if language in _FOLD_FIRST:
        builder = builder.filter(tantivy.Filter.ascii_fold())
    if language != NONE:
        builder = builder.filter(tantivy.Filter.stemmer(language))
    return (builder if language in _FOLD_FIRST else builder.filter(tantivy.Filter.ascii_fold())).build()


def terms(text: str, language: str) -> list[str]:
    """The terms of a text in order. A word that is too long to be indexed is a term, too, which matches nothing."""
    text, result, at = normalize(text), list[str](), 0
    analyze = analyser(language).analyze
    for word in _MAYBE_TOO_LONG.finditer(text):
        if len(word[0].encode()) >= _MAX_WORD_BYTES:
            result += [*analyze(text[at : word.start()]), word[0].lower()]
            at = word.end()
    return result + analyze(text[at:])


@lru_cache(maxsize=50_000)
def word_terms(word: str, language: str) -> tuple[str, ...]:
    """The terms of one word, cached."""
    return tuple(terms(word, language))


def bare(word: str) -> str:
    """A word in lower case without accents."""
    return word.lower() if word.isascii() else "".join(word_terms(word, NONE))


class Spelling(NamedTuple):
    """One way to spell a word."""

    terms: tuple[str, ...]
    tight: bool = False  # the terms must be adjacent


@lru_cache(maxsize=4_096)
def spellings(word: str, language: str) -> tuple[Spelling, ...]:
    """The spellings of a word: as typed, split at its humps, a version with and without ``v``, without hyphens."""
    word = _APOSTROPHE.sub("", word) or word
    if version := _VERSION.fullmatch(word):
        result = [Spelling(tuple(terms(f"{lead}{version[1]}", language)), tight=True) for lead in ("", "v")]
    else:
        result = [Spelling(tuple(terms(word, language)))]
        parts = tuple(terms(humps(normalize(word)), language)) if word.isascii() else ()
        result += [Spelling(parts)] if len(parts) > len(result[0].terms) else []
    if _HYPHENATED.fullmatch(word):
        result.append(Spelling(tuple(terms(word.replace("-", ""), language))))
    return tuple(spelling for spelling in dict.fromkeys(result) if spelling.terms)


@lru_cache(maxsize=4_096)
def adjacent_terms(spelling: Spelling) -> tuple[tuple[str, ...], ...]:
    """Groups of terms that must be adjacent: all of them, or those of consecutive characters without spaces."""
    if spelling.tight:
        return (spelling.terms,)
    groups: list[tuple[str, ...]] = []
    for unspaced, consecutive in groupby(spelling.terms, is_unspaced):
        group = tuple(consecutive)
        groups += [group] if unspaced else [(term,) for term in group]
    return tuple(groups)


@lru_cache(maxsize=4_096)
def term_pairs(group: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Each two adjacent terms: what a partial match may have of a group."""
    return (group,) if len(group) < 3 else tuple(pairwise(group))
