"""Blocks that are too large: where they are cut, and what every piece has. All through ``quire.chunk``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import quire
from quire import Block, Chunks
from quire.cut.words import grapheme_ends, inline_atoms
from quire.parsing.nested_blocks import inner_blocks
from support import own_text

CAPPED: list[dict[str, Any]] = [
    {"strategy": "packed", "hard_cap": 40, "target": 40, "min_tokens": 0},
    {"strategy": "packed", "hard_cap": 64, "target": 32, "min_tokens": 0},
    {"strategy": "flow", "max_tokens": 40, "target_tokens": 40, "min_tokens": 0, "overlap_sentences": 0},
    {"strategy": "flow", "max_tokens": 64, "target_tokens": 32, "min_tokens": 16},
]
each_cap = pytest.mark.parametrize("options", CAPPED, ids=["packed", "packed-target", "flow", "flow-target"])


def cut(text: str, options: dict[str, Any], **more: Any) -> Chunks:
    chosen = {"tokenizer": "estimate", "breadcrumb_mode": "none", **options, **more}
    chunks = quire.chunk(text, **chosen)
    assert quire.verify(text, chunks) == []
    return chunks


def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text, with the blocks inside them."""
    return tuple(block._replace(children=inner_blocks(text, block)) for block in quire.parse(text).blocks)


def codes(text: str) -> list[str]:
    """The info strings of all code blocks in a text, at whatever depth."""
    return [inner.info for block in blocks(text) for inner in block.walk() if inner.kind == "code"]


def fence_lines(text: str) -> list[str]:
    """The lines that open or close a fence, without what stands before them."""
    bare = (line.lstrip(" >-0123456789.") for line in text.splitlines())
    return [line for line in bare if line.startswith(("```", "~~~"))]


def code_lines(count: int, indent: str = "") -> str:
    return "".join(f"{indent}line_{number} = 'some text here'\n" for number in range(count))


@each_cap
@pytest.mark.parametrize("info", ["", "python", 'python title="a.py"', "{.python .numberLines}"])
@pytest.mark.parametrize("fence", ["```", "~~~", "`````"])
def test_every_piece_of_code_is_one_balanced_fence(options: dict[str, Any], fence: str, info: str) -> None:
    chunks = cut(f"{fence}{info}\n{code_lines(12)}{fence}\n", options)
    assert len(chunks) > 1
    for chunk in chunks:
        (block,) = blocks(chunk.original_text)
        assert (block.kind, block.info) == ("code", info)
        assert chunk.original_text.startswith(f"{fence}{info}\n")
        assert chunk.original_text.endswith(f"\n{fence}")


@each_cap
def test_code_is_cut_at_line_ends(options: dict[str, Any]) -> None:
    text = f"```python\n{code_lines(12)}```\n"
    for chunk in cut(text, options):
        place = chunk.source_position
        assert place.char_start == 0 or text[place.char_start - 1] == "\n"
        assert text[place.char_end] == "\n"


@each_cap
def test_code_prefers_blank_lines(options: dict[str, Any]) -> None:
    text = "```python\n" + f"{code_lines(2)}\n" * 6 + "```\n"
    for chunk in cut(text, options):
        assert text[chunk.source_position.char_end :].startswith(("\n\n", "\n```")) or chunk.next_id is None


@each_cap
def test_unclosed_code_is_closed_in_every_piece(options: dict[str, Any]) -> None:
    for chunk in cut(f"```python\n{code_lines(12)}", options):
        assert chunk.original_text.endswith("\n```")
        assert codes(chunk.original_text) == ["python"]


@each_cap
def test_a_line_that_only_looks_like_a_closing_fence(options: dict[str, Any]) -> None:
    """The fence is never closed: ``` with a word behind it closes nothing."""
    for chunk in cut(f"```python\n{code_lines(12)}```not closed\n", options):
        assert chunk.original_text.endswith("\n```")
        assert codes(chunk.original_text) == ["python"]


@each_cap
def test_code_with_crlf(options: dict[str, Any]) -> None:
    text = f"```python\n{code_lines(12)}```\n".replace("\n", "\r\n")
    for chunk in cut(text, options):
        assert codes(chunk.original_text) == ["python"]
        assert len(blocks(chunk.original_text)) == 1


@each_cap
def test_indented_code_stays_indented(options: dict[str, Any]) -> None:
    for chunk in cut(code_lines(12, "    "), options):
        (block,) = blocks(chunk.original_text)
        assert block.kind == "code"
        assert all(line.startswith("    ") for line in chunk.original_text.splitlines())


