"""A search from query to hits, on small collections: what matches, what is corrected, in which order, how it is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

import quire
from quire.search.index_api import Index
from quire.search.search_settings import SearchSettings

Made = Callable[..., Index]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Makes an index of documents given by path and text."""

    def make(
        documents: Mapping[str, str], *, language: str = "english", settings: SearchSettings | None = None
    ) -> Index:
        folders = {}
        for name, text in documents.items():
            tree, _, path = name.partition(":") if ":" in name else ("docs", "", name)
            file = tmp_path / tree / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            folders[tree] = tmp_path / tree
        index = Index.open(tmp_path / "index", settings=settings)
        index.update(folders, languages=dict.fromkeys(folders, language))
        return index

    return make


def ids(index: Index, query: str, **options: object) -> list[str]:
    return [hit.id.removeprefix("docs:") for hit in index.search(query, **options)]  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------------------------------------------
# All words, some words


def test_a_section_with_all_words_in_any_fields_comes_first(made: Made) -> None:
    index = made(
        {
            "storage/both.md": "# Volumes\n\nHow to prune.\n",
            "one.md": "# Volumes\n\nNothing else.\n",
            "other.md": "# Prune\n\nNothing else.\n",
        }
    )
    assert ids(index, "volumes prune")[0] == "storage/both.md#volumes"
    assert "storage/both.md#volumes" in ids(index, "storage prune")
    every = ids(index, "volumes prune", every=True)
    assert set(every) == {"storage/both.md#volumes", "one.md#volumes", "other.md#prune"}
    assert len(ids(index, "volumes prune")) + index.search("volumes prune").below_cutoff == 3


def test_function_words_may_be_missing(made: Made) -> None:
    index = made({"a.md": "# Prune volumes\n\nRun it.\n", "b.md": "# How\n\nHow do I do the what.\n"})
    assert ids(index, "how do I prune the volumes?") == ["a.md#prune-volumes"]


def test_function_words_alone_are_looked_for(made: Made) -> None:
    index = made({"a.md": "# Prune\n\nRun it.\n", "b.md": "# What is this\n\nText.\n"})
    assert ids(index, "what is this") == ["b.md#what-is-this"]


def test_a_word_that_occurs_nowhere_shuts_nothing_out(made: Made) -> None:
    index = made({"a.md": "# Volumes\n\nPrune them.\n", "b.md": "# Images\n\nPrune them, too.\n"})
    results = index.search("prune volumes kubernetes", every=True)
    assert [hit.id for hit in results] == ["docs:a.md#volumes", "docs:b.md#images"]


def test_words_in_front_matter_tags_and_path_match(made: Made) -> None:
    text = "---\ntitle: Cleaning\ndescription: Reclaim space\ntags: [housekeeping]\n---\n\n## Prune\n\nRun it.\n"
    index = made({"admin/a.md": text, "b.md": "# Prune\n\nText.\n"})
    for query in ("reclaim prune", "housekeeping prune", "admin prune", "cleaning prune"):
        assert ids(index, query)[0] == "admin/a.md#prune"


def test_a_document_without_text_of_its_own_gives_way_to_its_first_heading(made: Made) -> None:
    index = made({"a.md": "# Volumes\n\nText.\n\n## Prune\n\nMore.\n"})
    assert ids(index, "volumes") == ["a.md#volumes"]


# ----------------------------------------------------------------------------------------------------------------------
# Corrections


@pytest.mark.parametrize("typed", ["volmes", "volumess", "volunes", "vloumes"])
def test_a_word_that_occurs_nowhere_is_corrected(made: Made, typed: str) -> None:
    index = made({"a.md": "# Volumes\n\nText.\n", "b.md": "# Images\n\nText.\n"})
    results = index.search(typed)
    assert [hit.id for hit in results] == ["docs:a.md#volumes"]
    assert results.corrections == {typed: ("volumes",)}


def test_a_correction_is_a_word_as_texts_have_it(made: Made) -> None:
    index = made({"a.md": "# Nested virtualization\n\nTurn on virtualization.\n"})
    assert index.search("virtualisation").corrections == {"virtualisation": ("virtualization",)}


def test_a_word_that_occurs_is_not_corrected(made: Made) -> None:
    index = made({"a.md": "# Mount\n\nmount mount mount\n", "b.md": "# Month\n\nText.\n"})
    assert ids(index, "month") == ["b.md#month"]
    assert not index.search("month").corrections


def test_a_much_shorter_word_is_no_correction(made: Made) -> None:
    index = made({"a.md": "# Tables\n\nTables that go on over the page.\n"})
    results = index.search("oversized tables")
    assert [hit.id for hit in results] == ["docs:a.md#tables"]
    assert not results.corrections


@pytest.mark.parametrize(
    "typed", ["elegant", "inevitable", "told", "forty", "eats", "immunity", "international"], ids=lambda typed: typed
)
def test_a_word_that_is_more_than_a_letter_away_is_no_correction(made: Made, typed: str) -> None:
    text = "Delegation to a proxy: invite them for two, at home. Immutability and the internet. Invitations."
    results = made({"a.md": f"# Words\n\n{text}\n"}).search(typed)
    assert not results
    assert not results.corrections


def test_a_correction_is_a_word_of_a_text_rather_than_a_stem(made: Made) -> None:
    index = made({"a.md": "# Words\n\nA volume. Permits: permission to permit.\n"})
    assert index.search("permision").corrections == {"permision": ("permission",)}
    assert index.search("volmes").corrections == {"volmes": ("volume",)}  # a plural


def test_a_correction_is_found_among_many_texts_with_another_form_of_it(made: Made) -> None:
    others = {f"{number}.md": f"# Containers\n\nContainers {number}, containers.\n" for number in range(30)}
    index = made({**others, "z.md": f"# Other\n\nIt is one that {'goes on and ' * 50} is containing things.\n"})
    assert index.search("conteining").corrections == {"conteining": ("containing",)}


