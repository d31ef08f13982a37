"""The settings of search: ``[search]`` in quire.toml, or ``Index.open(settings=...)``. docs/search.md explains them."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, to_builtins
from msgspec.structs import replace

from quire.errors import invalid_value
from quire.model.validation import NO_LIMIT, about, check, convert, fields

MAX_TERMS = 64  # each word of a name or phrase is a term; in Chinese and Japanese each character
SHARPNESS = 8
"""Scores are raised to this power before they are added up. A node that answers scores only about a tenth more than
nodes that mention the same words, and two of these should not beat it."""

Mode = Literal["words", "meaning", "hybrid"]  # what a search compares: words, vectors, or both
Count = Annotated[int, Meta(ge=0, le=NO_LIMIT)]
Share = Annotated[float, Meta(ge=0, le=1)]
Weight = Annotated[float, Meta(ge=0, le=1000)]
_RULES = (
    "ra: the rules of the RA specification to the letter; match_cutoff, per_document and boosts.headings are then 0, "
    "and parent_rule is any"
)
_PARENT_RULE = (
    "a section replaces those below it if it has as many of the words as the best of them; any: if it has one"
)


class Boosts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weight of a word in each field; 0 turns a field off."""

    title: Annotated[Weight, about("weight of a match in the title")] = 1.0
    headings: Annotated[Weight, about("weight of a match in the headings above")] = 1.0
    body: Annotated[Weight, about("weight of a match in the body")] = 1.0
    links: Annotated[Weight, about("weight of a match in the texts of links to it")] = 1.0
    description: Annotated[Weight, about("weight of a match in the description")] = 1.0
    file: Annotated[Weight, about("weight of a match in the file's name")] = 1.0
    folder: Annotated[Weight, about("weight of a match in the folders above it")] = 0.5
    tags: Annotated[Weight, about("weight of a match in the tags")] = 0.5


class SearchSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of ranking, merging and answers."""

    rules: Annotated[Literal["quire", "ra"], about(_RULES)] = "quire"
    limit: Annotated[int, about("maximum number of results", ge=1, le=10_000)] = 10
    max_tokens: Annotated[Count, about("maximum tokens of all results together; 0: no limit")] = 8_000
    max_below: Annotated[Count, about("subsections are shown until all results have this many tokens")] = 2_000
    boosts: Boosts = Boosts()
    tie: Annotated[Share, about("a word scores as in its best field, plus this share of the others")] = 0.4
    coordination: Annotated[Weight, about("how often the rarity of a matching word is added")] = 2.0
    adjacent: Annotated[Weight, about("extra weight of two words that are adjacent in the query and in a title")] = 0.8
    adjacent_body: Annotated[Weight, about("the same in the body, for a query of six words or more")] = 1.0
    title_coverage: Annotated[Weight, about("weight of the share of a title that the query covers")] = 1.0
    stub_tokens: Annotated[Count, about("the title of a document with fewer tokens counts for less")] = 300
    in_links: Annotated[Weight, about("weight of links from other pages to a section")] = 0.3
    page_links: Annotated[Weight, about("weight of links from other pages to any section of its page")] = 0.1
    explained: Annotated[Weight, about("weight of a heading, row or item that begins with the searched name")] = 1.0
    page_sections: Annotated[Weight, about("weight of further sections of a page that match about as well")] = 0.02
    news: Annotated[Weight, about("factor for release notes, changelogs and blogs unless a query asks for them")] = 0.85
    where: Annotated[
        dict[str, Weight],
        about(
            "factors for the scores of documents, by conditions on paths and front matter",
            extra={"rule": 'a table of conditions and weights from 0 to 1000, as in "path:release-notes/**" = 0.3'},
        ),
    ] = {}
    meaning: Annotated[Share, about("in the mode hybrid, the share of the vectors in a score")] = 0.05
    rerank: Annotated[str, about("an endpoint that ranks the best 50 results again; not in a project's file")] = ""
    rerank_model: Annotated[str, about("its model, for endpoints as those of Cohere and Jina; empty for TEI")] = ""
    match_cutoff: Annotated[Share, about("a section matches with this share of the best score in its document")] = 0.15
    relevance_cutoff: Annotated[Share, about("results below this share of the best, times rank, are left out")] = 0.01
    parent_rule: Annotated[Literal["best", "any"], about(_PARENT_RULE)] = "best"
    parent_size: Annotated[
        Count, about("it replaces none that scores as much with so many times fewer tokens; 0: any")
    ] = 8
    aggregation_threshold: Annotated[Share, about("more than this share of children must match to be gathered")] = 0.5
    min_aggregation_matches: Annotated[int, about("how many children must match to be gathered", ge=1, le=NO_LIMIT)] = 2
    score_cap_multiplier: Annotated[
        float, about("maximum score of a gathered section, in scores of its best child", ge=1, le=NO_LIMIT)
    ] = 2.0
    per_document: Annotated[Count, about("so many results of a document keep their score, others a tenth; 0: all")] = 1

    @classmethod
    def checked(cls, settings: Any) -> "SearchSettings":
        """Settings whose values are checked, ``rules`` applied; None for the defaults. Boosts may be a dict."""
        if settings is None:
            return cls()
        if not isinstance(settings, cls):
            raise invalid_value("settings", settings, "must be quire.search.search_settings.SearchSettings")
        checked = convert(cls, to_builtins(settings, enc_hook=repr), what="setting")
        if checked.rules == "quire":
            return checked
        boosts = replace(checked.boosts, headings=0.0)
        return replace(checked, match_cutoff=0.0, parent_rule="any", per_document=0, boosts=boosts)

    def changed(self, **numbers: int | None) -> "SearchSettings":
        """These settings with other numbers, at least the minimum; None keeps the number that there is."""
        others = {name: number for name, number in numbers.items() if number is not None}
        for name, number in others.items():
            check(name, number, Annotated[int, Meta(ge=fields(SearchSettings)[name].limits[0])])
        return replace(self, **others) if others else self