@each_cap
def test_code_in_a_quote(options: dict[str, Any]) -> None:
    lines = f"Before.\n\n```python\n{code_lines(12)}```".splitlines()
    chunks = cut("".join(f"> {line}".rstrip() + "\n" for line in lines), options)
    assert len(chunks) > 1
    for chunk in chunks:
        assert {block.kind for block in blocks(chunk.original_text)} == {"quote"}
        assert codes(chunk.original_text) in ([], ["python"])
        assert len(fence_lines(chunk.original_text)) == 2 * len(codes(chunk.original_text))


@each_cap
@pytest.mark.parametrize("indent", [2, 3])
def test_code_in_a_list_item(options: dict[str, Any], indent: int) -> None:
    marker = "1." if indent == 3 else "-"
    space = " " * indent
    chunks = cut(f"{marker} Do:\n\n{space}```python\n{code_lines(12, space)}{space}```\n", options)
    assert len(chunks) > 1
    for chunk in chunks:
        assert codes(chunk.original_text) in ([], ["python"])
        assert len(fence_lines(chunk.original_text)) == 2 * len(codes(chunk.original_text))


@each_cap
def test_code_in_a_nested_list(options: dict[str, Any]) -> None:
    text = f"- Outer\n  - Inner:\n\n    ```python\n{code_lines(12, '    ')}    ```\n"
    for chunk in cut(text, options):
        assert codes(chunk.original_text) in ([], ["python"])
        assert len(fence_lines(chunk.original_text)) == 2 * len(codes(chunk.original_text))


@each_cap
def test_parts_of_code_that_meet_again_are_joined_as_they_were(options: dict[str, Any]) -> None:
    text = f"```python\n{code_lines(12)}```\n"
    for chunk in cut(text, options):
        lines = chunk.original_text.splitlines()
        assert sum(line.startswith("```") for line in lines) == 2


def test_an_opening_fence_that_is_too_long_is_a_finding() -> None:
    info = "python " + "x" * 100
    chunks = cut(f"```{info}\n{code_lines(12)}```\n", CAPPED[0])
    assert "info-left-out" in {finding.code for finding in chunks.findings}
    # What does not fit is left out: that is the info string; the bare fence fits.
    for chunk in chunks[1:]:
        assert len(codes(chunk.original_text)) == 1


def table(rows: int, header: str = "| name | what |\n|:-----|-----:|\n") -> str:
    return header + "".join(f"| {number} | a cell with some text |\n" for number in range(rows))


@each_cap
@pytest.mark.parametrize(
    "header",
    ["| name | what |\n|:-----|-----:|\n", "name | what\n-----|-----\n", "| a \\| b | `c` |\n| --- | --- |\n"],
    ids=["aligned", "no-outer-pipes", "escaped-pipe"],
)
def test_every_piece_of_a_table_has_the_header(options: dict[str, Any], header: str) -> None:
    chunks = cut(table(12, header), options)
    assert len(chunks) > 1
    for chunk in chunks:
        (block,) = blocks(chunk.original_text)
        assert block.kind == "table"
        assert chunk.original_text.startswith(header)
        assert chunk.original_text.count(header.splitlines()[1]) == 1


@each_cap
def test_rows_stay_whole_and_in_order(options: dict[str, Any]) -> None:
    rows = [line for chunk in cut(table(12), options) for line in chunk.original_text.splitlines()[2:]]
    assert rows == table(12).splitlines()[2:]


@each_cap
def test_a_repeated_header_is_recorded_as_added(options: dict[str, Any]) -> None:
    first, *others = cut(table(12), options)
    assert first.added_chars == 0
    for chunk in others:
        assert chunk.added_chars == len("| name | what |\n|:-----|-----:|\n")
        assert chunk.overlap_chars == 0


@each_cap
def test_a_table_in_a_quote(options: dict[str, Any]) -> None:
    text = "".join(f"> {line}\n" for line in table(12).splitlines())
    for chunk in cut(text, options):
        (quote,) = blocks(chunk.original_text)
        assert [inner.kind for inner in quote.children] == ["table"]


@each_cap
def test_a_huge_row(options: dict[str, Any]) -> None:
    text = table(2) + f"| {'word ' * 100}| {'word ' * 100}|\n" + table(2).split("\n", 2)[2]
    chunks = cut(text, options)
    for chunk in chunks:
        assert chunk.original_text.startswith("| name | what |\n|:-----|-----:|\n")
        assert blocks(chunk.original_text)[0].kind == "table"


def test_a_huge_header_is_left_out_with_a_finding() -> None:
    chunks = cut(table(12, f"| {'h' * 100} | b |\n|---|---|\n"), CAPPED[0])
    assert [finding.code for finding in chunks.findings] == ["header-left-out"]
    assert chunks[0].original_text.startswith("| hhh")
    assert not chunks[1].original_text.startswith("| hhh")


@each_cap
def test_a_list_is_cut_between_items(options: dict[str, Any]) -> None:
    text = "".join(f"{number}. An item with a bit of text.\n" for number in range(1, 13))
    chunks = cut(text, options)
    assert len(chunks) > 1
    for chunk in chunks:
        assert all(line.endswith("bit of text.") for line in own_text(chunk).splitlines())
        assert {block.kind for block in blocks(own_text(chunk))} == {"list"}


