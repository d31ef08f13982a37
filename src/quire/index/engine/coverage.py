"""How much of a query a node's own title and body have, without titles, paths and front matter above it.

Of any query the share of its words, and of a long one, such as a pasted error message, what a body has word for word.
The engine adds shares up: every item of the query has a constant score, its part of the whole.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import msgspec
import tantivy

from quire.index.engine import first_pass
from quire.index.engine.analysis import terms
from quire.index.engine.first_pass import LONG_QUERY, ClauseBuilder, QueryContext, adjacent, all_items, any_of, best_of
from quire.index.engine.index_schema import DOC, POSITION
from quire.index.engine.snapshot import Match, Snapshot
from quire.model.query_tree import Either, Phrase, Query, Word, leaves

_IN_TEXT, _HEADING_BONUS = 0.99, 0.01  # the share for a query that a node satisfies, and the bonus if its heading does
_DIGITS = 5
TOLERANCE = 2 * 10.0**-_DIGITS  # shares that differ by less are equal: they are rounded sums of weights

_MAX_DOCUMENTS = 10  # in how many of the best documents adjacent words are looked for
_COMMON = 2.0  # two words with no more rarity, such as *of the*, are adjacent everywhere
MAX_VERBATIM = 10  # how many nodes with the whole query are looked for

Clauses = list[tantivy.Query]  # their scores add up
Shares = dict[tuple[int, int], float]  # of nodes, by document number and position


def own_shares(snapshot: Snapshot, context: QueryContext, query: Query, numbers: Sequence[int]) -> Shares:
    """The shares of a query that the nodes of some documents satisfy; none if it searches for no text.

    A document gets no bonus for its heading: the title of a document is about everything in it.
    """
    in_text = _all(context, all_items(query), _IN_TEXT, ("title", "body"))
    if not in_text:
        return {}
    is_document = (tantivy.Occur.MustNot, tantivy.Query.term_query(context.schema, POSITION, 0))
    in_heading = _all(context, all_items(query), _HEADING_BONUS, ("title",))
    headings = [tantivy.Query.boolean_query([(tantivy.Occur.Must, clause), is_document]) for clause in in_heading]
    shares = _scores_inside(snapshot, numbers, [*in_text, *headings])
    return {key: round(share, _DIGITS) for key, share in shares.items()}


def _scores_inside(snapshot: Snapshot, numbers: Sequence[int], clauses: Clauses) -> Shares:
    """The scores of all nodes of some documents.

    Nested, the engine looks up each clause only where the filter matches. Side by side, it would go through all matches
    of each.
    """
    documents = list(map(snapshot.document_id, numbers))
    inside = tantivy.Query.const_score_query(first_pass.one_of(snapshot.schema, DOC, documents), 0.0)
    query = reduce(first_pass.plus, clauses, inside)
    matches = snapshot.matches_at(snapshot.top(query, snapshot.node_count(numbers)))
    return {(match.number, match.position): match.score for match in matches}


def _all(context: QueryContext, items: Sequence[Query], weight: float, fields: Sequence[str]) -> Clauses:
    """Clauses whose scores are together ``weight`` in a node that has all items in one of the fields."""
    wanted = [
        (item, max([leaf.boost for leaf in leaves(item)]))
        for item in context.required(items)
        if any(leaf.field in (None, "title", "body") for leaf in leaves(item))
    ]
    total = sum([boost for _, boost in wanted])
    parts = [_item(context, item, weight * boost / total, fields) for item, boost in wanted if total]
    return [clause for part in parts for clause in part]


def _item(context: QueryContext, item: Query, weight: float, fields: Sequence[str]) -> Clauses:
    if isinstance(item, Either):
        return _best([_item(context, alternative, weight, fields) for alternative in item.items])
    if not isinstance(item, Word | Phrase):
        return _all(context, all_items(item), weight, fields)
    flag = context.flag(item)
    if flag is None:
        return _leaf(context, item, weight, fields)
    # A command-line flag counts in full only with its dashes.
    dashes = _constant(flag, weight / 2) if "body" in fields else []
    return [*_leaf(context, item, weight / 2, fields), *dashes]


def _leaf(context: QueryContext, item: Word | Phrase, weight: float, fields: Sequence[str]) -> Clauses:
    builder = ClauseBuilder(context, dict.fromkeys(fields, 1.0), bonus=False)
    if not first_pass.is_plain(item):
        return _constant(builder.build(item), weight)
    variants = list(builder.variants(item))
    whole = builder.any_variant([variant for variant in variants if len(variant.groups) == 1])
    alternatives = [_constant(whole, weight)]
    for variant in variants:
        if len(variant.groups) == 1:
            continue
        parts = [builder.any_variant([variant._replace(groups=[group])]) for group in variant.groups]
        if "body" in fields:  # the parts of a name may be apart or missing
            alternatives.append([clause for part in parts for clause in _constant(part, weight / len(parts))])
        else:  # a heading must have all of them
            alternatives.append(_constant(first_pass.all_of([part for part in parts if part]), weight))
    return _best(alternatives)


def _best(alternatives: Sequence[Clauses]) -> Clauses:
    return list(filter(None, [best_of([any_of(clauses) for clauses in alternatives if clauses], 0.0)]))


def _constant(query: tantivy.Query | None, weight: float) -> Clauses:
    return [] if query is None else [tantivy.Query.const_score_query(query, weight)]


# Pasted text


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
    names += [_in_titles(context, language, words) for language, words in texts.items()]
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
            clauses += _constant(adjacent(context.schema, "body", language, pair), worth / total)
    numbers = dict.fromkeys([match.number for match in matches])
    return PastedText(_scores_inside(snapshot, list(numbers)[:_MAX_DOCUMENTS], clauses), most)


def _in_titles(context: QueryContext, language: str, words: Sequence[str]) -> tantivy.Query:
    """All words in the titles from a document's to a section's."""
    fields = ("title", "headings")
    return first_pass.all_of(
        [any_of([adjacent(context.schema, name, language, [word]) for name in fields]) for word in set(words)]
    )
