"""Documents whose parts hardly fit the cap: blank lines, long headings, closing headings, what is added to code."""

from __future__ import annotations

from typing import Any

import pytest
from markdown_it import MarkdownIt

import quire
from quire import Chunks

_BLANK = " \t\n"


def cut(text: str, strategy: str = "packed", **options: Any) -> Chunks:
    chunks = quire.chunk(text, strategy, **options)
    assert quire.verify(text, chunks) == []
    return chunks


def texts(chunks: Chunks) -> list[str]:
    return [chunk.original_text for chunk in chunks]


def _words(text: str) -> int:
    return len(text.split())


def told(chunks: Chunks) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in chunks.findings]


# ----------------------------------------------------------------------------------------------------------------------
# Headings that close the document
# ----------------------------------------------------------------------------------------------------------------------


def test_closing_headings_leave_room_for_the_blank_lines_above_them() -> None:
    chunks = cut("w " * 30 + "w\n\t\n\t\n# ", hard_cap=33, breadcrumb_mode="always")
    assert texts(chunks)[-1] == "w\n\t\n\t\n#"


@pytest.mark.parametrize(
    ("text", "options", "line"),
    [
        ("word " * 1010 + "\n" + _BLANK * 600 + "# The end", {"strategy": "flow", "normalize": False}, 602),
        (
            "text text\n\n# " + "abcd " * 12,
            {"tokenizer": "estimate", "hard_cap": 32, "target": 32, "breadcrumb_mode": "always"},
            3,
        ),
    ],
)
def test_closing_headings_that_do_not_fit_stand_alone_with_a_finding(
    text: str, options: dict[str, Any], line: int
) -> None:
    chunks = cut(text, **options)
    assert texts(chunks)[-1].startswith("# ")
    assert ("heading-too-long", line) in told(chunks)
    assert ("guard-kept-too-long", 1) not in told(chunks)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("word " * 21 + "\n\n\n# " + "h " * 17 + "h", {"hard_cap": 40, "breadcrumb_mode": "none"}),
        ("word " * 1010 + "\n" + _BLANK * 600 + "# The end", {}),
        ("word " * 1010 + "\n" + _BLANK * 300 + "# The end", {"strategy": "flow"}),
        ("word " * 1010 + "\n" + _BLANK * 300 + "# The end", {"strategy": "flow", "normalize": False}),
    ],
)
def test_the_last_words_of_a_sentence_that_is_torn_go_with_closing_headings(text: str, options: dict[str, Any]) -> None:
    chunks = cut(text, **options)
    assert texts(chunks)[-1].startswith("word")
    assert "heading-too-long" not in dict(told(chunks))


@pytest.mark.parametrize("strategy", ["sections", "packed", "flow"])
def test_closing_headings_that_stand_below_text_are_not_told(strategy: str) -> None:
    text = "# API\n\nSome text here.\n\n" + "".join(f"## Method number {n} of the api\n\n" for n in range(30))
    chunks = cut(text, strategy)
    assert len(chunks) == 1
    assert {code for code, _ in told(chunks)} == {"heading-without-text"}


def test_closing_headings_are_not_told_from_records_alone() -> None:
    text = "word " * 1010 + "\n" + _BLANK * 600 + "# The end"
    chunks = cut(text)
    assert quire.verify(text, list(chunks)) == []


def test_text_above_closing_headings_is_no_heading_to_close_a_chunk_before() -> None:
    word = "interminably "  # so long that the section is taken for too large to stay whole
    text = f"# One\n\n{'a ' * 60}\n\n# Two\n\n{word * 10}\n\n{word * 40}\n\n# The end\n"
    chunks = cut(text, "flow", min_tokens=20, target_tokens=90, max_tokens=100, tokenizer=_words)
    assert [own.partition("\n")[0] for own in texts(chunks)] == ["# One", "# Two"]


# ----------------------------------------------------------------------------------------------------------------------
# Headings above text
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenizer", ["o200k_base", _words])
def test_the_end_of_a_heading_that_is_cut_leads_the_next_chunk_whatever_counts(tokenizer: Any) -> None:
    text = f"# {'word ' * 50}\n\n# Next\n\n{'Text. ' * 4}\n\n# Last\n\n{'text ' * 30}"
    chunks = cut(text, hard_cap=40, target=40, min_tokens=0, breadcrumb_mode="none", tokenizer=tokenizer)
    assert [own.split()[-1] for own in texts(chunks)] == ["word", "Text.", "text"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("## " + "abcd " * 10 + "abcd\n\ntext text text", {"strategy": "sections", "max_tokens": 32}),
    ],
    ids=["a long heading"],
)
def test_a_heading_that_has_to_stand_alone_is_told_once(text: str, options: dict[str, Any]) -> None:
    chunks = cut(text, **options)
    assert texts(chunks)[0] == text.splitlines()[0]
    assert told(chunks).count(("heading-too-long", 1)) == 1


