"""The strategy `sections`: what golden cases do not show."""

from __future__ import annotations

import re
from typing import Any

import pytest

import quire
from quire import Chunks
from support.examples import AUTHENTICATION


def cut(text: str, **options: Any) -> Chunks:
    chunks = quire.chunk(text, "sections", **options)
    assert quire.verify(text, chunks) == []
    return chunks


def codes(chunks: Chunks) -> set[str]:
    return {finding.code for finding in chunks.findings}


def test_the_example_without_a_minimum() -> None:
    chunks = cut(AUTHENTICATION, min_tokens=0)
    assert [chunk.header_breadcrumb for chunk in chunks] == [
        "Authentication",
        "Authentication > Basic Auth",
        "Authentication > OAuth",
        "Authentication > OAuth > Authorization Code",
    ]
    assert [chunk.contained_headings for chunk in chunks] == [
        ("Authentication",),
        ("Basic Auth",),
        ("OAuth",),
        ("Authorization Code",),
    ]


@pytest.mark.parametrize("long", [False, True])
def test_the_example_with_defaults(long: bool) -> None:
    text = AUTHENTICATION + ("\nA paragraph of the long section. " * 20 if long else "")
    chunks = cut(text)
    assert [(chunk.header_breadcrumb, chunk.contained_headings) for chunk in chunks] == [
        ("Authentication", ("Authentication", "Basic Auth")),
        ("Authentication > OAuth", ("OAuth", "Authorization Code")),
    ]


def test_estimated_tokens_are_the_tokens() -> None:
    for chunk in cut(AUTHENTICATION, min_tokens=0):
        assert chunk.token_stats.tokens == chunk.token_stats.estimated_tokens == -(-len(chunk.original_text) // 4)
        assert chunk.metadata["chunkingOptions"]["tokenizer"] == "estimate"


@pytest.mark.parametrize("text", ["", "\n", " \t\r\n\n", "\ufeff", "---\ntitle: T\n---\n"], ids=ascii)
def test_nothing_in_nothing_out(text: str) -> None:
    assert cut(text) == []


def test_front_matter_keeps_the_lines_of_the_file() -> None:
    text = "---\ntitle: T\ntags: [a]\n---\n\n# One\n\nText.\n\n# Two\n\nText.\n"
    chunks = cut(text, min_tokens=0)
    places = [chunk.source_position for chunk in chunks]
    assert [(place.start_line, place.end_line) for place in places] == [(6, 8), (10, 12)]
    assert chunks[0].metadata["tags"] == ["a"]
    assert not any("tags" in chunk.original_text for chunk in chunks)


def test_the_preamble_joins_nothing() -> None:
    chunks = cut("Tiny.\n\n# One\n\nTiny.\n\n# Two\n\nTiny.\n", path="a.md")
    assert [chunk.header_path for chunk in chunks] == [(), ("One",)]
    assert chunks[0].section_title == ""
    assert chunks[1].contained_headings == ("One", "Two")


def test_a_joined_group_has_the_path_of_its_first_section() -> None:
    text = f"# Guide\n\n{'Long text. ' * 50}\n\n## One\n\nTiny.\n\n## Two\n\nTiny.\n\n## Three\n\nTiny.\n"
    group = cut(text)[-1]
    assert group.header_path == ("Guide", "One")
    assert group.contained_headings == ("One", "Two", "Three")
    assert "## Two\n" in group.original_text


def test_no_join_passes_the_cap() -> None:
    text = "".join(f"# Section {number}\n\n{'Words and words. ' * (number % 5)}Text.\n\n" for number in range(60))
    for cap in (32, 50, 100):
        chunks = cut(text, min_tokens=cap // 2, max_tokens=cap, path="a.md")
        assert all(chunk.token_stats.embed_tokens <= cap for chunk in chunks)
        assert "block-over-cap" not in codes(chunks)


def test_one_pass_from_left_to_right() -> None:
    """A group that has been joined takes further small sections, a section that is large enough starts anew."""
    sizes = [30, 2, 2, 30, 2, 30, 30, 2]
    text = "".join(f"# S{number}\n\n{'word ' * size}\n\n" for number, size in enumerate(sizes))
    chunks = cut(text, min_tokens=20, max_tokens=200)
    assert [chunk.contained_headings for chunk in chunks] == [
        ("S0", "S1", "S2"),
        ("S3", "S4"),
        ("S5",),
        ("S6", "S7"),
    ]


def test_a_small_section_does_not_join_one_at_another_depth() -> None:
    text = f"# A\n\n{'word ' * 30}\n\n## B\n\n{'word ' * 30}\n\n# C\n\nTiny.\n"
    chunks = cut(text, min_tokens=20)
    assert [chunk.contained_headings for chunk in chunks] == [("A",), ("B",), ("C",)]


def test_a_heading_without_text_takes_only_what_it_needs() -> None:
    text = "# A\n\n## B\n\n### C\n\nText.\n\n### D\n\nText.\n\n## E\n\nText.\n"
    chunks = cut(text, min_tokens=0)
    assert [chunk.contained_headings for chunk in chunks] == [("A", "B", "C"), ("D",), ("E",)]


def test_pieces_of_a_long_section_below_an_empty_heading_keep_their_path() -> None:
    paragraphs = "\n\n".join(["A paragraph of some sixty characters, and then a few more."] * 6)
    chunks = cut(f"# Guide\n\n## Long\n\n{paragraphs}\n", min_tokens=0, max_tokens=40)
    assert len(chunks) > 2
    assert chunks[0].header_path == ("Guide", "Long")
    assert {chunk.header_path for chunk in chunks[1:]} == {("Guide", "Long")}


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6])
def test_max_depth(depth: int) -> None:
    text = "".join(f"{'#' * level} H{level}\n\nText.\n\n" for level in range(1, 7))
    chunks = cut(text, min_tokens=0, max_depth=depth)
    assert len(chunks) == depth
    assert chunks[-1].header_path == tuple(f"H{level}" for level in range(1, depth + 1))
    assert chunks[-1].contained_headings == tuple(f"H{level}" for level in range(depth, 7))