def test_short_words_numbers_and_phrases_are_left_alone(made: Made) -> None:
    index = made({"a.md": "# Cat 2024\n\nThe volumes.\n"})
    for query in ("car", "2025", '"volmes"'):
        results = index.search(query)
        assert not results
        assert not results.corrections


@pytest.mark.parametrize(
    ("typed", "written"),
    [("brulex", "brûlée"), ("strase", "straße"), ("sevrer", "server"), ("foldr", "folder"), ("summery", "summary")],
)
def test_a_correction_stands_in_a_document(made: Made, typed: str, written: str) -> None:
    text = "---\ndescription: Summary of sweets\n---\n\n# Crème brûlée\n\nStraße, runHTTPServer.\n"
    index = made({"folder/a.md": text, "b.md": "# Other\n\nText.\n"})
    results = index.search(typed)
    assert results.corrections == {typed: (written,)}
    assert results[0].path == "folder/a.md"


def test_a_part_of_a_name_is_corrected(made: Made) -> None:
    index = made({"a.md": "# Settings\n\nSet `max_retries` to 3.\n"})
    results = index.search("max_retrise")
    assert [hit.id for hit in results] == ["docs:a.md#settings"]
    assert results.corrections == {"max_retrise": ("max_retries",)}


def test_a_word_that_only_stood_in_what_was_replaced_is_corrected(made: Made, tmp_path: Path) -> None:
    others = {f"{number}.md": f"# Other {number}\n\nnothing of it\n" for number in range(20)}
    index = made({"c.md": "# C\n\nauthentcation authantication\n", "d.md": "# D\n\nauthentication\n", **others})
    assert index.search("authentcation").corrections == {}
    assert sorted(ids(index, "authent*")) == ["c.md#c", "d.md#d"]
    (tmp_path / "docs" / "c.md").write_text("# C\n\nall is well\n")
    index.update()
    assert index.search("authentcation").corrections == {"authentcation": ("authentication",)}
    assert index.search("authntication").corrections == {"authntication": ("authentication",)}
    assert ids(index, "authentcation") == ids(index, "authent*") == ["d.md#d"]
    (tmp_path / "docs" / "d.md").unlink()
    index.update()
    assert index.search("authentcation").corrections == {}
    assert not index.search("authent*")


def test_a_very_long_word_is_taken_as_typed(made: Made) -> None:
    index = made({"a.md": f"# A\n\nneedle {'long' * 15} {'long' * 17}\n"})
    assert index.search(f"{'long' * 15}x").corrections == {f"{'long' * 15}x": ("long" * 15,)}
    assert index.search(f"{'long' * 17}x").corrections == {}
    assert index.search("d" * 100_000) == []  # all that is one letter away from it would fill the memory


def test_words_of_other_alphabets_are_corrected(made: Made) -> None:
    index = made({"a.md": "# Сервер\n\nТекст.\n"}, language="russian")
    results = index.search("сервр")
    assert [hit.title for hit in results] == ["Сервер"]
    assert results.corrections == {"сервр": ("сервер",)}


# ----------------------------------------------------------------------------------------------------------------------
# The query language


def test_phrases_within_one_field(made: Made) -> None:
    index = made({"a.md": "# One\n\nThe bind mount works.\n", "b.md": "# Bind\n\nThe mount to bind.\n"})
    assert ids(index, '"bind mount"') == ["a.md#one"]
    assert ids(index, '"works mount" -bind') == []


def test_words_of_a_phrase_that_nothing_has(made: Made) -> None:
    index = made({"a.md": "# One\n\nThe bind mount works.\n", "b.md": "# Two\n\nNothing.\n"})
    query = '"mount bind"'
    results = index.search(query)
    assert ids(index, query) == ["a.md#one"]
    assert results.corrections == {"mount bind": ("mount", "bind")}
    marked = quire.match_ranges(results[0], query, results.corrections)
    assert [results[0].text[span.start : span.end] for span in marked] == ["bind", "mount"]
    assert ids(index, f"body:{query}") == []


def test_two_words_that_are_written_as_one(made: Made) -> None:
    apart = "# Other\n\nA file of the system, at one time in a zone.\n"
    index = made({"a.md": "# One\n\nThe filesystem.\n", "b.md": "# Two\n\nThe timezone.\n", "c.md": apart})
    [hit] = [hit for hit in index.search("file system", every=True) if hit.path == "a.md"]
    assert [hit.text[span.start : span.end] for span in quire.match_ranges(hit, "file system")] == ["filesystem"]
    frequent = {f"{number}.md": f"# Page {number}\n\nEach time zone.\n" for number in range(3)}
    index = made({"b.md": "# Two\n\nThe timezone.\n", **frequent})
    assert not [hit for hit in index.search("time zone", every=True) if hit.path == "b.md"]


def test_not_either_and_fields(made: Made) -> None:
    index = made(
        {
            "guides/a.md": "---\ntags: [linux]\n---\n\n# Volumes\n\nOn Linux.\n",
            "guides/b.md": "# Images\n\nAbout volumes on Windows.\n",
            "ref/c.md": "# Networks\n\nPlain.\n",
        }
    )
    assert ids(index, "volumes -windows") == ["guides/a.md#volumes"]
    assert sorted(ids(index, "images OR networks")) == ["guides/b.md#images", "ref/c.md#networks"]
    assert ids(index, "title:volumes") == ["guides/a.md#volumes"]
    assert ids(index, "body:volumes") == ["guides/b.md#images"]
    assert ids(index, "tags:linux") == ["guides/a.md"]
    assert ids(index, "path:ref/c.md") == ["ref/c.md"]
    assert sorted(ids(index, "path:guides volumes")) == ["guides/a.md#volumes", "guides/b.md#images"]
    assert ids(index, "tree:docs networks") == ["ref/c.md#networks"]
    assert ids(index, "tree:d* networks -tree:other") == ["ref/c.md#networks"]
    assert ids(index, "tree:other OR networks") == ["ref/c.md#networks"]
    for query in ("tree:other networks", 'tree:"other"'):
        with pytest.raises(quire.OptionError, match="tree: no tree is called 'other'; there are: docs"):
            index.search(query)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# One\n\na\n\n## Empty heading\n\n## Tail\n\nb\n", "a.md#one"),
        ("a\n\n# Empty heading\n\n# Tail\n\nb\n", "a.md"),
        ("---\ntitle: One\n---\n\na\n\n# Empty heading\n\n# Tail\n\nb\n", "a.md"),
    ],
    ids=["in a section", "in a document", "in a document with a title"],
)
def test_a_heading_without_text_is_a_heading(made: Made, text: str, found: str) -> None:
    index = made({"a.md": text})
    for query in ("empty", "title:empty", 'title:"empty heading"'):
        assert ids(index, query) == [found], query
    assert ids(index, "body:empty") == []