@each_cap
def test_nested_items_stay_whole(options: dict[str, Any]) -> None:
    text = "".join(f"- Outer {number}.\n  - Inner one.\n  - Inner two.\n" for number in range(8))
    lines = set(text.splitlines())
    for chunk in cut(text, options):
        assert set(own_text(chunk).splitlines()) <= lines


@each_cap
@pytest.mark.parametrize("marks", ["> ", "> > "])
def test_every_piece_of_a_quote_is_a_quote(options: dict[str, Any], marks: str) -> None:
    text = "".join(f"{marks}A sentence is in this line. Another one goes\n{marks}on in the next.\n" for _ in range(8))
    chunks = cut(text, options, **({"overlap_sentences": 0} if options["strategy"] == "flow" else {}))
    assert len(chunks) > 1
    for chunk in chunks:
        (block,) = blocks(chunk.original_text)
        assert block.kind == "quote"
        assert all(line.startswith(marks) for line in chunk.original_text.splitlines())


@each_cap
def test_paragraphs_of_a_quote(options: dict[str, Any]) -> None:
    text = "> A paragraph of a quote, with two sentences. This is the other.\n>\n" * 8
    for chunk in cut(text, options, **({"overlap_sentences": 0} if options["strategy"] == "flow" else {})):
        assert {block.kind for block in blocks(chunk.original_text)} == {"quote"}


PROSE = (
    "The first sentence has `some code. With stops` in it. The second has [a link. With a stop](https://a.b/c.d) in "
    "it. The third is about Dr. Who and e.g. 1.5 things! Does the fourth ask? It does. The sixth ends with an image: "
    "![an image. With a stop](a.png). The seventh is the last one that there is.\n"
)


@each_cap
def test_prose_is_cut_between_sentences(options: dict[str, Any]) -> None:
    chunks = cut(PROSE, options)
    assert len(chunks) > 1
    for chunk in chunks:
        assert own_text(chunk)[0] in "TDI"
        assert own_text(chunk)[-1] in ".?!"


@each_cap
def test_long_sentences_are_cut_between_words_and_tear_nothing(options: dict[str, Any]) -> None:
    part = "some words and `a code span` and [a link](https://example.com/a) and "
    text = part * 12 + "the end\n"
    atoms = inline_atoms(text, 0, len(text))
    for place in edges(cut(text, options)):
        assert not any(start < place < end for start, end in atoms)
        assert place == 0 or text[place - 1] == " " or text[place] in " \n"


def edges(chunks: Chunks) -> Iterator[int]:
    for chunk in chunks:
        yield from (chunk.source_position.char_start, chunk.source_position.char_end)


@each_cap
@pytest.mark.parametrize("grapheme", ["👩‍👩‍👧‍👦", "🇩🇪", "e\u0301\u0323", "각", "नि", "क्षि"], ids=ascii)
def test_no_grapheme_is_torn(options: dict[str, Any], grapheme: str) -> None:
    text = "x" + grapheme * 120 + "y"
    allowed = {0, *grapheme_ends(text, 0, len(text))}
    assert set(edges(cut(text, options))) <= allowed


def test_a_grapheme_above_the_cap_is_cut_with_a_finding() -> None:
    text = "a" + "\u0301" * 400
    chunks = cut(text, CAPPED[0])
    assert "".join(own_text(chunk) for chunk in chunks) == text
    assert chunks.findings != ()


@each_cap
def test_a_word_of_ten_thousand_characters(options: dict[str, Any]) -> None:
    text = f"# Heading\n\n{'x' * 10_000}\n\nAfter.\n"
    chunks = cut(text, options)
    assert "".join(own_text(chunk) for chunk in chunks).count("x") == 10_000
    assert own_text(chunks[0]).startswith("# Heading\n\nxxx")


@each_cap
def test_an_image_in_base64(options: dict[str, Any]) -> None:
    text = f"Before.\n\n![an image](data:image/png;base64,{'iVBORw0KGgo' * 500}=)\n\nAfter.\n"
    chunks = cut(text, options)
    assert "".join(own_text(chunk) for chunk in chunks).count("iVBORw0KGgo") >= 400


@each_cap
def test_math_stays_whole_if_it_fits(options: dict[str, Any]) -> None:
    math = "$$\nx = \\frac{1}{2}\n\ny = \\frac{3}{4}\n$$"
    text = (
        f"A sentence that fills most of the chunk, of about one hundred characters in all, or a bit.\n\n{math}\n\nB.\n"
    )
    assert sum(math in chunk.original_text for chunk in cut(text * 3, options)) == 3


