"""The first pass of a search: the query tree as clauses of an engine query. Any word may match.

A word scores as in its best field, plus a part of the others, plus its rarity: more words rank higher.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

import msgspec
import tantivy

from quire.index.engine import node_fields
from quire.index.engine.analysis import Spelling, adjacent_terms, flags, is_unspaced, spellings, term_pairs, terms
from quire.index.engine.corrections import Dictionary
from quire.index.engine.function_words import COMPARISONS, is_function_word
from quire.index.engine.snapshot import PER_LOOKUP
from quire.model.query_tree import TEXT_FIELDS, Either, Group, Not, Phrase, Query, Word, leaves

_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot

_SPLIT_NAME = 0.75  # the weight of the parts of a name that also occurs as a whole
_FUNCTION_WORD = 0.5  # the weight of a function word beside others: it is rare in titles, and says little
_WHOLE_FLAG = 6.0  # the extra weight of a flag with its dashes
LONG_QUERY = 6
"""A query with so many words is compared word for word with the best nodes, and its function words find nothing."""


class QueryContext(msgspec.Struct, frozen=True, kw_only=True):
    """What compiling needs to know about the index, the words of a query, and the weights of the first pass."""

    schema: tantivy.Schema
    languages: tuple[str, ...]
    dictionary: Dictionary
    boosts: Mapping[str, float]  # by field; fields with 0 are not searched
    tie: float  # the part of the other fields that is added to the best
    coordination: float  # how often the rarity of a word that matches is added
    corrections: Mapping[str, Sequence[str]] = msgspec.field(default_factory=dict)
    first_word: str = ""
    documents_with: Callable[[Word | Phrase], Sequence[str]] = lambda _: ()  # those that satisfy a condition

    def required(self, items: Sequence[Query]) -> list[Query]:
        """The items of a ``Group`` of which one must match: those that are no function words, or else all."""
        wanted: list[Query] = [item for item in items if not isinstance(item, Not)]
        return [item for item in wanted if not self.is_optional(item)] or wanted

    def is_optional(self, item: Query) -> bool:
        """Whether an item is a function word without a boost."""
        if not is_plain(item) or item.boost != 1 or (item.text == self.first_word and item.text.lower() in COMPARISONS):
            return False
        return is_function_word(item.text, self.languages)

    def corrected(self, word: Word) -> Sequence[str]:
        """The corrections of a word, or the word itself."""
        return self.corrections.get(word.text, (word.text,)) if word.field is None else (word.text,)

    def flag(self, leaf: Word | Phrase) -> tantivy.Query | None:
        """A query for a command-line flag with its dashes; None for other words."""
        flag_names = flags(leaf.text) if "--" in leaf.text else []
        if leaf.field or len(flag_names) != 1 or not leaf.text.lower().startswith(flag_names[0]):
            return None
        query = tantivy.Query.term_query(self.schema, node_fields.FLAGS, flag_names[0], index_option="basic")
        rarity = self.dictionary.rarity(node_fields.FLAGS, flag_names[0])
        return tantivy.Query.const_score_query(query, _WHOLE_FLAG * rarity)


class Variant(NamedTuple):
    """One way to search for a word."""

    language: str
    spelling: Spelling
    groups: Sequence[tuple[str, ...]]  # the terms of each group must be adjacent; groups may be anywhere
    weight: float  # of each group, so that a name does not count more because it is split


class ClauseBuilder(msgspec.Struct, frozen=True):
    """Builds clauses for some fields."""

    context: QueryContext
    boosts: Mapping[str, float]  # by field
    strict: bool = False  # whether all parts of a name must match, as for a field or a ``-``
    bonus: bool = True  # whether words that match, and flags, score extra

    def build(self, query: Query) -> tantivy.Query | None:
        """The clause for a query; None if there is nothing to search for."""
        match query:
            case Word(field=None) | Phrase(field=None):
                return self._leaf(query)
            case Word(field=str(name)) | Phrase(field=str(name)) if name in TEXT_FIELDS:
                return msgspec.structs.replace(self, boosts={name: 1.0}, strict=True)._leaf(query)  # noqa: SLF001
            case Word() | Phrase():
                return self._documents(query)
            case Either(items=items):
                return best_of(self._build_each(items), self.context.tie)
            case _:
                return self._all(all_items(query))

    def variants(self, word: Word) -> Iterator[Variant]:
        """The ways to search for a word."""
        for text in self.context.corrected(word):
            for language in self.context.languages:
                readings = spellings(text, language)
                first = readings[0].terms if readings else ()
                is_known = all(self.context.dictionary.statistics(term, language).fields for term in first)
                for spelling in readings:
                    share = len(first) / len(spelling.terms)
                    weight = share * (_SPLIT_NAME if is_known else 1.0) if share < 1 else 1.0
                    yield self._variant(spelling, language, weight, tight=word.field == "path")

    def any_variant(self, variants: Iterable[Variant]) -> tantivy.Query | None:
        """One of the variants."""
        return best_of([self._search_variant(variant) for variant in variants], 0.0)

    def _variant(self, spelling: Spelling, language: str, weight: float = 1.0, *, tight: bool = False) -> Variant:
        groups = (spelling.terms,) if tight else adjacent_terms(spelling)
        if not self.strict:
            groups = tuple([pair for group in groups for pair in term_pairs(group)])
        return Variant(language, spelling, groups, weight)

    def _build_each(self, items: Iterable[Query]) -> list[tantivy.Query]:
        return [clause for item in items if (clause := self.build(item)) is not None]

    def _all(self, items: Sequence[Query]) -> tantivy.Query | None:
        """Any of the items, but all conditions with a field; function words only add to the score."""
        required = self.context.required(items)
        some = self._build_each(item for item in required if not self._must_match(item))
        musts = self._build_each(item for item in required if self._must_match(item))
        strict = msgspec.structs.replace(self, strict=True)
        refused = strict._build_each(item.item for item in items if isinstance(item, Not))  # noqa: SLF001
        more = [clause for _, clause in self.function_words(items)]
        if musts:
            more += some
        elif some:
            musts = [any_of(some)]
        elif refused:
            musts = [tantivy.Query.const_score_query(tantivy.Query.exists_query(node_fields.POSITION), 1.0)]
        else:
            return None
        clauses = [(_MUST, clause) for clause in musts]
        clauses += [(_SHOULD, clause) for clause in more]
        clauses += [(_NOT, clause) for clause in refused]
        return tantivy.Query.boolean_query(clauses) if len(clauses) > 1 else musts[0]

    def function_words(self, items: Sequence[Query]) -> list[tuple[Query, tantivy.Query]]:
        """The function words beside other words, with their clauses. Those of a long query do not score."""
        required = self.context.required(items) if len(items) < LONG_QUERY else items
        optional = [item for item in items if item not in required and self.context.is_optional(item)]
        clauses = [(item, msgspec.structs.replace(self, bonus=False).build(item)) for item in optional]
        return [(item, tantivy.Query.boost_query(clause, _FUNCTION_WORD)) for item, clause in clauses if clause]

    def _must_match(self, item: Query) -> bool:
        """Whether an item names its fields, or is excluded together with others."""
        return self.strict or all(leaf.field is not None for leaf in leaves(item))

    def _leaf(self, leaf: Word | Phrase) -> tantivy.Query | None:
        flag = self.context.flag(leaf) if self.bonus else None
        if isinstance(leaf, Phrase):
            clause = self._phrase(leaf)
        elif leaf.prefix and leaf.text[-1:].isalnum() and not is_unspaced(leaf.text[-1:]):  # ``C++`` cannot go on
            clause, flag = self._prefix(leaf), None
        else:
            clause = self.any_variant(self.variants(leaf))
        clause = plus(clause, flag) if clause and flag else clause  # a text with the dashes of the flag scores more
        return clause and _boosted(clause, leaf.boost)

    def _search_variant(self, variant: Variant) -> tantivy.Query:
        """Each group in any field, and more if all terms are adjacent."""
        groups = [self._counted(group, variant.language) for group in variant.groups]
        if len(groups) == 1:
            return groups[0]
        apart = all_of(groups) if self.strict else any_of(groups)
        together = self._adjacent(variant.spelling.terms, variant.language)
        return _boosted(plus(apart, together), variant.weight)

    def _phrase(self, phrase: Phrase) -> tantivy.Query | None:
        variants = []
        for language in self.context.languages:
            # As a query spells it, and as a text has it, in which ``don't`` is two terms.
            forms = {spelling.terms for spelling in spellings(phrase.text, language)[:1]}
            forms.add(tuple(terms(phrase.text, language)))
            variants += [self._counted(form, language) for form in sorted(forms) if form]
        return best_of(variants, 0.0)

    def _prefix(self, word: Word) -> tantivy.Query | None:
        """A prefix scores as the best of its words; of many words the rare ones score little."""
        cut = max((at + 1 for at, character in enumerate(word.text) if not character.isalnum()), default=0)
        lead, prefix = word.text[:cut], word.text[cut:]  # ``my_`` and ``v``
        variants = []
        for language in self.context.languages:
            completions = self.context.dictionary.completions(prefix, language)
            words = [self._counted((term,), language) for term in completions.frequent]
            for name in (name for name, boost in self.boosts.items() if completions.others and boost > 0):
                # One query for many terms cannot score them.
                field = node_fields.field(name, language)
                others = tantivy.Query.term_set_query(self.context.schema, field, completions.others)
                words.append(tantivy.Query.const_score_query(others, 1.0))
            completed = best_of(words, 0.0)
            if completed is not None:
                first = [self._variant(spelling, language) for spelling in spellings(lead, language)[:1]]
                variants.append(all_of([*map(self._search_variant, first), completed]))
        return best_of(variants, 0.0) or tantivy.Query.empty_query()

    def _documents(self, leaf: Word | Phrase) -> tantivy.Query:
        """A condition on documents: their tree, or a key of their front matter."""
        schema, tree = self.context.schema, node_fields.TREE
        if leaf.field != tree:
            query = one_of(schema, node_fields.DOC, self.context.documents_with(leaf))
        elif isinstance(leaf, Word) and leaf.prefix:
            query = tantivy.Query.regex_query(schema, tree, f"{re.escape(leaf.text)}.*")
        else:
            query = one_of(schema, tree, [leaf.text])
        return tantivy.Query.const_score_query(query, 0.0)

    def _counted(self, terms: tuple[str, ...], language: str) -> tantivy.Query:
        """Adjacent terms in the best field, plus their rarity, whatever the field."""
        clause = self._adjacent(terms, language)
        if not self.bonus or not self.context.coordination:
            return clause
        rarity = sum([self.context.dictionary.statistics(term, language).rarity for term in terms])
        # The clause is evaluated once: everything matches the second one.
        return plus(
            clause, tantivy.Query.const_score_query(tantivy.Query.all_query(), self.context.coordination * rarity)
        )

    def _adjacent(self, terms: tuple[str, ...], language: str) -> tantivy.Query:
        """Adjacent terms in the best of the fields that have the first term."""
        schema, dictionary = self.context.schema, self.context.dictionary
        fields = dictionary.statistics(terms[0], language).fields
        queries = [
            _boosted(adjacent(schema, name, language, terms), boost * dictionary.idf_factor(name, language, terms))
            for name, boost in self.boosts.items()
            if boost > 0 and (name in fields or name == node_fields.PATH)
        ]
        return best_of(queries, self.context.tie) or tantivy.Query.empty_query()


def compiled(context: QueryContext, query: Query, *, strict: bool = False) -> tantivy.Query | None:
    """A query for the engine; None if there is nothing to search for. With ``strict`` for an exclusion."""
    return ClauseBuilder(context, context.boosts, strict=strict).build(query)


def one_of(schema: tantivy.Schema, name: str, values: Iterable[str]) -> tantivy.Query:
    """A filter: nodes with one of these values in a field that is not analysed."""
    terms = list(values)
    if not 0 < len(terms) <= PER_LOOKUP:
        return tantivy.Query.term_set_query(schema, name, terms)
    return any_of([tantivy.Query.term_query(schema, name, term, index_option="basic") for term in terms])


def all_but(schema: tantivy.Schema, name: str, values: Iterable[str]) -> tantivy.Query:
    """A filter: nodes without any of these values in a field that is not analysed."""
    everything = (_MUST, tantivy.Query.all_query())
    return tantivy.Query.boolean_query([everything, (_NOT, one_of(schema, name, values))])


def filtered(query: tantivy.Query, *filters: tantivy.Query) -> tantivy.Query:
    """A query restricted by filters, which do not change scores."""
    return all_of([query, *(tantivy.Query.const_score_query(condition, 0.0) for condition in filters)])


def adjacent(schema: tantivy.Schema, name: str, language: str, terms: Sequence[str]) -> tantivy.Query:
    """Adjacent terms, or one term, in a field of a language."""
    field = node_fields.field(name, language)
    if len(terms) == 1:
        return tantivy.Query.term_query(schema, field, terms[0])
    return tantivy.Query.phrase_query(schema, field, list(terms))


def any_of(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    """Any of some queries; their scores add up."""
    return queries[0] if len(queries) == 1 else tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])


def all_of(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    """All of some queries; their scores add up."""
    return queries[0] if len(queries) == 1 else tantivy.Query.boolean_query([(_MUST, query) for query in queries])


def plus(query: tantivy.Query, more: tantivy.Query) -> tantivy.Query:
    """A query that scores more where another matches, too."""
    return tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, more)])


def all_items(query: Query) -> tuple[Query, ...]:
    """The items that are searched together."""
    return query.items if isinstance(query, Group) else (query,)


def is_plain(item: Query) -> TypeGuard[Word]:
    """Whether an item is a word without a field and a ``*``."""
    return isinstance(item, Word) and item.field is None and not item.prefix


def _boosted(query: tantivy.Query, boost: float) -> tantivy.Query:
    return query if boost == 1 else tantivy.Query.boost_query(query, float(boost))


def best_of(queries: Sequence[tantivy.Query], tie: float) -> tantivy.Query | None:
    """The best score of some queries plus a part of the others; None without queries."""
    if not queries:
        return None
    return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(list(queries), float(tie))