def test_blank_lines_that_are_not_embedded_do_not_count() -> None:
    assert texts(cut("# h\n" + _BLANK * 32 + "text", strategy="flow", max_tokens=32)) == ["# h\n\ntext"]
    chunks = cut("word " * 500 + "\n" + _BLANK * 600 + "# The end", strategy="flow")
    assert texts(chunks)[-1].endswith("word\n\n# The end")


def test_blank_lines_below_a_heading_are_no_text() -> None:
    text = "# h\n" + _BLANK * 20 + "##" + " h" * 19 + "\n\n" + "w " * 19 + "w."
    chunks = cut(text, hard_cap=64, min_tokens=6, breadcrumb_mode="none")
    assert texts(chunks)[0].startswith("# h\n")
    assert "w w" in texts(chunks)[0]


# ----------------------------------------------------------------------------------------------------------------------
# What is counted
# ----------------------------------------------------------------------------------------------------------------------


def test_parts_of_a_section_that_was_opened_are_counted_as_they_stand() -> None:
    text = "i " * 16 + "i\n\n# " + "b " * 20 + "b\n\nw w w w\n\n# c c c c\n"
    assert [chunk.token_stats.tokens for chunk in cut(text, "flow", max_tokens=64, breadcrumb_mode="always")] == [
        17,
        33,
    ]


def test_the_minimum_counts_own_text() -> None:
    lines = "\n".join("w" + " w" * (words - 1) for words in (90, 31, 90))
    chunks = cut(f"# A\n\n```console\n{lines}\n```\n", "flow", max_tokens=128, target_tokens=128, min_tokens=32)
    assert chunks[1].token_stats.tokens == 36
    assert told(chunks) == [("below-minimum", 5), ("guard-kept-too-short", 5)]


def test_blank_lines_below_a_list_count() -> None:
    items = "".join(f"- {'w ' * words}\n" for words in (6, 6, 4, 2))
    text = f"{items}{_BLANK * 20}#### h \n\t\n\t\nw w w w w w w w w\n \n"
    assert len(cut(text, "flow", max_tokens=32, normalize=False)) > 1


def test_nothing_is_repeated_of_a_chunk_that_is_dropped() -> None:
    text = "Alpha beta " * 12 + "end.\n\n" + "Tiny one. " * 5 + "\n\n" + "Gamma delta " * 12 + "end.\n"
    chunks = cut(text, "flow", max_tokens=40, guard="drop", breadcrumb_mode="none")
    assert [chunk.overlap_chars for chunk in chunks] == [0, 0]
    assert ("guard-dropped-too-short", 3) in told(chunks)


def test_what_is_dropped_may_start_with_a_blank_line() -> None:
    code = "z\n  \nx = 1\nx = 1\n    \nyyyyyyyyyyyyyyyyyyyyy\nz\nx = 1\nz\n\nx = 1\n\n`````\n"
    sizes = {"max_tokens": 32, "target_tokens": 1, "min_tokens": 3}
    chunks = cut(f"```py\n{code}```\n\nw w \n", "flow", normalize=False, guard="drop", **sizes)
    assert [code for code, _ in told(chunks) if code.startswith("guard-dropped-")]


def test_a_breadcrumb_for_which_there_is_no_room_is_told() -> None:
    text = "# Alpha\n\n```\n" + "y" * 3176 + "\n```\n"
    chunks = cut(text, "sections", path="l.md", title="A title", breadcrumb_mode="always")
    assert chunks[0].embed_text == chunks[0].original_text
    assert told(chunks) == [("breadcrumb-left-out", 1)]


def test_findings_are_in_document_order() -> None:
    chunks = cut("# A\n\n" + "- \n" * 3 + "\n# B\n\ntext\n\n# C\n", "flow")
    lines = [line for _, line in told(chunks)]
    assert lines == sorted(lines)
    assert lines


@pytest.mark.parametrize("options", [{"hard_cap": 32}, {"strategy": "flow", "max_tokens": 32, "min_tokens": 0}])
def test_a_counter_that_counts_far_more_of_texts_together(options: dict[str, Any]) -> None:
    def count(text: str) -> int:
        return len(text.split()) + 3 * text.count("\n\n") ** 2

    text = "\n\n".join(["a b c"] * 40)
    chunks = quire.chunk(text, tokenizer=count, breadcrumb_mode="none", **options)
    assert quire.verify(text, chunks, tokenizer=count) == []
    assert len(chunks) < 40


