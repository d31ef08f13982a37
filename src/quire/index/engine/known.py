"""What is known of the words of a query and of an index, and what they count. ``clauses`` and ``own`` ask it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

import msgspec
import tantivy

from quire.index.engine import fields
from quire.index.engine.analysis import NONE, terms
from quire.index.engine.dictionary import Dictionary
from quire.index.engine.function_words import is_function_word, stands_between
from quire.index.engine.spelling import flags
from quire.query.query_tree import Not, Phrase, Query, Word

WHOLE = 3.0
"""How much a name counts extra whose parts stand side by side, and a flag of a command that stands as one."""


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """What decides about scores."""

    boosts: Mapping[str, float]
    """How much a word counts in each field; those of 0 are not looked into."""
    tie: float
    """How much of the other fields is added to the best."""
    adjacent: float
    """How much two words count extra that stand side by side in a title."""


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the words of a query and of an index."""

    schema: tantivy.Schema
    """The engine's schema."""
    languages: tuple[str, ...]
    """The languages in use."""
    dictionary: Dictionary
    """The words of the index."""
    ranking: Ranking
    """What decides about scores."""
    corrections: Mapping[str, Sequence[str]] = msgspec.field(default_factory=dict)
    """Words that occur nowhere, with what to look for instead."""
    first: str = ""
    """The first word of the query."""

    def needed(self, items: Sequence[Query]) -> list[Query]:
        """Of items that are to match together, those that may not be missing."""
        wanted: list[Query] = [item for item in items if not isinstance(item, Not)]
        return [item for item in wanted if not self.is_optional(item)] or wanted

    def is_optional(self, item: Query) -> bool:
        """Whether an item may be missing where others are there."""
        if not is_plain(item) or item.boost != 1 or (item.text == self.first and stands_between(item.text)):
            return False
        return is_function_word(item.text, self.languages)

    def texts(self, word: Word) -> Sequence[str]:
        """A word, or what is looked for instead."""
        return self.corrections.get(word.text, (word.text,)) if word.field is None else (word.text,)

    def shorter_than(self, beginning: str, language: str) -> Iterator[tuple[str, ...]]:
        """What a beginning stands for as well: terms that end before it does, ``author`` for ``authorit``."""
        lead, last = last_part(beginning)
        typed = "".join(terms(last, NONE)[-1:])
        before = tuple(terms(lead, language))
        for term in self.dictionary.completions(last, language).frequent:
            if not term.startswith(typed):
                yield (*before, term)

    def flag(self, leaf: Word | Phrase) -> tantivy.Query | None:
        """What finds a flag of a command as such, by how rare it is; None where it is none."""
        found = flags(leaf.text)
        if leaf.field or len(found) != 1 or not leaf.text.lower().startswith(found[0]):
            return None
        there = tantivy.Query.term_query(self.schema, fields.FLAGS, found[0], index_option="basic")
        return tantivy.Query.const_score_query(there, WHOLE * self.dictionary.rarity(fields.FLAGS, found[0]))


def is_plain(item: Query) -> TypeGuard[Word]:
    """Whether an item is a word and nothing more: without a field, and no beginning."""
    return isinstance(item, Word) and item.field is None and not item.prefix


def last_part(text: str) -> tuple[str, str]:
    """A word and the beginning of one behind it: ``my_v`` is ``my`` and then ``v``."""
    cut = max((at + 1 for at, character in enumerate(text) if not character.isalnum()), default=0)
    return text[:cut], text[cut:]
