"""Blocks that are cut where they stand inside others: what follows code, what is repeated, what stays together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

import quire
from quire import Chunks

_MARKDOWN = MarkdownIt("commonmark").enable("table")


def cut(text: str, strategy: str = "packed", **options: Any) -> Chunks:
    chunks = quire.chunk(text, strategy, breadcrumb_mode="none", **options)
    assert quire.verify(text, chunks) == []
    return chunks


def fences(chunks: Chunks) -> Iterator[Token]:
    for chunk in chunks:
        yield from (token for token in _MARKDOWN.parse(chunk.original_text) if token.type == "fence")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("lines", range(12, 40))
def test_text_behind_code_in_a_quote_is_no_code(lines: int, end: str) -> None:
    code = "".join(f"> line {number} of the code\n" for number in range(lines))
    text = f"> ```py\n{code}> ```\n>\n> Text after the code.\n".replace("\n", end)
    for strategy, options in (("packed", {"hard_cap": 64}), ("flow", {"max_tokens": 64, "min_tokens": 0})):
        found = list(fences(cut(text, strategy, **options)))
        assert all(token.info == "py" and token.content.strip() for token in found)
        assert not any("Text after" in token.content for token in found)
        assert sum(token.content.count("of the code") for token in found) == lines


@pytest.mark.parametrize("lines", [12, 20, 33])
def test_every_part_of_code_in_an_item_in_a_quote_is_a_fence(lines: int) -> None:
    code = "".join(f">     line {number} of the code\n" for number in range(lines))
    chunks = cut(f"> - Some words.\n>\n>     ```py\n{code}>     ```\n", hard_cap=64, min_tokens=0)
    found = list(fences(chunks))
    assert len(found) == len(chunks) - 1 > 1
    assert sum(token.content.count("of the code") for token in found) == lines


def test_a_wide_header_is_repeated_where_the_cap_has_room_for_it() -> None:
    header = "| " + " | ".join(f"column name number {number}" for number in range(60)) + " |\n|" + "---|" * 60 + "\n"
    rows = "".join("| " + " | ".join(f"v{row}" for _ in range(60)) + " |\n" for row in range(20))
    chunks = cut(header + rows)
    assert len(chunks) > 1
    assert all(chunk.original_text.startswith(header) for chunk in chunks)
    assert all(chunk.original_text.count("\n") == 3 for chunk in chunks), "half of each chunk is its own"
    assert chunks.findings == ()


@pytest.mark.parametrize("marker", ["-", "12."])
@pytest.mark.parametrize("indent", ["", "  "])
def test_a_marker_stays_with_its_item(marker: str, indent: str) -> None:
    link = "[Managing SCCs](https://docs.example.com/container-platform/4.14/authentication/managing-constraints.html)"
    item = f"{indent}{marker} {link} is the reference of all constraints that are known to the platform, and it says"
    chunks = cut(f"{indent}{marker} One.\n{item} what each of them means and why.\n", hard_cap=40, target=20)
    assert any(chunk.original_text.lstrip().startswith(f"{marker} {link}") for chunk in chunks)
    assert not any(chunk.original_text.endswith(f"\n{indent}{marker}") for chunk in chunks)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_cut_moves_between_items_whatever_ends_their_lines(end: str) -> None:
    items = "".join(f"- item number {number} with some words in it{end}" for number in range(10))
    text = f"{items}{end}# H{end}{end}Tiny.{end}"
    chunks = cut(text, "flow", max_tokens=100, target_tokens=100, min_tokens=30)
    assert all(chunk.token_stats.tokens >= 30 for chunk in chunks)
    assert chunks.findings == ()


@pytest.mark.parametrize("kind", ["fence", "header"])
@pytest.mark.parametrize("strategy", ["packed", "flow"])
def test_what_is_nested_too_deep_to_be_repeated_is_told(strategy: str, kind: str) -> None:
    marks = "> " * 41
    first = [f"{marks}```"] if kind == "fence" else [f"{marks}| a | b |", f"{marks}|---|---|"]
    text = "\n".join([*first, *[f"{marks}| x | y |"] * 80])
    chunks = cut(text, strategy)
    assert len(chunks) > 1
    assert [(finding.code, finding.line) for finding in chunks.findings] == [(f"{kind}-left-out", 1)]


def test_only_what_is_cut_is_told() -> None:
    marks = "> " * 43
    whole = [f"{marks}```", f"{marks}x", f"{marks}```", marks]
    chunks = cut("\n".join([*whole, *(f"{marks}Sentence number {number} here." for number in range(80))]))
    assert len(chunks) > 1
    assert chunks.findings == ()


def test_code_in_a_footnote_in_a_quote_is_closed() -> None:
    code = "".join(f">     x = {number} # line\n" for number in range(60))
    chunks = cut(f"Text[^1].\n\n> [^1]: ```py\n{code}>     ```\n", hard_cap=100)
    assert len(chunks) > 2
    assert all(chunk.original_text.endswith("\n>     ```") for chunk in chunks)
    assert all(chunk.original_text.startswith("> -   ```py\n>     x") for chunk in chunks[1:]), "the label stands once"


def test_a_table_in_a_footnote_has_its_header_in_every_part_and_its_label_in_one() -> None:
    rows = "".join(f"    | row {number} | some words |\n" for number in range(60))
    chunks = cut(f"Text[^1].\n\n[^1]: | a | b |\n    |---|---|\n{rows}", hard_cap=100)
    assert len(chunks) > 2
    assert [chunk.original_text.count("[^1]:") for chunk in chunks] == [1, *[0] * (len(chunks) - 1)]
    for chunk in chunks[1:]:
        assert "table_open" in [token.type for token in _MARKDOWN.parse(chunk.original_text)]


@pytest.mark.parametrize("kind", ["fence", "table_open"])
def test_what_is_cut_in_items_in_a_quote_in_items_stays_what_it_is(kind: str) -> None:
    inside = "    >     "
    first = ["```"] if kind == "fence" else ["| a | b |", "|---|---|"]
    lines = [*first, *(f"| row {number} | some words here |" for number in range(12))]
    lines += ["```"] if kind == "fence" else []
    text = "- - > - - Intro.\n    >\n" + "".join(f"{inside}{line}\n" for line in lines)
    chunks = cut(text, hard_cap=60)
    assert len(chunks) > 2
    for chunk in chunks:
        types = {token.type for token in _MARKDOWN.parse(chunk.original_text)}
        assert "code_block" not in types
        assert (kind in types) == ("some words" in chunk.original_text)
