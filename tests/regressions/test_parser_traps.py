"""Where the parser's report is not what Markdown means, or not what it seems: one test for each trap."""

from __future__ import annotations

import pytest

import quire
from quire.parsing.nested_blocks import inner_blocks


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in quire.parse(text).blocks]


def headings(text: str) -> list[tuple[int, str]]:
    return [(section.depth, section.title) for section in quire.parse(text).sections[1:]]


def inside(text: str, index: int = 0) -> list[tuple[str, str]]:
    inner = inner_blocks(text, quire.parse(text).blocks[index])
    return [(each.kind, text[each.start : each.end]) for block in inner for each in block.walk()]


def test_front_matter_only_at_the_top() -> None:
    text = "---\ntitle: x\n---\n# A\n\ntext\n\n---\nfoo: bar\n---\n"
    document = quire.parse(text)
    assert document.frontmatter == {"title": "x"}
    assert headings(text) == [(1, "A"), (2, "foo: bar")]


def test_hash_in_front_matter_is_no_heading() -> None:
    assert headings("---\na: 1\n# comment\n---\n\n# B\n\nx\n") == [(1, "B")]


def test_byte_order_mark_before_a_heading() -> None:
    assert headings("\ufeff# A\n\nx\n") == [(1, "A")]


def test_closing_fence_before_a_tab() -> None:
    assert headings("```\ncode\n```\t\n# A\n\nx\n") == [(1, "A")]
    assert headings("~~~\n# no\n~~~ \t \n# A\n\nx\n") == [(1, "A")]


def test_table_that_interrupts_a_paragraph() -> None:
    text = "para\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert blocks(text) == [("paragraph", "para"), ("table", "| a | b |\n|---|---|\n| 1 | 2 |")]


def test_table_without_outer_pipes_that_interrupts_a_paragraph() -> None:
    text = "para\nmore\na | b\n--|--\n1 | 2\n\nafter\n"
    assert blocks(text) == [
        ("paragraph", "para\nmore"), ("table", "a | b\n--|--\n1 | 2"), ("paragraph", "after"),
    ]  # fmt: skip


def test_table_with_tabs_in_its_delimiter_row() -> None:
    text = "| a | b |\n|---\t|\t---|\n| 1 | 2 |\n"
    assert blocks(text) == [("table", text.rstrip())]
    assert inside(text) == [("row", "| a | b |"), ("row", "| 1 | 2 |")]


def test_reference_definitions_are_blocks_also_when_repeated() -> None:
    text = "para\n\n[x]: /u\n[x]: /v 'title'\n\nmore\n"
    assert blocks(text) == [
        ("paragraph", "para"), ("reference", "[x]: /u\n[x]: /v 'title'"), ("paragraph", "more"),
    ]  # fmt: skip


def test_a_list_ends_before_the_definitions_that_follow_it() -> None:
    text = "- a\n- b\n\n[x]: /u\n\npara\n"
    assert blocks(text) == [("list", "- a\n- b"), ("reference", "[x]: /u"), ("paragraph", "para")]


def test_nested_items_after_tabs_start_at_their_marker() -> None:
    text = "- a\n\t- b\n\t\t- c\n"
    items = [source for kind, source in inside(text) if kind == "item"]
    assert items == ["- a\n\t- b\n\t\t- c", "- b\n\t\t- c", "- c"]


def test_cells_that_pad_a_row_are_nothing() -> None:
    text = "| a | b | c |\n|---|---|---|\n| 1 |\n\npara\n"
    assert blocks(text) == [("table", "| a | b | c |\n|---|---|---|\n| 1 |"), ("paragraph", "para")]
    assert inside(text) == [("row", "| a | b | c |"), ("row", "| 1 |")]


def test_padding_cells_at_the_end_of_the_document() -> None:
    text = "# A\n\n| a | b |\n|---|---|\n| 1 |"
    assert blocks(text)[-1] == ("table", "| a | b |\n|---|---|\n| 1 |")


def test_indented_code_has_its_indentation() -> None:
    text = "para\n\n    code\n      more\n\npara\n"
    assert blocks(text)[1] == ("code", "    code\n      more")


