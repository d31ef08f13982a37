"""Options: what is not possible is refused by name, with what is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import quire


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"strategy": "tre"}, ["'tre'", "did you mean 'tree'", "tree"]),
        ({"strategy": "tree", "max_tokens": 5}, ["'max_tokens'", "'tree'", "breadcrumb_mode", "tokenizer"]),
        ({"strategy": "tree", "breadcrumb": "none"}, ["did you mean 'breadcrumb_mode'"]),
        ({"breadcrumb_mode": "sometimes"}, ["breadcrumb_mode='sometimes'", "'conditional'", "'always'", "'none'"]),
        ({"slugs": "x"}, ["slugs='x'", "'github'", "'ascii'"]),
        ({"timestamps": "yes"}, ["timestamps='yes'", "True or False"]),
        ({"content_type": "a/b"}, ["content_type='a/b'"]),
        ({"content_type": ""}, ["content_type=''"]),
        ({"tree": 5, "strategy": "tree"}, ["tree=5"]),
        ({"tokenizer": "gpt5"}, ["gpt5", "o200k_base", "estimate"]),
        ({"syntax": "html"}, ["syntax", "html", "markdown", "text"]),
    ],
)
def test_refused(given: dict[str, Any], said: list[str]) -> None:
    with pytest.raises(quire.OptionError) as caught:
        quire.chunk("# A\n\nx\n", **given)
    for part in said:
        assert part in str(caught.value)


def test_a_document_has_its_own_path_and_title() -> None:
    with pytest.raises(quire.OptionError, match=r"quire\.parse"):
        quire.chunk(quire.parse("x"), title="y")


def test_bytes_are_not_text() -> None:
    with pytest.raises(TypeError, match="chunk_file"):
        quire.chunk(b"x")  # type: ignore[arg-type]


def test_options_are_kept_with_the_chunks() -> None:
    chunks = quire.chunk("# A\n\nx\n", strategy="tree", tokenizer="estimate")
    assert chunks.options.tokenizer == "estimate"
    assert chunks[0].metadata["chunkingOptions"]["tokenizer"] == "estimate"
    assert chunks.options.fingerprint() == quire.chunk("y", strategy="tree", tokenizer="estimate").options.fingerprint()
    assert chunks.options.fingerprint() != quire.chunk("y", strategy="tree").options.fingerprint()


def test_time_stamps_only_when_asked_for() -> None:
    assert "processedAt" not in quire.chunk("x")[0].metadata
    metadata = quire.chunk("x", timestamps=True)[0].metadata
    assert metadata["processedAt"].endswith("Z")
    assert metadata["pipeline"]["processingTimeMs"] >= 0


def test_a_message_shows_only_the_start_of_a_long_value() -> None:
    for given in ({"strategy": "x" * 10_000}, {"tokenizer": "x" * 10_000}, {"breadcrumb_mode": "x" * 10_000}):
        with pytest.raises(quire.OptionError) as refused:
            quire.chunk("text", **given)
        assert len(str(refused.value)) < 600


@pytest.mark.parametrize("given", [{"strategy": None}, {"strategy": 3}, {"path": 3}, {"title": 3}, {"title": b"x"}])
def test_what_is_no_text_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(quire.OptionError, match=f"{next(iter(given))}"):
        quire.chunk("# a\n\nb", **given)


@pytest.mark.parametrize(
    ("good", "equal"), [({"hard_cap": 64}, 64.0), ({"merge_siblings": True}, 1), ({"min_tokens": 1}, True)]
)
def test_an_equal_value_of_another_type_is_refused_whatever_came_before(good: dict[str, Any], equal: object) -> None:
    quire.chunk("text", **good)
    with pytest.raises(quire.OptionError, match="is not possible"):
        quire.chunk("text", **dict.fromkeys(good, equal))


def test_an_option_of_another_strategy_says_whose_it_is() -> None:
    with pytest.raises(
        quire.OptionError, match=r"one of 'flow' and 'sections', not of strategy 'packed' .packed calls it 'hard_cap'"
    ):
        quire.chunk("text", max_tokens=256)


def test_a_path_may_be_a_path() -> None:
    assert quire.chunk("# a\n\nb", path=Path("x") / "a.md")[0].id == quire.chunk("# a\n\nb", path="x/a.md")[0].id