# ----------------------------------------------------------------------------------------------------------------------
# Code inside of something
# ----------------------------------------------------------------------------------------------------------------------

_CODE = {
    "an item with a wide marker": "1.  Do this:\n\n    ```py\n{}    ```\n\n2.  Then that.\n",
    "an item in an item": "- a\n  - b\n\n    ```py\n{}    ```\n\n- Then that.\n",
    "an item four deep": "- a\n  - b\n    - c\n      - d\n\n        ```py\n{}        ```\n\n- Then that.\n",
    "a marker's own line": "- ```py\n{}  ```\n- Then that.\n",
    "a tab": "-\t```py\n{}\t```\n\n- Then that.\n",
    "a quote in an item": "- > ```py\n{}  > ```\n\n- Then that.\n",
    "an item in a quote": "> - ```py\n{}>   ```\n\nThen that.\n",
    "nothing, indented and never closed": "  ```py\n{}",
    "nothing": "```py\n{}```\n\nThen that.\n",
    "nothing, and a line that only looks like the end": "```py\n{}    ```\n> ```\n",
}


def _line_prefix(text: str) -> str:
    """What stands before each line of the code."""
    first, *_ = [*text.partition("{}")[2].splitlines(), "never"]
    if "looks" in text or "`" not in first:
        return "" if first else "  "
    return first[: first.index("`")]


@pytest.mark.parametrize("text", _CODE.values(), ids=_CODE.keys())
@pytest.mark.parametrize("cap", [48, 64])
@pytest.mark.parametrize("strategy", ["packed", "flow"])
def test_every_piece_of_code_is_closed_where_it_should_be(text: str, cap: int, strategy: str) -> None:
    """By another parser: what follows a piece is outside of its code, and so is what stood behind the code.

    A piece that a finding calls indented is read below the line that opens its item.
    """
    prefix, item = _line_prefix(text), text.partition("```")[0]
    item = item.rstrip(" ") if "\n" in item else f"{item}Above.\n\n"
    text = text.replace("{}", "".join(f"{prefix}x = {number}\n" for number in range(40)))
    options = {
        "packed": {"hard_cap": cap},
        "flow": {"max_tokens": cap, "min_tokens": 0, "target_tokens": cap, "overlap_sentences": 0},
    }
    chunks = cut(text, strategy, breadcrumb_mode="none", **options[strategy])
    pieces = [each for each in texts(chunks) if "x = " in each]
    assert len(pieces) > 2
    above = item if "indented-part" in dict(told(chunks)) else ""
    for piece in pieces:
        tokens = MarkdownIt().parse(f"{above}{piece}\n\nBehind.\n")
        fences = [token for token in tokens if token.type == "fence"]
        assert [token.info for token in fences] == ["py"]
        assert "Then that" not in fences[0].content
        assert tokens[-2].content == "Behind."


@pytest.mark.parametrize("strategy", ["packed", "flow"])
def test_a_fence_that_only_its_item_ends_is_not_opened_again(strategy: str) -> None:
    text = "- a\n\n  ```py\n" + "  x = 1\n" * 40 + "\nThen that.\n"
    chunks = cut(text, strategy, **{"hard_cap" if strategy == "packed" else "max_tokens": 64})
    assert sum("```" in chunk.original_text for chunk in chunks) == 1
    assert "fence-left-out" in dict(told(chunks))


@pytest.mark.parametrize("opening", ["[^1]: Note.\n\n    ```py", "[^1]: ```py"])
def test_code_in_a_footnote(opening: str) -> None:
    lines = "".join(f"    x = {number}\n" for number in range(40))
    text = f"Text.[^1]\n\n{opening}\n{lines}    ```\n\nThen that.\n"
    for piece in texts(cut(text, hard_cap=48, breadcrumb_mode="none")):
        *_, last = quire.parse(f"{piece}\n\nBehind.\n").blocks
        assert (last.kind, last.end - last.start) == ("paragraph", len("Behind."))
        assert piece.count("```") in (0, 2)


@pytest.mark.parametrize("strategy", ["packed", "flow"])
@pytest.mark.parametrize("lines", [1, 2, 3])
def test_a_fence_is_not_left_without_code(strategy: str, lines: int) -> None:
    """A line above the target stays whole, and the fences stay with it."""
    line = '{"a": ' + ", ".join(f'"k{number}"' for number in range(70)) + "}\n"
    options = {"packed": {"target": 256, "hard_cap": 512}, "flow": {"target_tokens": 256}}
    text = "# A\n\n" + "word " * 400 + "\n\n```json\n" + line * lines + "```\n\n" + "more " * 400
    chunks = cut(text, strategy, **options[strategy])
    assert [each for each in texts(chunks) if "```" in each and '"k69"}' not in each] == []