def test_items_of_tight_lists_have_their_text() -> None:
    text = "- one *two*\n- `three`\n  four\n"
    assert inside(text) == [
        ("item", "- one *two*"), ("paragraph", "one *two*"),
        ("item", "- `three`\n  four"), ("paragraph", "`three`\n  four"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["$$\nx = y\n$$\n", "$$ x = y $$\n", "$$\na\n\nb\n$$\n", "$$\n- a\n- b\n$$\n"])
def test_math_is_one_block(text: str) -> None:
    assert blocks(f"para\n\n{text}\nmore\n") == [("paragraph", "para"), ("math", text.rstrip()), ("paragraph", "more")]


def test_lone_surrogates_are_text() -> None:
    text = "# A \ud800\n\nx \udfff y\n"
    assert headings(text)[0][0] == 1
    assert quire.verify(text, quire.chunk(text, strategy="tree")) == []


def test_lone_carriage_returns_end_lines_everywhere() -> None:
    assert headings("    code\r# A\r\rx\r<div>\r\r# B\r") == [(1, "A"), (1, "B")]


def test_hashes_that_close_a_heading_beside_a_tab() -> None:
    assert headings("# A\t#\n\nx\n\n## B #\t\n\ny\n") == [(1, "A"), (2, "B")]
    assert headings("# Ä\t#\n\nx\n") == [(1, "Ä")]


@pytest.mark.parametrize(("feed", "gap"), [("\x0b", ""), ("\x0c", "\n\n")])  # a form feed begins the text of its page
def test_feeds_are_no_white_space(feed: str, gap: str) -> None:
    assert headings(f"#{feed}a\n\nx\n") == []
    assert headings(f"a\n==={feed}\n") == []
    assert "".join(source for _, source in blocks(f"- a\n\n{feed}\n\nb\n")) == f"- a{feed}{gap}b"


def test_what_stands_for_other_characters_opens_no_html() -> None:
    assert headings("<é>\n# A\n\nx\n") == [(1, "A")]
    assert headings("é>\n<é\n# A\n\nx\n") == [(1, "A")]


def test_what_closes_and_opens_in_one_block_stands_in_one_group() -> None:
    text = "<details>\n\nx\n\n</details>\n<details>\n\ny\n\n</details>\n"
    assert blocks(text) == [("html", text.rstrip())]


@pytest.mark.parametrize("top", ["\ufeff", "+++\ntitle='x'\n+++\n", "---\na: 1\n...\n", "---\na: '<!--'\n---\n"])
def test_definitions_stand_below_front_matter(top: str) -> None:
    assert headings(f"{top}[ref]: /u\n\n# [ref]\n\ntext\n") == [(1, "ref")]


def test_front_matter_defines_nothing() -> None:
    assert headings("---\n'[ref]': /u\n---\n\n# [ref]\n\ntext\n") == [(1, "[ref]")]


def test_a_definition_over_two_lines_in_a_quote_leaves_the_next_one() -> None:
    assert headings("# A [foo] [b]\n\n> [foo]: /url 'x\n> y'\n\n[b]: /x\n") == [(1, "A [foo] b")]


@pytest.mark.parametrize("underlined", ["a\tb\n===\n", "a\tb\n===\n\n<?x?>\n"])
def test_a_tab_above_an_underline_stays(underlined: str) -> None:
    assert headings(f"{underlined}\ntext\n") == [(1, "a\tb")]


def test_a_header_that_ends_with_a_backslash_makes_no_table() -> None:
    assert [kind for kind, _ in blocks("| a | b |\\\r\n|---|---|\r\n")] == ["paragraph"]


def test_a_line_that_is_a_pipe_ends_a_table() -> None:
    assert [kind for kind, _ in blocks("|---|\n|:-\n|\n")] == ["table", "paragraph"]


@pytest.mark.parametrize(
    ("text", "title"), [("T[^1] é", "T é"), ("标题[^1]", "标题"), ("[^1] *é*", "é"), ("é[^2]", "é[^2]")]
)
@pytest.mark.parametrize("note", ["[^1]: note", "> [^1]: note"])
def test_footnote_marks_are_no_part_of_a_title(text: str, title: str, note: str) -> None:
    assert headings(f"# {text}\n\nx\n\n{note}\n") == [(1, title)]
    assert headings(f"{text}\n===\n\nx\n\n<?y?>\n\n{note}\n") == [(1, title)]


def test_names_of_footnotes_may_have_any_characters() -> None:
    assert headings("# é[^ü] ö[^ö]\n\nx\n\n[^ü]: note\n") == [(1, "é ö[^ö]")]