@pytest.mark.parametrize("strict", ["title:nope", "body:nope", "tags:nope", "path:nope", "title:(nope OR never)"])
def test_a_field_is_meant_even_where_words_may_be_missing(made: Made, strict: str) -> None:
    index = made({"a.md": "# Volumes\n\nText.\n"})
    assert ids(index, "volumes nope") == ["a.md#volumes"]
    assert ids(index, f"volumes {strict}") == []
    assert ids(index, "title:volumes text nope") == ["a.md#volumes"]


def test_beginnings_match_and_are_scored(made: Made) -> None:
    index = made(
        {
            "a.md": "# Configuration\n\nThe configuration.\n",
            "b.md": "# Other\n\nSee how it is configured, and many more words besides these few.\n",
            "c.md": "# Confirm\n\nText.\n",
        }
    )
    assert ids(index, "configur*", every=True) == ["a.md#configuration", "b.md#other"]
    assert ids(index, "configuratio*")[0] == "a.md#configuration"
    assert ids(index, "config* xyzzy*") == [*ids(index, "config*")]
    assert len({hit.score for hit in index.search("configur*", every=True)}) == 2


def test_boosts_change_the_order(made: Made) -> None:
    index = made({"a.md": "# Red\n\nText.\n", "b.md": "# Blue\n\nText.\n"})
    assert ids(index, "red^5 OR blue")[0] == "a.md#red"
    assert ids(index, "red OR blue^5")[0] == "b.md#blue"


# ----------------------------------------------------------------------------------------------------------------------
# Names and scripts

NAMES = {
    "cpp.md": "# Modules\n\nIn C++ they are new.\n",
    "c.md": "# Headers\n\nIn C they are old.\n",
    "sharp.md": "# Assemblies\n\nIn C# they are managed.\n",
    "version.md": "# Release 1.0.21\n\nNotes.\n",
    "numbers.md": "# Numbers\n\n21 is 1 more than 20, 0 is none.\n",
    "env.md": "# Files\n\nPut it into `.env` there.\n",
    "flag.md": "# Building\n\nUse `--no-cache` to start over.\n",
    "humps.md": "# Servers\n\nThe class HTTPServer and the method parseRequestBody.\n",
    "snake.md": "# Variables\n\nThe variable `my_var_name` and `pkg.module.attr`.\n",
    "party.md": "# Celebrations\n\nWe did it \U0001f389 today.\n",
    "chinese.md": "# 安装\n\n这里说明如何安装软件和配置网络代理。\n",
    "thai.md": "# ภาษา\n\nภาษาไทยไม่มีช่องว่างระหว่างคำ\n",
    "accent.md": "# Places\n\nThe café at the corner. Crème brûlée, two résumés, Hauptstraße.\n",
}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("C++", "cpp.md#modules"),
        ("c++", "cpp.md#modules"),
        ("C#", "sharp.md#assemblies"),
        ("1.0.21", "version.md#release-1021"),
        ("v1.0.21", "version.md#release-1021"),
        (".env", "env.md#files"),
        ("--no-cache", "flag.md#building"),
        ("HTTPServer", "humps.md#servers"),
        ("httpserver", "humps.md#servers"),
        ("http_server", "humps.md#servers"),
        ("server http", "humps.md#servers"),
        ("parse request", "humps.md#servers"),
        ("my_var_name", "snake.md#variables"),
        ("myVarName", "snake.md#variables"),
        ("var name", "snake.md#variables"),
        ("pkg.module.attr", "snake.md#variables"),
        ("module attr", "snake.md#variables"),
        ("\U0001f389", "party.md#celebrations"),
        ("软件", "chinese.md#heading"),
        ("网络代理", "chinese.md#heading"),
        ("怎么配置网络代理", "chinese.md#heading"),
        ("ภาษาไทย", "thai.md#heading"),
        ("cafe", "accent.md#places"),
        ("brulee", "accent.md#places"),
        ("brûlée", "accent.md#places"),
        ("resume", "accent.md#places"),
        ("hauptstrasse", "accent.md#places"),
        ("CAFÉ", "accent.md#places"),
        ("cafe\u0301", "accent.md#places"),
    ],
)
def test_names_and_scripts(made: Made, query: str, expected: str) -> None:
    assert ids(made(NAMES), query)[0] == expected


_MARKED = {
    "я́блоко": "яблоко",
    "m̀elody": "melody",
    "ọ̀rọ̀": "oro",
    "ä́bcd": "abcd",
    "שָׁלוֹם": "שלום",
    "كَتَبَ": "كتب",
    "ἀρχή": "αρχη",
    "Ἀθῆναι": "αθηναι",
    "х̄айй": "хайй",
}


