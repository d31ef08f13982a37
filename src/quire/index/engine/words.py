"""How a word may be spelled, and which of its terms belong side by side. For ``clauses``, ``dictionary`` and search."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from quire.index.engine.analysis import terms
from quire.index.engine.spelling import humps, is_unspaced, normal

_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_APOSTROPHE = re.compile(r"(?<=\w)['’]\w{1,2}\b|\b\w{1,2}['’](?=\w)")


class Spelling(NamedTuple):
    """One way to spell a word."""

    terms: tuple[str, ...]
    """Its terms, in order."""
    tight: bool = False
    """Whether they mean it only side by side."""


@lru_cache(maxsize=4_096)
def spelled(word: str, language: str) -> tuple[Spelling, ...]:
    """The ways to spell a word: as typed, by its humps, a version with and without ``v``, without its hyphen.

    They are remembered: each phase of a search asks for those of the same words.
    """
    word = _APOSTROPHE.sub("", word) or word
    if version := _VERSION.fullmatch(word):
        typed = [Spelling(tuple(terms(f"{lead}{version[1]}", language)), tight=True) for lead in ("", "v")]
    else:
        typed = [Spelling(tuple(terms(word, language)))]
        parts = tuple(terms(humps(normal(word)), language)) if word.isascii() else ()
        typed += [Spelling(parts)] if len(parts) > len(typed[0].terms) else []
    if _HYPHENATED.fullmatch(word):
        typed.append(Spelling(tuple(terms(word.replace("-", ""), language))))
    return tuple(spelling for spelling in dict.fromkeys(typed) if spelling.terms)


def runs(spelling: Spelling) -> list[tuple[str, ...]]:
    """Terms that belong side by side: all of them, or the runs of characters of scripts without spaces."""
    if spelling.tight:
        return [spelling.terms]
    found: list[tuple[str, ...]] = []
    joining = False
    for term in spelling.terms:
        alone = is_unspaced(term)
        if alone and joining:
            found[-1] += (term,)
        else:
            found.append((term,))
        joining = alone
    return found


def pairs(run: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each two that follow each other: what is left of a run when it may match in part."""
    return [run] if len(run) < 3 else list(pairwise(run))