@pytest.mark.parametrize(
    "block",
    [
        "word " * 100,
        "```python\n" + "a = 1\n\n" * 40 + "```",
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 40,
        "- item\n" * 40,
        "> quote\n" * 40,
    ],
    ids=["paragraph", "code", "table", "list", "quote"],
)
def test_a_block_stays_whole(block: str) -> None:
    block = block.rstrip()
    text = f"# One\n\nBefore.\n\n{block}\n\nAfter.\n"
    chunks = cut(text, min_tokens=0, max_tokens=32, breadcrumb_mode="none")
    assert [chunk.original_text for chunk in chunks] == ["# One\n\nBefore.", block, "After."]
    assert [finding.code for finding in chunks.findings] == ["block-over-cap"]
    assert chunks.findings[0].line == 5


def test_block_over_cap_is_only_for_blocks_over_the_cap() -> None:
    """The line above the text gives way; no block here is above the cap."""
    text = f"# Heading\n\n{'word ' * 22}\n"
    chunks = cut(text, min_tokens=0, max_tokens=32, title="The Handbook of Things")
    assert all(chunk.token_stats.embed_tokens <= 32 for chunk in chunks)
    assert "block-over-cap" not in codes(chunks)


@pytest.mark.parametrize("opening", ["> ", "- ", "* "])
def test_parts_of_a_block_over_the_cap_are_told_one_by_one(opening: str) -> None:
    indent = opening if opening == "> " else "  "
    lines = [f"{opening}{'word ' * 60}", indent, f"{indent}short", indent, f"{indent}{'more ' * 70}", ""]
    text = "\n".join(lines)
    chunks = cut(text, min_tokens=0, max_tokens=48)
    over = [chunk.source_position for chunk in chunks if chunk.token_stats.embed_tokens > 48]
    assert [finding.line for finding in chunks.findings] == [place.start_line for place in over]
    for place, finding in zip(over, chunks.findings, strict=True):
        assert f" tokens in {place.end_line - place.start_line + 1} line" in finding.message


def test_a_block_over_the_cap_is_told_where_it_stands() -> None:
    text = f"# Heading\n\n{'word ' * 6000}\n"
    chunks = cut(text, min_tokens=0, max_tokens=1024)
    assert [(finding.code, finding.line) for finding in chunks.findings] == [("block-over-cap", 3)]
    assert re.match(r"block of \d+,\d{3} tokens in 1 line exceeds the cap of 1,024, ", chunks.findings[0].message)


def test_greedy() -> None:
    text = "\n\n".join(["x" * 39] * 10)
    chunks = cut(text, min_tokens=0, max_tokens=32, breadcrumb_mode="none")
    assert [chunk.original_text.count("x") // 39 for chunk in chunks] == [3, 3, 3, 1]


def test_empty_headings_at_the_end_are_not_alone() -> None:
    one, two = "The first paragraph, about sixty characters or a few more.", "The second, of about sixty characters."
    chunks = cut(f"# One\n\n{one}\n\n{two}\n\n## Last\n", min_tokens=0, max_tokens=32, breadcrumb_mode="none")
    assert chunks[-1].node_types != ("heading",)
    assert codes(chunks) == {"heading-without-text"}


def test_a_document_of_headings_only() -> None:
    chunks = cut("# One\n\n## Two\n\n# Three\n")
    assert [chunk.original_text for chunk in chunks] == ["# One\n\n## Two\n\n# Three"]


def test_the_minimum_gives_way_to_the_cap() -> None:
    assert cut("Text.", max_tokens=100).options.min_tokens == 50
    with pytest.raises(quire.OptionError, match="min_tokens"):
        quire.chunk("Text.", "sections", max_tokens=100, min_tokens=51)
    with pytest.raises(quire.OptionError, match="at least 32"):
        quire.chunk("Text.", "sections", max_tokens=31)


def test_headings_that_a_counter_puts_above_the_cap_are_told() -> None:
    text = "# Guide\n\nText.\n\n## Part\n\n### Deep\n\nMore text.\n\n## Last\n\nEnd.\n"
    chunks = quire.chunk(text, "sections", tokenizer=_enormous)
    assert quire.verify(text, chunks, tokenizer=_enormous) == []
    assert {finding.code for finding in chunks.findings} == {"block-over-cap", "heading-too-long"}


def _enormous(text: str) -> int:
    return 1_000_000
