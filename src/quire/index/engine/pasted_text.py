"""A pasted sentence or error message: which nodes have it word for word, or the most of it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import tantivy

from quire.index.engine import first_pass
from quire.index.engine.analysis import terms
from quire.index.engine.first_pass import LONG_QUERY, QueryContext, adjacent, all_items, any_of, best_of
from quire.index.engine.own_shares import scores_inside
from quire.index.engine.snapshot import Match, Snapshot
from quire.model.query_tree import Phrase, Query, Word

_MAX_DOCUMENTS = 10  # in how many of the best documents adjacent words are looked for
_COMMON = 2.0  # two words with no more rarity, such as *of the*, are adjacent everywhere
MAX_VERBATIM = 10  # how many nodes with the whole query are looked for
_TITLES = ("title", "headings")


class PastedText(msgspec.Struct, frozen=True):
    """How much of a long query some nodes have word for word."""

    shares: Mapping[tuple[int, int], float] = {}  # of its pairs of adjacent words, by document number and position
    rarity: float = 0.0  # of all pairs together
    verbatim: Sequence[Match] = ()  # the nodes with the whole query; if there are some, pairs are not looked for


def long_text(query: Query) -> str:
    """The words of a query that may be pasted; empty for a short one and for one with operators."""
    words = [item for item in all_items(query) if isinstance(item, Word | Phrase) and item.field is None]
    return " ".join([word.text for word in words]) if LONG_QUERY <= len(words) == len(all_items(query)) else ""


def find_pasted(
    snapshot: Snapshot, context: QueryContext, query: Query, matches: Sequence[Match], filters: Sequence[Any]
) -> PastedText:
    """The nodes with the whole query in their body, or else what the bodies of the best matches have of it.

    If titles or the text of a link have all words, the query is a name: the section with that name is the answer, and
    not those that mention it.
    """
    text = long_text(query)
    texts = {language: words for language in context.languages if len(words := terms(text, language)) >= LONG_QUERY}
    whole = best_of([adjacent(context.schema, "body", language, words) for language, words in texts.items()], 0.0)
    names = [adjacent(context.schema, "links", language, words) for language, words in texts.items()]
    for language, words in texts.items():  # all words in the titles from a document's to a section's
        in_titles = [[adjacent(context.schema, name, language, [word]) for name in _TITLES] for word in set(words)]
        names.append(first_pass.all_of(list(map(any_of, in_titles))))
    name = best_of(names, 0.0)
    if whole is None or name is None or snapshot.top(name, 1):
        return PastedText()
    verbatim = snapshot.matches(first_pass.filtered(whole, *filters), MAX_VERBATIM)
    if verbatim:
        return PastedText(verbatim=verbatim)
    clauses, most = list[tantivy.Query](), 0.0
    for language, words in texts.items():
        rarity = {word: context.dictionary.statistics(word, language).rarity for word in words}
        pairs = {
            (left, right): rarity[left] + rarity[right]
            for left, right in pairwise(words)
            if max(rarity[left], rarity[right]) > _COMMON
        }
        total = sum(pairs.values())
        most = max(most, total)
        for pair, worth in pairs.items():
            clause = adjacent(context.schema, "body", language, pair)
            clauses.append(tantivy.Query.const_score_query(clause, worth / total))
    numbers = dict.fromkeys([match.number for match in matches])
    return PastedText(scores_inside(snapshot, list(numbers)[:_MAX_DOCUMENTS], clauses), most)
