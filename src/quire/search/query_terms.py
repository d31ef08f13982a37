"""The terms of a query that are searched: at most 64, with corrections, prefixes and joined words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from quire.index.engine.analysis import normalize, word_terms
from quire.index.engine.corrections import Dictionary
from quire.index.engine.first_pass import LONG_QUERY, QueryContext, all_items, compiled, is_plain, one_of
from quire.index.engine.function_words import is_function_word
from quire.index.engine.node_fields import DOC, TREE
from quire.index.engine.snapshot import Snapshot
from quire.model.document import Span
from quire.model.patterns import pattern
from quire.model.query_tree import TEXT_FIELDS, Group, Not, Phrase, Query, Word, leaves, with_leaves
from quire.search.conditions import PATH, Filter, condition, known_trees, weights
from quire.search.held_back_news import HeldBack
from quire.search.query_syntax import KEYED
from quire.search.search_settings import MAX_TERMS, SearchSettings

PREFIX_TERMS = 16  # a word with ``*`` counts as so many terms, as it stands for many words
MAX_CORRECTED = 8  # for how many unknown words of a query corrections are looked up
_JOINED = 0.5  # the weight of two words as one
_TERM = pattern(r"[A-Z]*+[^\W\d_A-Z]++|[A-Z]++|\d++")
_WORD = pattern(r"[^\W\d_]{3,40}")
_MAX_WORDS = 12  # the words that a section is searched by
_MAX_READ = 20_000  # how many characters of a long section are read
_IN_TITLE = 3  # how often a word of the title counts


def within_limit(query: Query | None, text: str) -> tuple[Query | None, int]:
    """The query within ``MAX_TERMS``, and the number of ignored terms. ``text`` is the query as typed."""
    if query is None or (len(text) <= MAX_TERMS and text.isascii() and "*" not in text):  # a term has a character
        return query, 0
    kept, count = _limited(query, MAX_TERMS)
    return kept, max(count - MAX_TERMS, 0)


def _limited(query: Query, room: int) -> tuple[Query | None, int]:
    """What remains of a query within ``room`` terms, and how many it has."""
    if isinstance(query, Word | Phrase):
        text = normalize(query.text)
        ends = [term.end() for term in _TERM.finditer(text)] or [len(text)]
        count = (len(ends) if query.field in (None, *TEXT_FIELDS) else 1) + (PREFIX_TERMS - 1) * query.prefix
        if count <= room:
            return query, count
        return None if query.prefix or room <= 0 else replace(query, text=text[: ends[room - 1]]), count
    if isinstance(query, Not):  # kept whole or dropped: a part of it would exclude more than was meant
        _, count = _limited(query.item, room)
        return query if count <= room else None, count
    items, count = list[Query](), 0
    # Exclusions come last: alone they mean nothing.
    for item in sorted(query.items, key=lambda item: isinstance(item, Not)):
        kept, terms = _limited(item, room - count)
        count += terms
        items += [kept] if kept else []
    return replace(query, items=tuple(items)) if len(items) > 1 else next(iter(items), None), count


class PreparedQuery(Struct, frozen=True):
    """A query that is ready to be searched in a snapshot."""

    snapshot: Snapshot
    context: QueryContext  # has the corrections of its words
    query: Query
    settings: SearchSettings
    filters: Sequence[Any]  # for the engine
    unknown: Sequence[str]  # words that do not occur and have no correction
    unknown_keys: Sequence[str]  # keys of conditions that no document has
    weights: Mapping[int, float]  # of some documents by their numbers
    news: HeldBack
    second: dict[tuple[int, int], Sequence[float]] = {}  # what the second pass added; ``best_matches`` fills it


def prepare(snapshot: Snapshot, query: Query, settings: SearchSettings, wanted: Filter) -> PreparedQuery:
    """Correct a query, and restrict it to the documents that are wanted."""
    known_trees("trees", wanted.trees or (), snapshot)
    words, required = list(leaves(query)), [item for item in all_items(query) if isinstance(item, Word | Phrase)]
    known_trees("tree", [item.text for item in required if item.field == "tree" and not item.prefix], snapshot)

    def documents_with(leaf: Word | Phrase) -> list[str]:
        return Filter(where=[condition(leaf.field or "", leaf.text, prefix=leaf.prefix)]).documents(snapshot)

    context = QueryContext(
        schema=snapshot.schema,
        languages=snapshot.settings.languages,
        dictionary=Dictionary(snapshot),
        boosts=asdict(settings.boosts),
        tie=settings.tie,
        coordination=settings.coordination,
        first_word=words[0].text if words else "",
        documents_with=documents_with,
    )
    corrections, unknown = _corrections(snapshot, context, words)
    if corrections:
        query = with_leaves(query, lambda leaf: _corrected(leaf, corrections))
        context = replace(context, corrections=corrections)
    filters = [one_of(context.schema, TREE, wanted.trees)] if wanted.trees is not None else []
    if wanted.paths is not None or wanted.where or wanted.without:
        filters = [one_of(context.schema, DOC, wanted.documents(snapshot))]
    # ``localhost:8080`` is text where documents say *localhost*.
    keyed = [match[1] for word in words if is_plain(word) and (match := KEYED.match(word.text))]
    named = [key.casefold() for key in keyed if snapshot.front_matter_keys and not context.dictionary.has(key)]
    asked = dict.fromkeys([*[where.key for where in wanted.where], *named])
    other_keys = [key for key in asked if key not in (PATH, TREE, *snapshot.front_matter_keys)]
    factors, news = weights(snapshot, settings.where), HeldBack(snapshot, query, settings.news)
    query = _with_joined(query, context)
    return PreparedQuery(snapshot, context, query, settings, filters, unknown, other_keys, factors, news)


def _corrections(
    snapshot: Snapshot, context: QueryContext, words: Sequence[Word | Phrase]
) -> tuple[dict[str, Sequence[str]], list[str]]:
    """What is searched instead of some words and phrases; and the words for which there is nothing."""
    # A phrase that no node has becomes its words. A word with which others start becomes a prefix: ``auth`` finds
    # *authentication*.
    dictionary, corrections = context.dictionary, dict[str, Sequence[str]]()
    for phrase in words:
        if isinstance(phrase, Phrase) and phrase.field is None and " " in phrase.text:
            clause = compiled(context, phrase)
            if clause is not None and not snapshot.top(clause, 1):
                corrections[phrase.text] = tuple(phrase.text.split())
    texts = dict.fromkeys([word.text for word in words if is_plain(word) and not context.is_optional(word)])
    unknown = list(islice((text for text in texts if not dictionary.has(text)), MAX_CORRECTED))
    for text in unknown:
        instead = (f"{text}*",) if dictionary.is_prefix(text) else dictionary.corrections(text)
        if instead:
            corrections[text] = instead
    return corrections, [text for text in unknown if text not in corrections]


def _corrected(leaf: Word | Phrase, corrections: Mapping[str, Sequence[str]]) -> Query:
    """A phrase as its words, and a word as a prefix, if that is their correction."""
    instead = corrections.get(leaf.text, ()) if leaf.field is None else ()
    if isinstance(leaf, Phrase) and instead:
        return Group(items=tuple([Word(text=text, span=leaf.span, boost=leaf.boost) for text in instead]))
    return replace(leaf, prefix=True) if is_plain(leaf) and f"{leaf.text}*" in instead else leaf


def _with_joined(query: Query, context: QueryContext) -> Query:
    """The query, and adjacent words of it as one word if that is how they are mostly written: *file system*."""
    # A query does not become a long one by that.
    items = all_items(query)
    joined = [
        Word(text=left.text + right.text, span=Span(left.span.start, right.span.end), boost=_JOINED)
        for left, right in pairwise(context.required(items) if len(items) < LONG_QUERY - 1 else ())
        if is_plain(left) and is_plain(right) and context.dictionary.is_joined(left.text, right.text)
    ]
    return Group(items=(*items, *joined)[: LONG_QUERY - 1]) if joined else query


def similar_query(snapshot: Snapshot, titles: str, texts: str, language: str) -> str:
    """The words that tell a section, or a whole document, from others. Empty if it has none."""
    dictionary, spelled, counts = Dictionary(snapshot), dict[str, str](), Counter[str]()
    for text, weight in ((titles[:_MAX_READ], _IN_TITLE), (texts[:_MAX_READ], 1)):
        for word in _WORD.findall(text):
            for term in () if is_function_word(word, (language,)) else word_terms(word.lower(), language)[:1]:
                spelled.setdefault(term, word.lower())
                counts[term] += weight
    best = sorted(counts, key=lambda term: (-min(counts[term], 9) * dictionary.statistics(term, language).rarity, term))
    return " ".join(spelled[term] for term in best[:_MAX_WORDS])