def test_a_lone_tag_stays_with_a_line_above_the_target() -> None:
    text = "# A\n\n" + "word " * 700 + "\n\n<div>\n" + "html " * 600 + "\n</div>\n"
    assert [each for each in texts(cut(text)) if "div" in each and "html" not in each] == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_no_header_or_fence_is_left_without_rows_or_code(end: str) -> None:
    rows = "".join(f"| {number} | word |\n" for number in range(85))
    code = "".join(f"x{number} = 1\n" for number in range(60))
    for text in (f"# A\n\n| a | b |\n|---|---|\n{rows}", f"# A\n\n```py\n{code}```\n\nEnd.\n"):
        for cap in range(64, 512, 16):
            chunks = cut(text.replace("\n", end), "flow", max_tokens=cap, target_tokens=cap, normalize=False)
            for each in texts(chunks):
                assert not each.replace("\r", "\n").endswith("|---|---|")
                assert "```py\n```" not in each.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("info", ["py\u2028x", "py\x0cx", "py\x85x"])
def test_what_is_no_line_end_does_not_tear_a_fence(info: str) -> None:
    assert len(cut(f"```{info}\n" + "x = 1\n" * 60 + "```\n", hard_cap=64)) > 1


@pytest.mark.parametrize("before", ["- ", "> ", "1. ", "> - "], ids=repr)
def test_a_line_of_code_above_the_cap_stays_in_its_fence(before: str) -> None:
    behind = before if before == "> " else before.replace("1.", "  ").replace("-", " ")
    text = f"{before}```py\n{behind}{'word ' * 100}\n{behind}```\n"
    pieces = texts(cut(text, hard_cap=48, breadcrumb_mode="none"))
    assert len(pieces) > 2
    for piece in pieces:
        tokens = MarkdownIt().parse(f"{piece}\n\nBehind.\n")
        assert [token.info for token in tokens if token.type == "fence"] == ["py"]
        assert tokens[-2].content == "Behind."
        assert [token.content for token in tokens if token.type == "inline"] == ["Behind."]


def test_code_that_shows_a_fence_is_no_fence() -> None:
    lines = "".join(f"    x = {number}\n" for number in range(60))
    chunks = cut(f"Write so:\n\n    ```py\n{lines}    ```\n", hard_cap=64, breadcrumb_mode="none")
    assert {chunk.added_chars for chunk in chunks} == {0}


def test_a_part_does_not_take_the_fence_of_another_block() -> None:
    text = (
        "- ```\n  x0 = 0\n  x1 = 1\n  x2 = 2\n  x3 = 3\n  x4 = 4\n\n  x5 = 5\n  ```\n\n"
        "  ~~~\n  x0 = 0\n  x1 = 1\n  x2 = 2\n\n  x3 = 3\n  x4 = 4\n  ~~~\n"
    )
    sizes = {"max_tokens": 48, "min_tokens": 24, "target_tokens": 41}
    for piece in texts(cut(text, "flow", overlap_sentences=0, breadcrumb_mode="none", **sizes)):
        tokens = MarkdownIt().parse(piece)
        assert [token for token in tokens if token.type == "inline"] == []
        assert "".join(token.content for token in tokens if token.type == "fence").count("~~~") == 0


@pytest.mark.parametrize("strategy", ["packed", "flow"])
def test_only_what_stands_below_a_heading_leaves_room_for_it(strategy: str) -> None:
    def words(text: str) -> int:
        return len([word for word in text.split() if word.isalpha()])

    sentences = [f"S{'a' * number} " + "word " * (number - 2) + "end." for number in (20, 36, 10)]
    text = "# " + "h " * 9 + "\n\n" + " ".join(sentences)
    options = {"packed": {"hard_cap": 40}, "flow": {"max_tokens": 40, "min_tokens": 0, "overlap_sentences": 0}}
    chunks = quire.chunk(text, strategy, tokenizer=words, breadcrumb_mode="none", **options[strategy])
    assert [sentence for sentence in sentences if not any(sentence in each for each in texts(chunks))] == []


def test_marks_of_a_quote_that_is_nested_very_deep_are_not_repeated() -> None:
    """They alone would fill every piece."""
    text = ("> " * 1000 + "\u2028") * 4
    chunks = cut(text, "flow")
    assert len(chunks) < 40
    assert {code for code, _ in told(chunks)} >= {"quote-left-out"}
