"""Long queries, such as a pasted error message: how much of the query a node's body has word for word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import tantivy

from quire.index.engine.analysis import terms
from quire.index.engine.clauses import LONG_QUERY, QueryContext, all_items, best_of, filtered
from quire.index.engine.coverage import scores_inside
from quire.index.engine.index_schema import field
from quire.index.engine.snapshot import Match, Snapshot
from quire.query.query_tree import Phrase, Query, Word

_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_MAX_DOCUMENTS = 10  # in how many of the best documents adjacent words are looked for
_COMMON = 2.0  # two words with no more rarity, such as *of the*, are adjacent everywhere
_MAX_VERBATIM = 10  # how many nodes with the whole query are looked for


class PastedText(NamedTuple):
    """How much of a long query some nodes have word for word."""

    shares: Mapping[tuple[int, int], float] = {}  # of its pairs of adjacent words, by document number and position
    rarity: float = 0.0  # of all pairs together
    verbatim: Sequence[Match] = ()  # the nodes with the whole query; if there are some, pairs are not looked for


def long_text(query: Query) -> str:
    """The words of a query that may be pasted; empty for a short one and for one with operators."""
    leaves = [item for item in all_items(query) if isinstance(item, Word | Phrase) and item.field is None]
    return " ".join([leaf.text for leaf in leaves]) if LONG_QUERY <= len(leaves) == len(all_items(query)) else ""


def find_pasted(
    snapshot: Snapshot, context: QueryContext, query: Query, matches: Sequence[Match], filters: Sequence[Any]
) -> PastedText:
    """The nodes with the whole query in their body, or else what the bodies of the best matches have of it.

    If titles or the text of a link have all words, the query is a name: the section with that name is the answer, and
    not those that mention it.
    """
    text = long_text(query)
    texts = {language: words for language in context.languages if len(words := terms(text, language)) >= LONG_QUERY}
    whole = best_of([_phrase(context, "body", language, words) for language, words in texts.items()], 0.0)
    names = [_phrase(context, "links", language, words) for language, words in texts.items()]
    names += [_in_titles(context, language, words) for language, words in texts.items()]
    name = best_of(names, 0.0)
    if whole is None or name is None or snapshot.top(name, 1):
        return PastedText()
    verbatim = snapshot.matches(filtered(whole, *filters), _MAX_VERBATIM)
    if verbatim:
        return PastedText(verbatim=verbatim)
    clauses, most = list[tantivy.Query](), 0.0
    for language, words in texts.items():
        rarity = {word: context.dictionary.term_rarity(word, language) for word in words}
        pairs = {
            (left, right): rarity[left] + rarity[right]
            for left, right in pairwise(words)
            if max(rarity[left], rarity[right]) > _COMMON
        }
        total = sum(pairs.values())
        most = max(most, total)
        for pair, worth in pairs.items():
            phrase = _phrase(context, "body", language, pair)
            clauses.append(tantivy.Query.const_score_query(phrase, worth / total))
    numbers = dict.fromkeys([match.number for match in matches])
    return PastedText(scores_inside(snapshot, islice(numbers, _MAX_DOCUMENTS), clauses), most)


def _phrase(context: QueryContext, name: str, language: str, words: Sequence[str]) -> tantivy.Query:
    return tantivy.Query.phrase_query(context.schema, field(name, language), list(words))


def _in_titles(context: QueryContext, language: str, words: Sequence[str]) -> tantivy.Query:
    """All words in the titles from a document's to a section's."""
    fields = [field(name, language) for name in ("title", "headings")]
    places = [
        [(_SHOULD, tantivy.Query.term_query(context.schema, name, word)) for name in fields] for word in set(words)
    ]
    return tantivy.Query.boolean_query([(_MUST, tantivy.Query.boolean_query(clauses)) for clauses in places])
