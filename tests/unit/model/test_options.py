"""Options of cutting: each is declared once, an invalid one is refused by name, and sizes have one name."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.model.options import ALIASES, STRATEGIES, ChunkOptions, build, declaration, within_window
from quire.model.validation import fields


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"strategy": "tre"}, ["unknown strategy 'tre' (did you mean 'tree'?)", "'packed'"]),
        (
            {"strategy": "tree", "max_tokens": 5},
            ["'packed' and 'flow' and 'sections', not of strategy 'tree'", "valid: "],
        ),
        ({"strategy": "tree", "breadcrumb": "none"}, ["unknown option breadcrumb (did you mean breadcrumb_mode?)"]),
        (
            {"maxtokens": 99},
            ["unknown option maxtokens (did you mean max_tokens?); valid: title, path, syntax, max_tokens"],
        ),
        ({"max_tokens": 5}, ["max_tokens=5 is invalid: must be a whole number, at least 32"]),
        ({"hard_cap": 5}, ["hard_cap=5 is invalid: must be a whole number, at least 32"]),
        ({"max_tokens": 99, "hard_cap": 99}, ["hard_cap and max_tokens are two names of one option; give one of them"]),
        ({"strategy": "flow", "hard_cap": 64}, ["one of 'packed', not of strategy 'flow' (flow calls it max_tokens)"]),
        ({"strategy": "tree", "target": 64}, ["option target is one of 'packed', not of strategy 'tree'; valid"]),
        ({"max_tokens": 64, "target_tokens": 65}, ["target_tokens=65", "target_tokens may be at most max_tokens=64"]),
        ({"max_tokens": 64, "join_tokens": 65}, ["join_tokens=65", "join_tokens may be at most max_tokens=64"]),
        ({"hard_cap": 64, "target": 65}, ["target=65", "target may be at most hard_cap=64"]),
        ({"max_tokens": 64, "min_tokens": 33}, ["min_tokens=33", "at most half of max_tokens=64"]),
        ({"breadcrumb_mode": "sometimes"}, ["breadcrumb_mode='sometimes'", "one of 'conditional', 'always', 'none'"]),
        ({"slugs": "x"}, ["slugs='x'", "'github'", "'ascii'"]),
        ({"timestamps": "yes"}, ["timestamps='yes'", "true or false"]),
        ({"content_type": "a/b"}, ["content_type='a/b' is invalid: must be a name of letters, digits"]),
        ({"content_type": ""}, ["content_type=''"]),
        ({"tree": 5, "strategy": "tree"}, ["tree=5"]),
        ({"tokenizer": "gpt5"}, ["gpt5", "o200k_base", "estimate"]),
        ({"syntax": "html"}, ["syntax", "html", "markdown", "text"]),
    ],
)
def test_refused(values: dict[str, Any], said: list[str]) -> None:
    with pytest.raises(quire.OptionError) as caught:
        quire.chunk("# A\n\nx\n", **values)
    for part in said:
        assert part in str(caught.value)


def test_other_names_of_sizes_are_the_same_options() -> None:
    text = "".join(f"# {number}\n\n{'word ' * 60}\n\n" for number in range(20))
    chunks = quire.chunk(text, hard_cap=128, target=96)
    assert chunks == quire.chunk(text, max_tokens=128, target_tokens=96)
    assert {name: value for name, value in chunks.options.to_dict().items() if "tokens" in name} == {
        "max_tokens": 128, "target_tokens": 96, "min_tokens": 64,
    }  # fmt: skip


def test_sizes_that_were_not_chosen_fit_the_cap() -> None:
    assert quire.chunk("x", max_tokens=100).options.to_dict()["target_tokens"] == 100
    assert quire.chunk("x", max_tokens=100).options.to_dict()["min_tokens"] == 50


def test_every_option_is_in_the_signature_and_in_the_help() -> None:
    names = {name for kind in STRATEGIES.values() for name in kind.__struct_fields__}
    assert set(ChunkOptions.__annotations__) == {*names, *ALIASES} - {"tokenizer"}


def test_the_help_of_chunk_lists_options_as_the_command_line_does() -> None:
    names = dict.fromkeys(name for kind in STRATEGIES.values() for name in fields(kind) if name != "tokenizer")
    declared = {name: declaration(name) for name in names}
    expected = [f"{name}: {field.meaning}{defaults}" for name, (field, defaults) in declared.items()]
    listed = re.compile(r"(?<=The other options:\n\n).*?(?=\n\n)", re.DOTALL)
    file = Path(inspect.getsourcefile(quire.chunk) or "")
    if os.environ.get("QUIRE_UPDATE_DOCS"):
        file.write_text(
            listed.sub("\n".join(f"    {line}" for line in expected), file.read_text("utf-8"), count=1), "utf-8"
        )
    elif (found := listed.search(inspect.getdoc(quire.chunk) or "")) is not None:
        assert found[0].splitlines() == expected, "run make docs"
    else:
        pytest.fail("no list of options")


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
    assert chunks.options == quire.chunk("y", strategy="tree", tokenizer="estimate").options
    assert chunks.options != quire.chunk("y", strategy="tree").options


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
    ("good", "equal"), [({"max_tokens": 64}, 64.0), ({"merge_siblings": True}, 1), ({"min_tokens": 1}, True)]
)
def test_an_equal_value_of_another_type_is_refused_whatever_came_before(good: dict[str, Any], equal: object) -> None:
    quire.chunk("text", **good)
    with pytest.raises(quire.OptionError, match="is invalid"):
        quire.chunk("text", **dict.fromkeys(good, equal))


def test_a_path_may_be_a_path() -> None:
    assert quire.chunk("# a\n\nb", path=Path("x") / "a.md")[0].id == quire.chunk("# a\n\nb", path="x/a.md")[0].id


@pytest.mark.parametrize(
    ("values", "sizes"),
    [
        ({}, (1024, 256, 96)),
        ({"min_tokens": 0}, (1024, 256, 96)),
        ({"max_tokens": 1024}, (1024, 512, 1024)),
        ({"hard_cap": 300}, (300, 300, 300)),
        ({"target": 100}, (1024, 100, 1024)),
        ({"max_tokens": 300, "join_tokens": 50}, (300, 256, 50)),
        (within_window({}, 128), (128, 128, 96)),
        (within_window({"join_tokens": 32}, 64), (64, 64, 32)),
        (within_window({"max_tokens": 512}, 64), (512, 512, 512)),
    ],
)
def test_a_size_packs_sections_up_to_the_cap(values: dict[str, Any], sizes: tuple[int, int, int]) -> None:
    options: Any = build("packed", values)
    assert (options.max_tokens, options.target_tokens, options.join_tokens) == sizes
    written = options.to_dict()
    assert ("join_tokens" in written) == (options.join_tokens != options.max_tokens)
    assert build(written.pop("strategy"), written) == options