@pytest.mark.parametrize("language", ["english", "none", "greek", "russian", "arabic"])
@pytest.mark.parametrize(("marked", "bare"), _MARKED.items(), ids=_MARKED.values())
def test_marks_on_letters_of_any_script_make_no_difference(made: Made, marked: str, bare: str, language: str) -> None:
    texts = {"a.md": f"# One\n\nThe {marked}.\n", "b.md": f"# Two\n\nThe {bare}.\n"}
    index = made(texts, language=language)
    for query in (marked, bare, f'"{marked}"', marked.upper()):
        results = index.search(query)
        assert sorted(hit.path for hit in results) == ["a.md", "b.md"], query
        assert results.corrections == {}
        found = {hit.text[slice(*span)] for hit in results for span in quire.match_ranges(hit, query)}
        assert found == {marked, bare}


def test_letters_that_are_others_with_a_mark_stay_others(made: Made) -> None:
    index = made({"a.md": "# A\n\nмай\n", "b.md": "# B\n\nмаи\n"}, language="none")
    assert [ids(index, query) for query in ("май", "маи")] == [["a.md#a"], ["b.md#b"]]


def test_a_whole_name_ranks_above_its_parts(made: Made) -> None:
    index = made(
        {
            "parts.md": "# Parts\n\nThe var is here, my name is there; of var and my I said enough.\n",
            "whole.md": "# Whole\n\nA text about something else that at last says my_var and goes on for a while.\n",
        }
    )
    assert ids(index, "my_var", every=True) == ["whole.md#whole", "parts.md#parts"]


@pytest.mark.parametrize("query", ["COPY --from", "--from", '"--from"', "--From,"])
def test_a_flag_ranks_above_the_word_that_it_is_made_of(made: Made, query: str) -> None:
    flag = "Text about something else that goes on for a while and at last says `COPY --from=build /app /app`."
    index = made(
        {
            "word.md": "# Copy from there\n\nCopy it from here, copy it from there.\n",
            "flag.md": f"# Stages\n\nAll of them, from the first on, copy.\n\n## Last\n\n{flag}\n",
        }
    )
    best, *others = index.search(query, explain=True, every=True)
    assert (best.id, best.score) == ("docs:flag.md#last", 1.0)
    assert "flags" in [word["field"] for word in best.explanation["scores"][0]["words"]]
    assert "docs:word.md#copy-from-there" in [hit.id for hit in others]  # it is found by its parts, too


def test_a_flag_of_several_words_ranks_above_them(made: Made) -> None:
    flag = "Text about something else that goes on for a while and at last says --no-cache."
    index = made({"a.md": "# Storage\n\nThere is no cache.\n", "b.md": f"# Flags\n\n{flag}\n"})
    assert ids(index, "--no-cache", every=True) == ["b.md#flags", "a.md#storage"]
    assert ids(index, "title:--no-cache") == []


def test_stems_can_be_switched_off(made: Made) -> None:
    index = made({"a.md": "# Running\n\nText.\n"}, language="none")
    assert ids(index, "running") == ["a.md#running"]
    assert ids(index, "runs") == []


