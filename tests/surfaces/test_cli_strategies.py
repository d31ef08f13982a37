"""The options of every strategy as flags: they reach the strategy, and what is impossible is refused first."""

from __future__ import annotations

import pytest
from outputs import cut, left, lines, refused, written

from quire.model.options import ALIASES, STRATEGIES, own_names
from quire.model.validation import fields

WRONG = [
    (["--hard-cap", "5"], ["--max-tokens=5 is invalid: must be a whole number, at least 32"]),
    (["--hard-cap", "x"], ["'x' is not a valid integer"]),
    (["--hard-cap", "99999999999"], ["--max-tokens=99999999999 is invalid"]),
    (["--min-tokens", "600", "--hard-cap", "1024"], ["--min-tokens=600 is invalid", "half of --max-tokens=1024"]),
    (["--min-tokens", "-1"], ["at least 0"]),
    (["--target", "0"], ["at least 1"]),
    (["--target", "1025"], ["at most", "1024"]),
    (["--max-depth", "2"], ["'packed'"]),
    (["--overlap-sentences", "1"], ["'packed'"]),
    (["--no-normalize"], ["'packed'"]),
    (["--guard", "drop"], ["'packed'"]),
    (["--tree", "t"], ["'packed'"]),
    (["-s", "flow", "--max-tokens", "31"], ["at least 32"]),
    (["-s", "flow", "--max-tokens", "100", "--min-tokens", "51"], ["half of"]),
    (["-s", "flow", "--max-tokens", "100", "--target-tokens", "101"], ["at most"]),
    (["-s", "flow", "--overlap-sentences", "-1"], ["from 0 to 100"]),
    (["-s", "flow", "--guard", "nope"], ["'raise', 'drop', 'warn'"]),
    (["-s", "flow", "--no-merge-siblings"], ["'flow'"]),
    (["-s", "sections", "--max-depth", "7"], ["from 1 to 6"]),
    (["-s", "sections", "--max-depth", "0"], ["from 1 to 6"]),
    (["-s", "sections", "--target", "100"], ["'sections'"]),
    (["-s", "tree", "--min-tokens", "10"], ["'tree'"]),
    (["-s", "tree", "--hard-cap", "1024"], ["'tree'"]),
]


@pytest.mark.parametrize("output", [None, "out", "x.jsonl", "x.parquet"])
@pytest.mark.parametrize(("options", "named"), WRONG, ids=[" ".join(options) for options, _ in WRONG])
def test_wrong_sizes_are_refused_before_anything_is_written(run, source, tmp_path, options, named, output) -> None:
    if output is not None and "." in output:
        (tmp_path / output).write_bytes(b"old")
    before = left(tmp_path)
    result = run("chunk", *options, *([] if output is None else ["-o", tmp_path / output]), source)
    said = refused(result)
    assert all(name in said for name in named)
    assert left(tmp_path) == before
    assert output is None or "." not in output or (tmp_path / output).read_bytes() == b"old"


@pytest.mark.parametrize(("options", "named"), WRONG, ids=[" ".join(options) for options, _ in WRONG])
def test_wrong_sizes_are_refused_by_verify_too(run, source, options, named) -> None:
    said = refused(run("verify", *options, source))
    assert all(name in said for name in named)


