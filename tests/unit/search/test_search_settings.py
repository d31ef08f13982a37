"""What the search can be told: the same limits in Python as in a file, one clear line for anything else."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.errors import OptionError
from quire.search.search_settings import Boosts, SearchSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("aggregation_threshold", "x"),
        ("aggregation_threshold", 2),
        ("min_aggregation_matches", 0),
        ("min_aggregation_matches", 1.5),
        ("score_cap_multiplier", 0.5),
        ("score_cap_multiplier", inf),
        ("tie", -1),
        ("tie", True),
        ("adjacent", "x"),
        ("adjacent", None),
        ("stub_tokens", 1.5),
        ("per_document", -1),
        ("parent_rule", "all"),
        ("parent_rule", ["any"]),
        ("boosts", {"title": nan}),
        ("boosts", {"title": -1}),
        ("boosts", {"title": "3"}),
        ("boosts", None),
        ("boosts", {"titel": 3}),
    ],
)
def test_an_invalid_value_is_refused_by_name(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=f"^(unknown setting )?{name}") as caught:
        quire.Index.open(tmp_path, settings=SearchSettings(**{name: value}))
    assert "\n" not in str(caught.value)


def test_an_unknown_field_is_told_with_those_that_there_are() -> None:
    with pytest.raises(OptionError) as caught:
        SearchSettings.checked(SearchSettings(boosts={"titel": 3}))  # type: ignore[arg-type]
    said = "unknown setting boosts.titel (did you mean boosts.title?); valid: boosts.title, boosts.headings, "
    assert str(caught.value).startswith(said)


def test_boosts_may_be_a_dict() -> None:
    settings = SearchSettings(boosts={"title": 0, "tags": 1000}, tie=0)  # type: ignore[arg-type]
    checked = SearchSettings.checked(settings)
    assert checked == SearchSettings(boosts=Boosts(title=0, tags=1000), tie=0)
    assert SearchSettings.checked(checked) == checked
    assert SearchSettings.checked(None) == SearchSettings()


def test_one_word_sets_the_rules_of_the_specification(tmp_path: Path) -> None:
    letter = {"match_cutoff": 0.0, "parent_rule": "any", "per_document": 0, "boosts": Boosts(headings=0.0)}
    assert SearchSettings.checked(SearchSettings(rules="ra")) == SearchSettings(rules="ra", **letter)  # type: ignore[arg-type]
    assert SearchSettings.checked(SearchSettings(rules="quire")) == SearchSettings()
    with pytest.raises(OptionError, match=r"^rules"):
        quire.Index.open(tmp_path, settings=SearchSettings(rules="s3"))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [{}, {"boosts": {"title": 3}}, 0, "x"])
def test_settings_are_of_their_own_kind(value: Any) -> None:
    with pytest.raises(OptionError, match=r"^settings=.* must be quire\.search\.search_settings\.SearchSettings$"):
        SearchSettings.checked(value)