def test_trees_of_two_languages_in_one_index(tmp_path: Path) -> None:
    for name, text in {"en": "# Houses\n\nText.\n", "de": "# Häuser\n\nText.\n"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(text, encoding="utf-8")
    index = Index.open(tmp_path / "index")
    index.update({"en": tmp_path / "en", "de": tmp_path / "de"}, languages={"de": "german"})
    assert [hit.id for hit in index.search("Haus")] == ["de:a.md#huser"]
    assert [hit.id for hit in index.search("house")] == ["en:a.md#houses"]


# ----------------------------------------------------------------------------------------------------------------------
# Order


def test_a_title_ranks_above_a_mention(made: Made) -> None:
    mention = "# Other\n\nVolumes are mentioned here among other things that this page is about.\n"
    index = made({"a.md": mention, "b.md": "# Volumes\n\nText about something.\n"})
    assert ids(index, "volumes", every=True) == ["b.md#volumes", "a.md#other"]


def test_words_side_by_side_in_a_title_rank_above_the_same_words_apart(made: Made) -> None:
    index = made({"a.md": "# Cache for a build\n\nText.\n", "b.md": "# Some build cache\n\nText.\n"})
    assert ids(index, "build cache") == ["b.md#some-build-cache", "a.md#cache-for-a-build"]


def test_a_boost_of_zero_leaves_a_field_out(made: Made) -> None:
    documents = {"a.md": "# Volumes\n\nText.\n", "b.md": "# Other\n\nVolumes.\n"}
    index = made(documents, settings=SearchSettings(boosts={"body": 0.0}))
    assert ids(index, "volumes") == ["a.md#volumes"]


# ----------------------------------------------------------------------------------------------------------------------
# Filters


def test_a_filter_comes_before_the_limit(made: Made) -> None:
    best = {f"best:{number}.md": "# Volumes\n\nvolumes volumes\n" for number in range(30)}
    index = made({**best, "docs:deep/last.md": "# Other\n\nA long text that mentions volumes once.\n"})
    assert ids(index, "volumes", limit=1, trees=["docs"]) == ["deep/last.md#other"]
    assert ids(index, "volumes", limit=1, path="deep/**") == ["deep/last.md#other"]
    assert ids(index, "volumes", limit=1, path=["docs:*.md"]) == ["deep/last.md#other"]
    assert ids(index, "volumes", path="nowhere/**") == []
    assert ids(index, "volumes", trees=[]) == []


def test_scores_do_not_depend_on_a_filter(made: Made) -> None:
    index = made({"a.md": "# Volumes\n\nText.\n", "b.md": "# Other\n\nVolumes.\n"})
    free = [hit.score for hit in index.search("volumes")]
    assert [hit.score for hit in index.search("volumes", trees=["docs"], path="**")] == free


# ----------------------------------------------------------------------------------------------------------------------
# Merging

TREE = """# Zoo

{zoo}

## Zebra

{one}

## Lion

{two}

## Tiger

{three}
"""


def test_a_parent_that_matches_itself_takes_the_place_of_its_children(made: Made) -> None:
    index = made({"a.md": TREE.format(zoo="They eat hay.", one="It eats hay.", two="Meat.", three="Meat.")})
    [hit] = index.search("hay")
    assert (hit.id, hit.how) == ("docs:a.md#zoo", "parent")
    assert set(hit.constituents) == {"docs:a.md#zoo", "docs:a.md#zebra"}


def test_a_child_that_matches_better_stands_alone(made: Made) -> None:
    index = made({"a.md": TREE.format(zoo="Stripes.", one="It eats hay.", two="Meat.", three="Meat.")})
    [hit] = index.search("zebra hay")
    assert (hit.id, hit.how) == ("docs:a.md#zebra", "match")


def test_most_children_are_gathered_with_the_sum_of_their_scores(made: Made) -> None:
    index = made({"a.md": TREE.format(zoo="Animals.", one="They eat hay.", two="They eat hay.", three="Meat.")})
    alone = index.search("hay", merge=False)
    [hit] = index.search("hay")
    assert (hit.id, hit.how) == ("docs:a.md#zoo", "aggregated")
    assert hit.score == pytest.approx(min(sum(each.score for each in alone), 2 * alone[0].score))
    assert sorted(hit.constituents) == ["docs:a.md#lion", "docs:a.md#zebra"]


def test_settings_decide_about_gathering(made: Made) -> None:
    text = TREE.format(zoo="Animals.", one="They eat hay.", two="They eat hay.", three="Meat.")
    index = made({"a.md": text}, settings=SearchSettings(aggregation_threshold=0.7))
    assert sorted(ids(index, "hay")) == ["a.md#lion", "a.md#zebra"]


def test_an_answer_is_not_swallowed_with_the_mentions_around_it(made: Made) -> None:
    mention = "A long text about other things, where one may also read how to feed an animal that is a zebra, or not."
    text = f"# Care\n\nIntro.\n\n## Feed the zebra\n\nLike this.\n\n## Clean\n\n{mention}\n\n## Sleep\n\n{mention}\n"
    hits = made({"a.md": text}).search("feed zebra", every=True)
    assert [(hit.id, hit.how) for hit in hits] == [("docs:a.md#feed-the-zebra", "match")]


def test_without_a_cut_off_every_node_with_a_word_matches(made: Made) -> None:
    long = "It is fed at noon, at night and whenever it asks for something, and sometimes that is hay. " + "More. " * 60
    text = TREE.format(zoo="Animals.", one="Hay.", two=long, three="Meat.")
    [hit] = made({"a.md": text}, settings=SearchSettings(match_cutoff=0)).search("hay")
    assert (hit.id, hit.how) == ("docs:a.md#zoo", "aggregated")
    assert hit.constituents == ("docs:a.md#zebra", "docs:a.md#lion")
    [hit] = made({"a.md": text}, settings=SearchSettings(match_cutoff=0.9)).search("hay")
    assert (hit.id, hit.how) == ("docs:a.md#zebra", "match")


def test_the_letter_of_s3_is_a_matter_of_settings(made: Made) -> None:
    text = "# Zebra care\n\nIntro.\n\n## Feed\n\nHay.\n\n## Clean\n\nBrush the zebra.\n\n## Sleep\n\nAt night.\n"
    letter = SearchSettings(match_cutoff=0, boosts={"headings": 0}, parent_rule="any", per_document=0)
    for query in ("zebra", "brush zebra"):
        [hit] = made({"a.md": text}, settings=letter).search(query)
        assert (hit.id, hit.how) == ("docs:a.md#zebra-care", "parent")
        assert set(hit.constituents) == {"docs:a.md#zebra-care", "docs:a.md#clean"}
    [hit] = made({"a.md": text}, settings=replace(letter, parent_rule="best")).search("brush zebra")
    assert (hit.id, hit.how) == ("docs:a.md#clean", "match")
    assert not made({"a.md": text}, settings=letter).search("quagga")


@pytest.mark.parametrize(("count", "scores"), [(0, [1, 1, 1, 1]), (1, [1, 0.1, 0.1, 0.1]), (3, [1, 1, 1, 0.1])])
def test_so_many_results_of_a_document_keep_their_score(made: Made, count: int, scores: list[float]) -> None:
    text = "# Page\n\nText.\n\n" + "## Volume\n\nIt is so.\n\n" * 4
    index = made({"a.md": text}, settings=SearchSettings(aggregation_threshold=1, per_document=count))
    assert [hit.score for hit in index.search("volume", every=True)] == pytest.approx(scores)


def test_what_is_below_a_parent_that_matches_better_is_a_part_of_it(made: Made) -> None:
    long = "A long text that says at last that this, too, is a zoo. " + "More. " * 60
    text = TREE.format(zoo="The zoo.", one=long, two="Meat.", three="Meat.")
    [hit] = made({"a.md": text}, settings=SearchSettings(match_cutoff=0)).search("zoo")
    assert (hit.id, hit.how) == ("docs:a.md#zoo", "parent")
    assert set(hit.constituents) >= {"docs:a.md#zoo", "docs:a.md#zebra"}


FRONT = "---\ntitle: Pack or unpack a crate\n---\n\nIntro.\n\n## {heading}\n\n{text}\n\n## Other\n\nText.\n"


def test_a_heading_answers_better_than_the_title_in_front_matter(made: Made) -> None:
    [hit] = made({"a.md": FRONT.format(heading="Unpack a crate", text="Like this.")}).search("unpack crate")
    assert (hit.id, hit.how) == ("docs:a.md#unpack-a-crate", "match")


def test_the_title_in_front_matter_answers_as_well_as_a_mention(made: Made) -> None:
    [hit] = made({"a.md": FRONT.format(heading="Tools", text="Also unpack a crate.")}).search("unpack crate")
    assert hit.id == "docs:a.md"
    assert hit.constituents[0] == "docs:a.md"


def test_the_limit_comes_after_merging(made: Made) -> None:
    children = "".join(f"## Part {number}\n\nAbout hay.\n\n" for number in range(80))
    documents = {"large.md": f"# All\n\nHay.\n\n{children}"}
    documents |= {
        f"small{number}.md": "# Other\n\nA long text in which hay is mentioned at last.\n" for number in range(5)
    }
    found = ids(made(documents), "hay", limit=6, every=True)
    assert len(found) == 6
    assert len({each.partition("#")[0] for each in found}) == 6


def test_no_document_disappears_by_merging(made: Made) -> None:
    index = made({f"{number}.md": TREE.format(zoo="Hay.", one="Hay.", two="Hay.", three="x") for number in range(12)})
    assert len({hit.path for hit in index.search("hay", limit=50)}) == 12
    assert len(index.search("hay", limit=5)) == 5


# ----------------------------------------------------------------------------------------------------------------------
# What a hit tells


def test_a_hit_is_exact_about_text_position_and_matches(made: Made, tmp_path: Path) -> None:
    index = made({"a.md": TREE.format(zoo="Animals.", one="It eats hay.", two="Meat.", three="Meat.")})
    [hit] = index.search("eat hay")
    source = (tmp_path / "docs" / "a.md").read_text(encoding="utf-8")
    assert hit.text == source[hit.span.start : hit.span.end]
    assert hit.breadcrumb_line == "> Zoo › Zebra"
    assert [hit.text[start:end] for start, end in quire.match_ranges(hit, "eat hay")] == ["eats", "hay"]


def test_corrected_words_are_marked(made: Made) -> None:
    results = made({"a.md": "# Volumes\n\nText.\n"}).search("volmes")
    found = quire.match_ranges(results[0], "volmes", results.corrections)
    assert [results[0].text[start:end] for start, end in found] == ["Volumes"]


def test_a_budget_is_never_passed(made: Made) -> None:
    text = TREE.format(zoo="Hay. " * 300, one="Hay. " * 300, two="Hay. " * 300, three="Hay. " * 300)
    for budget in (20, 100, 500, 3_000):
        results = made({"a.md": text, "b.md": text}).search("hay", max_tokens=budget)
        assert sum(hit.tokens for hit in results) <= budget


@pytest.mark.parametrize("merge", [True, False])
def test_any_limit_is_possible(made: Made, merge: bool) -> None:
    index = made({f"{number}.md": f"# A{number}\n\nneedle\n" for number in range(30)})
    for limit in (30, 10**9, 10**30):
        assert len(index.search("needle", limit=limit, merge=merge)) == 30
    assert len(index.search("needle", limit=29, merge=merge, max_tokens=10**30)) == 29


def test_phases_and_explanations(made: Made) -> None:
    index = made({"a.md": TREE.format(zoo="Animals.", one="They eat hay.", two="They eat hay.", three="Meat.")})
    results = index.search("how to eat hai", explain=True)
    assert list(results.phases) == [
        "parse",
        "correct",
        "rank",
        "merge",
        "spread",
        "cut off",
        "fit",
    ]
    assert results.phases["parse"] == {"query": "how to eat hai"}
    results = index.search("how to eat hay", explain=True)
    assert results.phases["rank"]["nodes"] == 2
    assert results.phases["merge"] == {"candidates": 2, "results": 1}
    [hit] = results
    assert [each["id"] for each in hit.explanation["scores"]] == list(hit.constituents)
    assert {(word["word"], word["field"]) for word in hit.explanation["scores"][0]["words"]} == {
        ("eat", "body"),
        ("hay", "body"),
    }
    assert [step["rule"] for step in hit.explanation["merging"]] == ["aggregated", "apart"]


@pytest.mark.parametrize("language", ["english", "turkish", "none"])
@pytest.mark.parametrize("typed", ["istanbul", "ISTANBUL", "İstanbul", "i\u0307stanbul", "istan*"])
def test_a_capital_i_with_a_dot_is_an_i(made: Made, language: str, typed: str) -> None:
    [hit] = made({"a.md": "# Türkiye\n\nİstanbul.\n"}, language=language).search(typed)
    assert [hit.text[start:end] for start, end in quire.match_ranges(hit, typed)] == ["İstanbul"]


@pytest.mark.parametrize(
    "query",
    [
        "zebra hay",
        "zebra OR hay",
        "title:zebra OR meat^3",
        "(zebra OR lion) eats -meat",
        "real-time hay",
        "1.0.2",
        "v1.0.21 hay",
        "ea* hay",
        "zebr hay",
        "eat zoo zebra nowhere",
        '"eats hay" zoo',
        "how do I eat hay hay",
    ],
)
def test_the_worth_of_the_items_leads_to_the_score(made: Made, query: str) -> None:
    text = TREE.format(
        zoo="Animals of v1.0.21.", one="It eats hay in real time.", two="Realtime hay 1.0.2", three="Hay."
    )
    results = made({"a.md": text, "b/zebra.md": "# Hay\n\nTo eat.\n"}).search(query, explain=True, merge=False)
    best = results.phases["rank"]["best"]
    assert results
    for hit in results:
        [score] = hit.explanation["scores"]
        assert (sum(item["score"] for item in score["items"]) / best) ** 8 == pytest.approx(hit.score, rel=0.02)


@pytest.mark.parametrize("query", ["", "   ", "&&", "…", "()"])
def test_nothing_to_look_for(made: Made, query: str) -> None:
    results = made({"a.md": "# A\n\nText.\n"}).search(query)
    assert list(results) == []


def test_answering_loads_neither_the_parser_nor_a_tokenizer(made: Made, tmp_path: Path) -> None:
    made({"a.md": "# Volumes\n\nText.\n"}).close()
    code = (
        "import sys; from quire.search.index_api import Index\n"
        f"assert [hit.id for hit in Index.open({str(tmp_path / 'index')!r}).search('volumes')] == ['docs:a.md#volumes']\n"
        "slow = {'pyromark', 'toktok', 'tiktoken', 'quire.parsing', 'quire.tokens', 'numpy', 'quire.embed'}\n"
        "loaded = slow & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_phrase_with_an_apostrophe_is_found(made: Made) -> None:
    index = made({"a.md": "# A\n\nNow, don't panic at once.\n", "b.md": "# B\n\nThe user's own files. Do panic.\n"})
    assert ids(index, '"don\'t panic"') == ["a.md#a"]
    assert ids(index, '"the user\'s own"') == ["b.md#b"]


# ----------------------------------------------------------------------------------------------------------------------
# What is meant even where words may be missing

WAYS = "# Login\n\nUse a token to log in. See step 2.\n\n# OAuth2\n\nA token by oauth2.\n\n# Keys\n\nA token by key.\n"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("token kerberos -oauth2", {"a.md#login", "a.md#keys"}),
        ("token kerberos -(step key)", {"a.md#login", "a.md#oauth2", "a.md#keys"}),
        ("token kerberos -(step OR key)", {"a.md#oauth2"}),
    ],
)
def test_a_negation_leaves_out_no_more_in_a_partial_match(made: Made, query: str, expected: set[str]) -> None:
    index = made({"a.md": WAYS})
    assert set(ids(index, query, merge=False)) == expected


