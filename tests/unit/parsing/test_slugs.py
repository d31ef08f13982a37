"""Slugs: the ASCII ones in ids, GitHub's for links, and no two equal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.parsing.slugs import anchors, ascii_slug, github_slug, unique_slugs


@pytest.mark.parametrize(
    ("title", "in_ids", "on_github"),
    [
        ("Getting Started", "getting-started", "getting-started"),
        ("A  B - C", "a-b-c", "a--b---c"),
        ("snake_case & more!", "snake_case-more", "snake_case--more"),
        ("Überblick", "berblick", "überblick"),
        ("数据", "heading", "数据"),
        ("🚀 Launch", "launch", "-launch"),
        ("हिन्दी", "heading", "हिन्दी"),
        ("24/7 Support", "247-support", "247-support"),
        ("-- edge --", "edge", "---edge---"),
        ("???", "heading", ""),
        ("", "heading", ""),
        ("tab\tbed", "tab-bed", "tabbed"),
        ("Area in m²", "area-in-m", "area-in-m"),
        ("H₂O", "ho", "ho"),
        ("½ cup, ¼ spoon", "cup-spoon", "-cup--spoon"),
        ("① First ⑴ ⓪ ❷ ㊿", "first", "-first----"),
        ("Ⓔ ⓘ 🄺 🅙 🅻", "heading", "ⓔ-ⓘ-🄺-🅙-🅻"),
        ("⒪ 🄛 🆚", "heading", "--"),
        ("Louis Ⅳ", "louis", "louis-ⅳ"),
        ("١٢ १२", "heading", "١٢-१२"),
        ("a‿b ⃝ en–dash «x»", "ab-endash-x", "a‿b-⃝-endash-x"),
        ("ª µ ǅ ﬀ", "heading", "ª-µ-ǆ-ﬀ"),
        ("no\u200djoin \ue000 \u0378", "nojoin", "nojoin--"),
    ],
)
def test_rules(title: str, in_ids: str, on_github: str) -> None:
    assert unique_slugs([title], [""]) == ([in_ids], [on_github])


def test_numbers_that_are_no_digits_are_left_out_on_github() -> None:
    """As GitHub's own anchors show: of the numbers, decimal digits and Roman ones stay."""
    kept = {char for char in map(chr, range(0x20000)) if github_slug(char)}
    numbers = {char for char in map(chr, range(0x20000)) if unicodedata.category(char) == "No"}
    assert numbers
    assert not kept & numbers


@given(st.text(alphabet=st.sampled_from("aB1_- .\t\né漢!"), max_size=12))
def test_both_at_once_is_each_by_itself(title: str) -> None:
    assert unique_slugs([title], [""]) == ([ascii_slug(title)], [github_slug(title)])


@given(st.lists(st.sampled_from(["a", "a-1", "a-2", "a-1-1", "A", "!", "heading", "heading-1"]), max_size=30))
def test_no_two_are_equal(titles: list[str]) -> None:
    document = quire.parse("".join(f"# {title}\n\ntext\n\n" for title in titles))
    ids = [section.slug for section in document.sections[1:]]
    anchors = [section.anchor for section in document.sections[1:]]
    assert len(set(ids)) == len(ids) == len(titles)
    assert len(set(anchors)) == len(anchors)


def test_a_taken_slug_gets_the_next_free_suffix() -> None:
    document = quire.parse("# a\n\n# a-1\n\n# a\n\n# a\n\ntext\n")
    assert [section.slug for section in document.sections[1:]] == ["a", "a-1", "a-2", "a-3"]


@pytest.mark.parametrize(
    ("rule", "title", "anchor"),
    [
        ("docusaurus", "What's new in 3.4?", "whats-new-in-34"),
        ("hugo", "What's new in 3.4?", "whats-new-in-34"),
        ("blackfriday", "What's new in 3.4? Déjà_vu", "what-s-new-in-3-4-déjà-vu"),
        ("gitbook", "`--level=<low|high>` & more", "level-less-than-low-or-high-greater-than-and-more"),
        ("mkdocs", ":material-android: Android", "android"),
        ("pymdownx", ":material-android: a::b:c", "abc"),
        ("vitepress", "What's new in 3.4?", "what-s-new-in-3-4"),
        ("vitepress", "Déjà vu", "deja-vu"),
        ("vitepress", "404 page", "_404-page"),
        ("mkdocs", "Déjà vu -- more", "deja-vu-more"),
        ("pymdownx", "Déjà vu -- more", "déjà-vu----more"),
        ("kramdown", "1. Déjà vu", "dj-vu"),
        ("sphinx", "What's new in 3.4?", "what-s-new-in-3-4"),
        ("underscore", "The value property", "the_value_property"),
    ],
)
def test_rules_of_generators(rule: str, title: str, anchor: str) -> None:
    assert anchors(rule, [title], [""]) == [anchor]


def test_each_rule_numbers_in_its_own_way() -> None:
    titles, ids = ["A", "A", "A", "B"], ["", "", "", "own"]
    assert anchors("github", titles, ids) == ["a", "a-1", "a-2", "own"]
    assert anchors("mkdocs", titles, ids) == ["a", "a_1", "a_2", "own"]
    assert anchors("underscore", titles, ids) == ["a", "a_2", "a_3", "own"]
