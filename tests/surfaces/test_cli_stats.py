"""``quire stats``: strategies side by side, in figures."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import fmean, median

import pytest
from processes import terminal

import quire
from quire.model.options import STRATEGIES

ROOT = Path(__file__).parents[2]
SMALL = "# A\n\none two\n\n## B\n\nthree four five six\n\n## C\n\n## D\n\nx\n"
PROSE = "# Long\n\n" + "".join(f"This is sentence number {n} of a text without end. " for n in range(300)) + "\n"


def figures(result, strategy):
    return json.loads(result.out)["strategies"][strategy]


def row(result, label) -> list[str]:
    """What the table says in a row."""
    (line,) = [line for line in result.out.decode().splitlines() if line.strip().startswith(f"{label} ")]
    return line.strip().removeprefix(label).split()


def test_figures_by_hand(run, docs) -> None:
    """`tree` makes three chunks: `A¶¶one two` (10 characters, 3 added), `A > B¶¶three four five six` (26, 7 added) and
    `A > D¶¶x` (8, 7 added); the estimate is a quarter of the characters, rounded up: 3, 7 and 2.
    """
    result = run("stats", "--json", "-s", "tree", "-t", "estimate", docs({"a.md": SMALL}))
    assert result == (0, result.out, "")
    assert json.loads(result.out) == {
        "documents": 1,
        "characters": len(SMALL),
        "skipped": 0,
        "strategies": {
            "tree": {
                "tokenizer": "estimate",
                "chunks": 3,
                "tokens": {"total": 12, "min": 2, "median": 3, "mean": 4.0, "p95": 7, "max": 7},
                "range": None,
                "overlap": 0.0,
                "breadcrumb": round(17 / 44, 4),
                "added": round(17 / 44, 4),
                "findings": {"heading-without-text": 1},
            }
        },
    }


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_figures_of_several_documents(run, docs, strategy) -> None:
    result = run("stats", "--json", "-s", strategy, docs({"a.md": PROSE, "sub/b.md": SMALL}))
    chunks = [
        chunk
        for text, path in ((PROSE, "a.md"), (SMALL, "sub/b.md"))
        for chunk in quire.chunk(text, strategy, path=path)
    ]
    sizes = sorted(chunk.token_stats.embed_tokens for chunk in chunks)
    embedded = sum(len(chunk.embed_text) for chunk in chunks)
    got = figures(result, strategy)
    assert got["chunks"] == len(chunks)
    assert got["tokens"] == {
        "total": sum(sizes),
        "min": sizes[0],
        "median": median(sizes),
        "mean": round(fmean(sizes), 1),
        "p95": next(size for size in sizes if sum(each <= size for each in sizes) >= 0.95 * len(sizes)),
        "max": sizes[-1],
    }
    assert got["overlap"] == round(sum(chunk.overlap_chars for chunk in chunks) / embedded, 4)
    lines = sum(len(chunk.embed_text.removesuffix(chunk.original_text)) for chunk in chunks)
    assert got["breadcrumb"] == round(lines / embedded, 4)
    assert got["added"] == round(sum(chunk.added_chars for chunk in chunks) / embedded, 4)
    assert (got["overlap"] > 0) == (strategy == "flow")


def test_what_quire_adds_by_its_kind(run, docs) -> None:
    """A table that is cut repeats its header, which is added and no breadcrumb; the line above each part is one."""
    table = "# T\n\n| name | value |\n|---|---|\n" + "".join(f"| row {n} | some words {n} |\n" for n in range(200))
    got = figures(run("stats", "--json", docs({"a.md": table})), "flow")
    assert got["overlap"] == 0
    assert 0 < got["breadcrumb"] < got["added"]


def test_share_within_the_range(run, docs) -> None:
    """All chunks of the prose are in range; the small document is one chunk, below any minimum."""
    folder = docs({"a.md": PROSE, "b.md": SMALL})
    assert figures(run("stats", "--json", folder / "a.md"), "flow")["range"] == {"min": 64, "max": 512, "within": 1.0}
    assert figures(run("stats", "--json", folder / "b.md"), "flow")["range"]["within"] == 0.0
    both = figures(run("stats", "--json", folder), "flow")
    assert both["range"]["within"] == round(1 - 1 / both["chunks"], 4)


def test_what_is_above_the_cap_is_out_of_range(run, docs) -> None:
    got = figures(run("stats", "--json", docs({"a.md": "word " * 5000})), "sections")
    assert got["range"] == {"min": 100, "max": 800, "within": 0.0}
    assert got["findings"] == {"block-over-cap": 1}


def test_strategies_side_by_side(run, docs) -> None:
    result = run("stats", docs({"a.md": PROSE}))
    assert (result.code, result.err) == (0, "")
    lines = result.out.decode().splitlines()
    assert lines[:3] == [f"1 document, {len(PROSE):,} characters", "", lines[2]]
    assert lines[2].split() == list(STRATEGIES)
    assert row(result, "tokenizer") == ["o200k_base", "o200k_base", "estimate", "o200k_base"]
    assert row(result, "range") == ["64-1024", "64-512", "100-800", "–"]
    everything = json.loads(run("stats", "--json", docs({"a.md": PROSE})).out)["strategies"]
    assert row(result, "chunks") == [str(everything[strategy]["chunks"]) for strategy in STRATEGIES]
    assert row(result, "largest") == [f"{everything[strategy]['tokens']['max']:,}" for strategy in STRATEGIES]
    assert row(result, "overlap")[1] == f"{everything['flow']['overlap']:.1%}"
    assert row(result, "breadcrumb") == [f"{everything[strategy]['breadcrumb']:.1%}" for strategy in STRATEGIES]
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in result.out.decode()


def test_strategies_in_the_order_given_each_once(run, docs) -> None:
    folder = docs({"a.md": SMALL})
    result = run("stats", "-s", "tree", "-s", "flow", "-s", "tree", folder)
    assert result.out.decode().splitlines()[2].split() == ["tree", "flow"]


def test_one_tokenizer_for_all(run, docs) -> None:
    result = run("stats", "-t", "cl100k_base", docs({"a.md": SMALL}))
    assert row(result, "tokenizer") == ["cl100k_base"] * 4


def test_findings_by_kind(run, docs) -> None:
    result = run("stats", docs({"a.md": SMALL, "b.md": "# X\n\ntext\n\n# Y\n\n# Z\n", "c.md": "word " * 5000}))
    assert row(result, "findings") == ["3", "3", "4", "3"]
    assert row(result, "heading-without-text") == ["3"] * 4
    assert row(result, "block-over-cap") == ["–", "–", "1", "–"]


def test_the_documentation_has_every_name(run, docs) -> None:
    page = (ROOT / "docs" / "strategies.md").read_text("utf-8").partition("## Compare them")[2]
    names = set(re.findall("`([a-z0-9]+)`", page))
    result = json.loads(run("stats", "--json", docs({"a.md": PROSE})).out)
    flow = result["strategies"]["flow"]
    assert {*result, *flow, *flow["tokens"], *flow["range"]} <= names


@pytest.mark.parametrize("columns", [80, 200])
def test_it_fits_the_terminal(run, docs, monkeypatch, columns) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    result = run("stats", docs({"a.md": PROSE, "b.md": SMALL}))
    assert max(map(len, result.out.decode().splitlines())) <= columns
    for strategy in STRATEGIES:
        assert f" {strategy}" in result.out.decode()


def test_a_long_tokenizer_name_is_shortened(run, docs) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    folder = docs({"a.md": SMALL})
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.save(str(folder / f"{'t' * 60}.json"))
    lines = run("stats", "-t", folder / f"{'t' * 60}.json", folder / "a.md").out.decode().splitlines()
    assert lines[3].count("…") == 4
    assert max(map(len, lines)) <= 80


def test_empty_document(run, docs) -> None:
    folder = docs({"a.md": ""})
    got = json.loads(run("stats", "--json", folder).out)
    assert (got["documents"], got["characters"]) == (1, 0)
    for each in got["strategies"].values():
        assert each["chunks"] == 0
        assert each["tokens"] == {"total": 0, "min": None, "median": None, "mean": None, "p95": None, "max": None}
        assert (each["overlap"], each["breadcrumb"], each["added"]) == (None, None, None)
    result = run("stats", folder)
    assert result.code == 0
    assert row(result, "median") == ["–"] * 4


def test_no_documents(run, docs) -> None:
    folder = docs({"a.py": "x\n"})
    result = run("stats", folder)
    assert (result.code, result.out) == (1, b"")
    assert f"no documents in {folder}" in result.err
    got = run("stats", "--json", folder)
    assert (got.code, json.loads(got.out)["documents"]) == (1, 0)


def test_standard_input(run) -> None:
    got = json.loads(run("stats", "--json", "-", stdin=SMALL.encode()).out)
    assert (got["documents"], got["characters"]) == (1, len(SMALL))


def test_a_bad_file_does_not_stop_the_others(run, docs) -> None:
    folder = docs({"a.md": SMALL, "bad.md": b"\xff", "c.md": SMALL})
    result = run("stats", folder, folder / "nope.md")
    assert result.code == 2
    assert result.out.decode().startswith(f"2 documents, {2 * len(SMALL)} characters, 2 skipped\n")
    assert f"{folder}/bad.md: line 1, byte offset 0" in result.err
    assert f"{folder}/nope.md: does not exist" in result.err
    got = run("stats", "--json", folder)
    assert (got.code, json.loads(got.out)["skipped"]) == (2, 1)
    replaced = run("stats", "--json", "--errors", "replace", folder)
    assert (replaced.code, figures(replaced, "tree")["findings"]["undecodable"]) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["-s", "pages"], "packed"), (["-t", "nope"], "o200k_base"), (["-t", "nope.json"], "no such tokenizer file")],
)
def test_wrong_options(run, docs, arguments, said) -> None:
    result = run("stats", *arguments, docs({"a.md": SMALL}))
    assert (result.code, result.out) == (2, b"")
    assert said in result.err
    assert result.err.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty on Windows")
def test_colours_on_a_terminal(docs) -> None:
    code, got = terminal("stats", str(docs({"a.md": PROSE})))
    assert code == 0
    assert "\x1b[" in got
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in got.splitlines()) <= 100
    assert "\x1b" not in terminal("stats", str(docs({"a.md": PROSE})), environment={"NO_COLOR": "1"})[1]