@pytest.mark.parametrize("query", ["title:config2", "title:my_var", "title:v1.2.3", "page title:my_v*"])
def test_no_part_of_a_word_behind_a_field_may_be_missing(made: Made, query: str) -> None:
    index = made({"a.md": "# Config\n\npage\n", "b.md": "# My page\n\npage\n", "c.md": "# Since 1.2\n\npage\n"})
    assert not ids(index, query)


@pytest.mark.parametrize(
    ("query", "found"), [("如何*", "#three"), ("安何*", "#four"), ("何安*", "#three"), ("C++*", "#five")]
)
def test_nothing_goes_on_behind_a_character_that_is_a_word(made: Made, query: str, found: str) -> None:
    index = made({"a.md": "# Three\n\n如何安装\n\n# Four\n\n安何\n\n# Five\n\nC++ code\n"})
    assert [each[-len(found) :] for each in ids(index, query, merge=False)] == [found]


def test_a_beginning_stands_for_all_words_that_begin_so(made: Made) -> None:
    index = made({f"{number}.md": f"prex{number:02}x text\n" for number in range(60)} | {"other.md": "text\n"})
    assert len(index.search("pre*", limit=100, every=True)) == 60
    assert ids(index, "text -pre*", limit=100) == ["other.md"]
    assert len(index.search("title:pre* OR body:pre*", limit=100, every=True)) == 60
    assert not ids(index, "title:pre*")


