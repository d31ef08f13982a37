"""What the search can be told: the same limits in Python as in a file, one clear line for anything else."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from quire.errors import OptionError
from quire.search import argument_checks
from quire.search.ranking_settings import SearchSettings


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
        ("boosts", {3: 3}),
    ],
)
def test_what_is_not_possible_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=f"^{name}.*; ") as caught:
        SearchSettings(**{name: value})
    assert "\n" not in str(caught.value)
    assert caught.value.option.partition(".")[0] == name


def test_an_unknown_field_is_told_with_those_that_there_are() -> None:
    with pytest.raises(OptionError) as caught:
        SearchSettings(boosts={"titel": 3})
    said = "boosts: there is no field 'titel' (did you mean title?); the fields are title, headings, body, links, "
    assert str(caught.value) == f"{said}description, file, folder, tags"


def test_what_is_possible_is_taken() -> None:
    made = SearchSettings(boosts={"title": 0, "tags": 1000}, aggregation_threshold=1, min_aggregation_matches=1, tie=0)
    assert (made.boosts["tags"], made.aggregation_threshold, made.tie) == (1000, 1, 0)
    assert argument_checks.search_settings("settings", made) is made
    assert argument_checks.search_settings("settings", None) == SearchSettings()


@pytest.mark.parametrize("value", [{}, {"boosts": {"title": 3}}, 0, "x"])
def test_settings_are_of_their_own_kind(value: Any) -> None:
    with pytest.raises(OptionError, match=r"^settings=.*; it must be quire\.search\.ranking_settings\.SearchSettings$"):
        argument_checks.search_settings("settings", value)