@each_cap
def test_math_above_the_cap_is_cut_at_lines(options: dict[str, Any]) -> None:
    text = "$$\n" + "a_1 + b_2 = c_3 \\\\\n" * 20 + "$$\n"
    lines = set(text.splitlines())
    for chunk in cut(text, options):
        assert set(own_text(chunk).splitlines()) <= lines


@each_cap
def test_html_is_cut_at_lines(options: dict[str, Any]) -> None:
    text = "<table>\n" + "<tr><td># a cell</td><td>another</td></tr>\n" * 20 + "</table>\n"
    lines = set(text.splitlines())
    for chunk in cut(text, options):
        assert set(own_text(chunk).splitlines()) <= lines


@each_cap
def test_a_heading_above_the_cap_is_cut_as_prose_with_a_finding(options: dict[str, Any]) -> None:
    text = f"# {'A very long heading ' * 20}\n\nText below it.\n"
    chunks = cut(text, options)
    assert "heading-too-long" in {finding.code for finding in chunks.findings}
    assert own_text(chunks[-1]).endswith("Text below it.")


@each_cap
@pytest.mark.parametrize("length", [80, 110, 140, 170, 200])
def test_a_long_heading_is_alone_only_with_a_finding(options: dict[str, Any], length: int) -> None:
    text = f"# {'h' * length}\n\nText below it.\n\nMore text, which is a sentence of about sixty characters.\n"
    chunks = cut(text, options, breadcrumb_mode="conditional")
    alone = [chunk for chunk in chunks if chunk.node_types == ("heading",)]
    assert not alone or "heading-too-long" in {finding.code for finding in chunks.findings}


@each_cap
def test_a_heading_is_never_left_behind(options: dict[str, Any]) -> None:
    text = "".join(
        f"{'#' * (1 + number % 3)} Heading {number}\n\n{'A sentence. ' * number}\n\n" for number in range(1, 14)
    )
    for chunk in cut(text, options):
        assert not own_text(chunk).splitlines()[-1].startswith("#")


@pytest.mark.parametrize("options", CAPPED[:3:2], ids=["packed", "flow"])
@pytest.mark.parametrize("depth", [2, 3, 4, 5, 6])
def test_headings_in_a_row_are_never_alone(options: dict[str, Any], depth: int) -> None:
    """Also with a minimum of 0, and however large what follows."""
    headings = "".join(f"{'#' * level} H{level}\n\n" for level in range(1, depth + 1))
    text = f"{headings}{'A sentence is here. ' * 7}\n\n{'#' * depth} Next\n\n{'A sentence is here. ' * 7}\n"
    for chunk in cut(text, options):
        assert chunk.node_types != ("heading",)


@each_cap
@pytest.mark.parametrize("tokenizer", ["estimate", "o200k_base", len], ids=["estimate", "o200k_base", "characters"])
def test_blank_lines_between_blocks_count(options: dict[str, Any], tokenizer: object) -> None:
    text = "One." + "\n" * 200 + "Two." + "\n \n" * 100 + "Three.\n"
    more = {"normalize": False} if options["strategy"] == "flow" else {}
    chosen = {"breadcrumb_mode": "none", **options, **more}
    chunks = quire.chunk(text, tokenizer=tokenizer, **chosen)
    assert quire.verify(text, chunks, tokenizer=tokenizer) == []


SHAPES = {
    "line": "word " * 200_000,
    "word": "x" * 500_000,
    "code": "```\n" + "x = 1\n" * 100_000 + "```\n",
    "table": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 60_000,
    "list": "- item\n" * 60_000,
    "quote": "> a sentence. Another.\n" * 30_000,
    "headings": "# Heading\n\n" * 16_000,
    "headings-below-text": "Text.\n\n" + "#### Heading\n\n" * 16_000,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("strategy", ["packed", "flow", "sections"])
def test_large_documents_of_one_kind(strategy: str, shape: str) -> None:
    """With a quadratic step these would take minutes; how long they take is measured in benchmarks/."""
    chunks = quire.chunk(SHAPES[shape], strategy, tokenizer="estimate")
    last = max(chunk.source_position.char_end for chunk in chunks)
    assert last == len(SHAPES[shape].rstrip())


@pytest.mark.parametrize("length", range(60, 140, 7))
def test_the_last_slice_of_a_container_needs_no_room_for_its_closing(length: int) -> None:
    opening, closing = "{{< note >}}\n", "\n{{< /note >}}\n"
    text = f"# A\n\nIntro.\n\n{opening}{' '.join(['word'] * length)}{closing}"
    *_, above, below = quire.chunk(text, max_tokens=64, target_tokens=40, min_tokens=0)
    assert below.original_text.endswith(closing.strip())
    joined = text[above.source_position.char_start : -len(closing)]
    assert quire.chunk(opening + joined, "tree")[0].token_stats.tokens > 40