@pytest.mark.parametrize(
    ("beginning", "expected"),
    [
        ("config*", ["a.md"]),
        ("configu*", ["a.md"]),
        ("configuratio*", ["a.md"]),
        ("organizat*", ["a.md"]),
        ("authenticat*", ["a.md"]),
        ("configxyz*", []),
        ("configurationx*", []),
        ("organx*", []),
    ],
)
def test_a_beginning_is_not_longer_than_the_words_that_it_stands_for(
    made: Made, beginning: str, expected: list[str]
) -> None:
    index = made({"a.md": "the configuration, authentication and organization\n"})
    assert ids(index, beginning) == expected
    assert ids(index, f"the -{beginning}") == ([] if expected else ["a.md"])


def test_a_beginning_also_stands_for_words_whose_stem_is_shorter(made: Made) -> None:
    index = made({"a.md": "an organization\n", "b.md": "an organizatoin\n", "c.md": "a garden\n"})
    assert set(ids(index, "organizat*")) == {"a.md", "b.md"}


def test_a_beginning_of_characters_stands_for_no_others(made: Made) -> None:
    index = made({"a.md": "如何安装\n", "b.md": "安装如此\n"})
    assert ids(index, "如何*") == ["a.md"]


@pytest.mark.parametrize("language", ["english", "none"])
def test_a_word_that_is_too_long_for_the_index_matches_nothing(made: Made, language: str) -> None:
    index = made({"a.md": f"the end {'z' * 200}\n"}, language=language)
    for word in ("z" * 200, f"end-{'z' * 200}", f'"end {"z" * 200}"', "é" * 100, f"body:{'z' * 200}", f"{'z' * 200}*"):
        assert index.search(f"end -({word} OR nowhere)")
    assert not index.search("z" * 200)


def test_the_best_scores_1_where_no_text_is_asked_for(made: Made) -> None:
    index = made({"a.md": "# A\n\nx\n", "b.md": "# B\n\ny\n", "other:c.md": "# C\n\nx\n"})
    for query in ("tree:docs", "tree:docs -y", "tree:d* OR tree:other"):
        found = index.search(query, merge=False)
        assert found
        assert {hit.score for hit in found} == {1.0}
        assert index.search(query, explain=True)[0].score >= 1


def test_other_pages_come_before_the_second_section_of_one(made: Made) -> None:
    one = "---\ntitle: Storage\n---\nWhat stays.\n\n" + "".join(
        f"## Volume {n}\n\nA volume of kind {n}.\n\n" for n in range(6)
    )
    one += "## Else\n\nAnother matter.\n"  # so that the page does not gather them all
    other = "# Compose\n\nFiles.\n\n## Volume elsewhere, at length\n\nWhat a volume is there, in some more words.\n\n## More\n\nOther things.\n"
    index = made({"one.md": one, "other.md": other, **{f"p{n}.md": f"# P{n}\n\nNothing.\n" for n in range(5)}})
    pages = [hit.path for hit in index.search("volume")]
    assert pages[:3] == ["one.md", "other.md", "one.md"]
    assert len(pages) == 7
    alone = [hit.path for hit in index.search("volume", merge=False)]
    assert alone[:6] == ["one.md"] * 6
    rules = [[step["rule"] for step in hit.explanation["merging"]] for hit in index.search("volume", explain=True)]
    assert ["set back" in each for each in rules] == [False] * 2 + [True] * 5


