"""What share of a query a node itself satisfies, as the steps of merging tell it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quire.search.hit import Results
from quire.search.index_api import Index
from quire.search.search_settings import SearchSettings

_WORDS = [f"{first}o{second}um" for first in "bdfgklm" for second in "bdfgkl"]
"""Words that are their own stems."""


def searched(folder: Path, text: str, query: str) -> Results:
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text(text, encoding="utf-8")
    index = Index.open(folder / "index", settings=SearchSettings(match_cutoff=0))
    index.update({"docs": folder / "docs"})
    return index.search(query, explain=True, every=True)


def parent(results: Results) -> dict[str, Any]:
    """The step by which the first node takes the place of what is below it."""
    [step] = [step for step in results[0].explanation["merging"] if step["rule"] == "parent"]
    return dict(step)


@pytest.mark.parametrize("number", [2, 12, 13, 24, 25, 40], ids=lambda number: f"{number} words")
def test_each_word_has_its_part_however_many_there_are(tmp_path: Path, number: int) -> None:
    words = _WORDS[:number]
    inherited, *others = words
    text = f"# {inherited}\n\nText: {' '.join(others)}.\n\n## Below\n\nText: {' '.join(others)}.\n"
    results = searched(tmp_path, text, " ".join(words))
    assert parent(results)["own"] == pytest.approx(0.99 + 0.01 / number, abs=1e-5)
    assert parent(results)["best_own"] == pytest.approx(0.99 * (number - 1) / number, abs=1e-5)


@pytest.mark.parametrize("heading", [0, 11, 12, 19], ids=lambda heading: f"word {heading}")
def test_each_word_counts_as_itself(tmp_path: Path, heading: int) -> None:
    words = _WORDS[:20]
    *others, last = [word for word in words if word != words[heading]]
    text = f"# Above {last}\n\nText: {' '.join(words)}.\n\n## {words[heading]}\n\nText: {' '.join(others)}.\n"
    results = searched(tmp_path, text, " ".join(words).replace(words[heading], f"{words[heading]}^2"))
    assert parent(results)["own"] == pytest.approx(0.99 + 0.01 / 21, abs=1e-5)
    assert parent(results)["best_own"] == pytest.approx(0.99 * 20 / 21 + 0.01 * 2 / 21, abs=1e-5)


def test_the_parts_of_a_name_may_stand_in_heading_and_text(tmp_path: Path) -> None:
    results = searched(tmp_path, "# Bobum\n\nA bodum.\n\n## Below\n\nThe bobum_bodum.\n", "bobum_bodum")
    assert (parent(results)["own"], parent(results)["best_own"]) == (0.99, 0.99)


def test_a_phrase_must_stand_in_one_of_them(tmp_path: Path) -> None:
    text = "# Bobum\n\nBodum, and the bobum bodum.\n\n## Bobum bodum\n\nText.\n"
    results = searched(tmp_path, text, '"bobum bodum"')
    assert [(step["rule"], step["own"], step["best_own"]) for step in results[0].explanation["merging"]] == [
        ("passed over", 0.99, 1.0),
        ("apart", 0.99, 1.0),
    ]


def test_what_asks_for_no_text_is_satisfied_by_all(tmp_path: Path) -> None:
    results = searched(tmp_path, "# Bobum\n\nText.\n\n## Below\n\nText.\n", "path:a")
    steps = [step for step in results[0].explanation["merging"] if step["rule"] == "parent"]
    assert {(step["own"], step["best_own"]) for step in steps} == {(1.0, 1.0)}


def test_a_part_of_a_name_counts_as_a_part(tmp_path: Path) -> None:
    """All of it matches: a part here, and the other one further up."""
    below = "".join(
        f"## {name}\n\nA {word}.\n\n" for name, word in zip("ABCD", ("bodum", "bodum", "", ""), strict=True)
    )
    results = searched(tmp_path, f"# Bobum\n\nText.\n\n{below}", "bobum_bodum")
    steps = [step for hit in results for step in hit.explanation["merging"]]
    assert {step["best_own"] for step in steps if step["best_own"]} == {round(0.99 / 2, 5)}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("# Windows 11\n\nText.\n", "windows12"),
        ("# Version 1.0.21\n\nText.\n", "1.0.1"),
        ("# 网络\n\nText.\n", "网络代理"),
        ("# Volumes\n\nText.\n", "volumes-nowhere"),
        ("# Volumes\n\nText.\n", "(volumes nowhere) OR (nothing neither)"),
    ],
    ids=["word and number", "version", "characters", "name", "group"],
)
def test_what_is_said_in_part_is_not_lost_where_parts_are_enough(tmp_path: Path, text: str, query: str) -> None:
    results = searched(tmp_path, text, query)
    alone = Index.open(tmp_path / "index").search(query, merge=False, every=True)
    assert len(alone) == 2
    assert [(hit.id, hit.score) for hit in results] == [(alone[0].id, 1.0)]


def test_a_sign_without_a_term_has_no_part(tmp_path: Path) -> None:
    results = searched(tmp_path, "# Bobum\n\nA bodum.\n\n## Below\n\nThe bodum.\n", "≥ bodum")
    assert parent(results)["own"] == pytest.approx(0.99 / 2, abs=1e-5)