OPTIONS = [
    ("packed", ["--target", "100", "--hard-cap", "200", "--min-tokens", "10"],
     {"target": 100, "hard_cap": 200, "min_tokens": 10}),
    ("packed", ["--hard-cap", "64"], {"hard_cap": 64}),
    ("packed", ["--no-merge-siblings"], {"merge_siblings": False}),
    ("packed", ["--join-tokens", "900"], {"join_tokens": 900}),
    ("packed", ["--breadcrumb", "always", "--title", "T", "--content-type", "c"],
     {"breadcrumb_mode": "always", "title": "T", "content_type": "c"}),
    ("packed", ["-t", "estimate", "--syntax", "text"], {"tokenizer": "estimate", "syntax": "text"}),
    ("flow", ["--max-tokens", "128", "--overlap-sentences", "1", "--no-normalize", "--guard", "drop", "--overlap", "always"],
     {"max_tokens": 128, "overlap_sentences": 1, "normalize": False, "guard": "drop", "overlap": "always"}),
    ("flow", ["--target-tokens", "80", "--min-tokens", "20", "--overlap-sentences", "0"],
     {"target_tokens": 80, "min_tokens": 20, "overlap_sentences": 0}),
    ("flow", ["--no-normalize", "--max-tokens", "64", "--min-tokens", "1"],
     {"normalize": False, "max_tokens": 64, "min_tokens": 1}),
    ("flow", ["-t", "cl100k_base", "--breadcrumb", "none"], {"tokenizer": "cl100k_base", "breadcrumb_mode": "none"}),
    ("sections", ["--min-tokens", "0", "--max-tokens", "300"], {"min_tokens": 0, "max_tokens": 300}),
    ("sections", ["--max-depth", "6", "--min-tokens", "1"], {"max_depth": 6, "min_tokens": 1}),
    ("sections", ["-t", "o200k_base", "--slugs", "ascii"], {"tokenizer": "o200k_base", "slugs": "ascii"}),
    ("tree", ["--tree", "t", "--slugs", "ascii"], {"tree": "t", "slugs": "ascii"}),
    ("tree", ["--breadcrumb", "none", "-t", "estimate"], {"breadcrumb_mode": "none", "tokenizer": "estimate"}),
]  # fmt: skip
IDS = [" ".join([strategy, *flags]) for strategy, flags, _ in OPTIONS]


def test_every_option_of_every_strategy_is_among_these() -> None:
    for strategy in STRATEGIES:
        tried = {ALIASES.get(name, name) for each, _, options in OPTIONS if each == strategy for name in options}
        assert set(own_names(strategy)) <= tried


@pytest.mark.parametrize(("strategy", "flags", "options"), OPTIONS, ids=IDS)
def test_flags_give_what_the_library_gives(run, source, tmp_path, strategy, flags, options) -> None:
    result = run("chunk", "-s", strategy, *flags, source)
    assert result.code == 0
    expected = [chunk.to_dict() for chunks in cut(source, strategy, **options) for chunk in chunks]
    assert lines(result.out) == expected
    texts = [(each["id"], each["embedText"], each["headerSlugs"], each["tokenStats"]) for each in expected]
    plain = [chunk.to_dict() for chunks in cut(source, strategy) for chunk in chunks]
    assert texts != [(each["id"], each["embedText"], each["headerSlugs"], each["tokenStats"]) for each in plain]
    assert run("chunk", "-s", strategy, *flags, "-o", tmp_path / "x.jsonl", source).code == 0
    assert (tmp_path / "x.jsonl").read_bytes() == result.out


@pytest.mark.parametrize(("strategy", "flags", "options"), OPTIONS, ids=IDS)
def test_the_laws_hold_with_flags(run, source, strategy, flags, options) -> None:
    result = run("verify", "-s", strategy, *flags, source)
    assert (result.code, result.out) == (0, b"")
    assert result.err.endswith("\nall laws hold\n")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_flags_that_say_the_defaults_change_nothing(run, source, strategy) -> None:
    flags: list[str] = []
    for name in own_names(strategy):
        value = fields(STRATEGIES[strategy])[name].default
        flag = f"--{name.replace('_', '-')}"
        flags += [flag] if value is True else [flag, str(value)] if value is not None else []
    assert run("chunk", "-s", strategy, *flags, source) == run("chunk", "-s", strategy, source)


NOT_WORTH_IT = {"in/good.md": "Some text.\n", "in/rule.md": "---\n\n***\n"}


@pytest.mark.parametrize(("guard", "code", "count"), [("warn", 0, 2), ("drop", 0, 1), ("raise", 2, 1)])
def test_guard(run, docs, tmp_path, guard, code, count) -> None:
    docs(NOT_WORTH_IT)
    result = run("chunk", "-s", "flow", "--guard", guard, "-o", tmp_path / "out", tmp_path / "in")
    assert result.code == code
    assert len(written(tmp_path / "out")) == count
    assert "doc_good__ch0.json" in written(tmp_path / "out")
    assert f"{tmp_path}/in/rule.md:" in result.err
    assert "not worth embedding (formatting-only)" in result.err


def test_guard_that_refuses_does_not_say_kept(run, docs, tmp_path) -> None:
    docs(NOT_WORTH_IT)
    result = run("chunk", "-q", "-s", "flow", "--guard", "raise", "-o", tmp_path / "out", tmp_path / "in")
    assert "kept" not in result.err
    assert result.err.count("rule.md") == 1