def test_a_large_section_does_not_replace_the_answer_in_it(made: Made) -> None:
    """It has all of the words, too, but the answer is a small part of it."""
    parts = "".join(f"## Part {number}\n\n" + "Something else is told here. " * 30 + "\n\n" for number in range(6))
    own = "Here are questions about a disk, a full one, space, and what is left of it, with many other words.\n\n"
    others = {f"{number}.md": "# Page\n\nOther words.\n" for number in range(9)}
    documents = {"page.md": f"# Questions\n\n{own}{parts}## Errors\n\nDisk full: space left.\n", **others}
    assert ids(made(documents), "disk full space left")[0] == "page.md#errors"
    at_any_size = made(documents, settings=SearchSettings(parent_size=0))
    assert ids(at_any_size, "disk full space left")[0] == "page.md#questions"


def test_a_smaller_limit_gives_the_beginning_of_a_larger_one(made: Made) -> None:
    many = "# A\n\n" + "## S\n\nneedle\n\n" * 49 + ("## T\n\n" + "word " * 20 + "\n\n") * 100
    few = "# B\n\n## One\n\nneedle\n\n## Two\n\nneedle " + "word " * 4 + "\n\n## T\n\nx\n\n## T\n\ny\n"
    middling = {f"c{n}.md": "# C\n\nneedle word word\n" for n in range(3)}
    index = made({"a.md": many, "b.md": few, **middling})
    ten = ids(index, "needle", limit=10)
    assert [ids(index, "needle", limit=limit) for limit in range(1, 10)] == [ten[:limit] for limit in range(1, 10)]


def test_vs_is_a_word_of_asking_only_between_others(made: Made) -> None:
    index = made({"a.md": "# Signing\n\nSign your code.\n", "b.md": "# Editors\n\nOpen it in VS Code.\n"})
    assert ids(index, "vs code")[0] == "b.md#editors"
    assert ids(index, "code vs sign")[0] == "a.md#signing"


def test_words_of_asking_shut_nothing_out(made: Made) -> None:
    index = made(
        {
            "mounts.md": "# Bind mounts\n\nWhat a bind mount is, and how volumes differ from it.\n",
            "ignored.md": "# Ignored files\n\nbind mounts volumes .vs .git\n",
        }
    )
    assert ids(index, "bind mounts vs volumes")[0] == "mounts.md#bind-mounts"
    assert ids(index, "explain the difference between bind mounts and volumes")[0] == "mounts.md#bind-mounts"


def test_links_to_other_sections_of_a_page_count_for_all_of_it(made: Made) -> None:
    page = "# Page\n\n## Needle topic\n\nAbout the needle.\n\n## Other\n\nMore.\n"
    links = {f"from{n}.md": "# From\n\nRead [that](b.md#other).\n" for n in range(3)}
    index = made({"a.md": page, "b.md": page, **links})
    assert ids(index, "needle topic")[:2] == ["b.md#needle-topic", "a.md#needle-topic"]


def test_function_words_of_a_title_do_not_outrank_the_subject(made: Made) -> None:
    other = "# What is a registry?\n\nA registry keeps images.\n\n## Create one\n\nEach in a namespace of its own.\n"
    index = made(
        {
            "registry.md": other,
            "namespaces.md": "# Namespaces\n\n## Working with namespaces\n\nA namespace is a scope for names.\n",
            **{f"p{n}.md": f"# Page {n}\n\nText number {n} is here, and it is a text.\n" for n in range(9)},
        }
    )
    assert ids(index, "what is a namespace")[0].startswith("namespaces.md")


# ----------------------------------------------------------------------------------------------------------------------
# Evidence before priors


ERROR = "Visual watcher failed: ENOSPC no space left on device, watch /srv/app"


@pytest.mark.parametrize(
    "query",
    [
        ERROR,
        "watcher failed ENOSPC no space left on device",
        'watcher failed: "ENOSPC no space left" on device',
        "watcher failed: ENOSPC no space left on device, watch /home/me/project",
    ],
)
def test_a_pasted_error_answers_with_its_section(made: Made, query: str) -> None:
    links = " ".join("[space for a watcher on a device](popular.md#watch-space)" for _ in range(3))
    index = made(
        {
            "popular.md": f"# Settings\n\n## Watch space\n\nA device, a watcher, what is left of space. {ERROR[:14]}\n",
            "errors.md": f"# Problems\n\n## Large projects\n\nIt says:\n\n    {ERROR}\n\nRaise the limit.\n\n## Other\n\nNo.\n",
            **{f"page{number}.md": f"# Page {number}\n\nSee {links}\n" for number in range(30)},
        }
    )
    assert ids(index, query)[0] == "errors.md#large-projects"


def test_a_title_of_one_word_is_worth_that_word(made: Made) -> None:
    index = made(
        {
            "launch.md": "# Launch\n\n## program\n\nThe file to start.\n\n## python\n\nThe interpreter.\n\n"
            "## args\n\nThe arguments of the program to debug, for instance a Python program with arguments.\n",
            **{f"page{number}.md": f"# Page {number}\n\nSee [how to](launch.md#program).\n" for number in range(9)},
        }
    )
    assert "launch.md#args" in ids(index, "debug a python program with arguments")[:3]


def test_a_long_name_finds_the_section_that_has_it(made: Made) -> None:
    name = "Running a Program With All of Its Arguments"
    index = made({"a.md": f"# {name}\n\nText.\n", "b.md": f"# Other\n\nSee {name}.\n"})
    assert ids(index, name)[0].startswith("a.md")
