"""What a hit marks in its text, and how it says that it came about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import quire
from quire.search.index_api import Index


def indexed(folder: Path, documents: Mapping[str, str]) -> Index:
    """An index of documents given by path and text."""
    docs = folder / "docs"
    docs.mkdir()
    for path, text in documents.items():
        (docs / path).write_text(text, encoding="utf-8")
    index = Index.open(folder / "index")
    index.update({"docs": docs})
    return index


def marked(folder: Path, text: str, query: str) -> list[str]:
    """What is marked in the only hit."""
    [hit] = indexed(folder, {"a.md": f"# Title\n\n{text}\n"}).search(query)
    return [hit.text[start:end] for start, end in quire.match_ranges(hit, query)]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        pytest.param("数据库连接池的配置方法。", "连接配置", ["连接", "配置"], id="Chinese"),
        pytest.param("数据库连接池的配置方法。", "配置连接", ["连接", "配置"], id="in another order"),
        pytest.param("数据库连接池", "连接池配", ["连接池"], id="pairs that overlap are one"),
        pytest.param("接池 连接池配 池配", "连接池配 图", ["接池", "连接池配", "池配"], id="beside a word that is missing"),
        pytest.param("เครื่องมือสำหรับติดตั้งโปรแกรม", "เครื่องติดตั้ง", ["เครื่อง", "ติดตั้ง"], id="Thai"),
        pytest.param("Only 1.0.21 and v1.0.2.", "1.0.1", ["1.0", "v1.0"], id="a version"),
        pytest.param("The my_name and my_var.", "my_var_x", ["my", "my", "var"], id="a name"),
    ],
)  # fmt: skip
def test_what_matches_in_part_is_marked(tmp_path: Path, text: str, query: str, expected: list[str]) -> None:
    assert marked(tmp_path, text, query) == expected


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        pytest.param("数据和数据库", "数据库", ["数据", "数据库"], id="Chinese"),
        pytest.param("Since 1.0.2: fixed in 1.0.21.", "1.0.21", ["1.0", "1.0.21"], id="a version"),
        pytest.param("Fixed in v1.0.21.", "1.0.21", ["v1.0.21"], id="a version without its v"),
        pytest.param("Fixed in 1.0.21.", "v1.0.21", ["1.0.21"], id="a version with a v"),
        pytest.param("Fixed in 1.0.21.", "1.0", ["1.0"], id="the beginning of a version"),
        pytest.param("Fixed in 1.0.21.", "v1.0", ["1.0"], id="the beginning of a version with a v"),
        pytest.param("Fixed in 1.0.21.", "21", ["21"], id="the end of a version"),
        pytest.param("You don't, you don’t.", "don't", ["don't", "don’t"], id="an apostrophe"),
        pytest.param("You don't, you don’t.", "don’t", ["don't", "don’t"], id="a curved apostrophe"),
        pytest.param("You don't.", '"don\'t"', ["don't"], id="an apostrophe in quotes"),
        pytest.param("The user's name, two users.", "user's", ["user's", "users"], id="with and without an ending"),
        pytest.param("Author, authority, authored.", "author*", ["Author", "authority", "authored"], id="a beginning"),
        pytest.param("Un peu d'eau, des eaux, l'eau.", "l'eau", ["eau", "l'eau"], id="an article"),
    ],
)  # fmt: skip
def test_what_matches_wholly_is_marked_so(tmp_path: Path, text: str, query: str, expected: list[str]) -> None:
    assert marked(tmp_path, text, query) == expected


def test_a_version_is_not_found_in_a_longer_number(tmp_path: Path) -> None:
    index = indexed(tmp_path, {"a.md": "# Two\n\nSince 1.0.2.\n", "b.md": "# Twenty-one\n\nSince 1.0.21.\n"})
    assert index.search("1.0.2")[0].id == "docs:a.md#two"


def test_every_score_that_merging_adds_up_is_told(tmp_path: Path) -> None:
    """One of the five sections below the title gathers two itself."""
    sections = "".join(f"## {name}\n\nA needle{' in hay' * number}.\n\n" for number, name in enumerate("ABCD"))
    text = f"# Top\n\nText.\n\n{sections}## E\n\nText.\n\n### F\n\nA needle.\n\n### G\n\nOne more needle.\n"
    [hit] = indexed(tmp_path, {"a.md": text}).search("needle", explain=True)
    scores = {each["id"]: each["score"] for each in hit.explanation["scores"]}
    assert list(scores) == list(hit.constituents)
    assert sorted(scores) == [f"docs:a.md#{name}" for name in ("a", "b", "c", "d", "f", "g")]
    assert all(each["words"] for each in hit.explanation["scores"])
    inner, outer = (step for step in hit.explanation["merging"] if step["rule"] == "aggregated")
    assert inner["total"] == pytest.approx(scores["docs:a.md#f"] + scores["docs:a.md#g"], abs=1e-5)
    others = sum(scores[f"docs:a.md#{name}"] for name in "abcd")
    assert outer["total"] == pytest.approx(others + inner["score"], abs=1e-5)


def test_a_step_of_merging_names_sections_by_their_place_in_the_outline(tmp_path: Path) -> None:
    index = indexed(tmp_path, {"a.md": "# Top\n\nText.\n\n## A\n\nA needle.\n\n## B\n\nA needle.\n"})
    [hit] = index.search("needle", explain=True)
    outline = index.outline("a.md")
    step = hit.explanation["merging"][0]
    assert outline[step["position"]].id == hit.id
    assert [outline[position].id for position in step["replaced"]] == ["docs:a.md#a", "docs:a.md#b"]
