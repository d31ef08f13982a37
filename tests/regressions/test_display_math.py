"""In display math there is no heading; what only looks like math changes nothing."""

from __future__ import annotations

import pytest

import quire


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in quire.parse(text).blocks]


def headings(text: str) -> list[str]:
    return [section.title for section in quire.parse(text).sections[1:]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "math",
    [
        "$$\na\n=\nb\n$$",
        "$$\n# a\n$$",
        "$$ a\n---\nb $$",
        "$$\na\n# b $$",
        "$$\n=\n$$",
        "$$\n- a\n# b\n$$",
        "  $$\n# a\n  $$",
        "$$$\n# a\n$$$",
    ],
)
def test_math_with_headings_is_one_block(math: str, end: str) -> None:
    math = math.replace("\n", end)
    text = end.join(("# A", "", "para", "", math, "", "more", "", "# B", "", "x", ""))
    assert headings(text) == ["A", "B"]
    assert blocks(text)[1:4] == [("paragraph", "para"), ("math", math), ("paragraph", "more")]


def test_math_right_below_text_is_not_torn() -> None:
    text = "So:\n$$\na\n=\nb\nc\n$$\n\n# A\n\nx\n"
    assert headings(text) == ["A"]
    assert blocks(text)[0] == ("paragraph", "So:\n$$\na\n=\nb\nc\n$$")


@pytest.mark.parametrize(
    "text",
    [
        "$$\nnever closed\n\n# A\n\nx\n",
        "$$ is a number\n\n# A\n\nand $$ is one here\n",
        "Text $$\n\n# A\n\n$$\n",
        "```\n$$\n```\n\n# A\n\n$$\n",
        "    $$\n\n# A\n\n$$\n",
        "<div>\n$$\n</div>\n\n# A\n\n$$\n",
        "<!--\n$$\n-->\n\n# A\n\n$$\n",
        "- x\n$$\n\n# A\n\n$$\n",
        "> x\n$$\n\n# A\n\n$$\n",
        "$$\na\n\n# A\n\n```\n$$\n```\n",
        "$$ a $$\n\n# A\n\n$$ b $$\n",
        "$$\na\n$$\n\n# A\n\n$$\nb\n$$\n",
        "$$\na\n$$\n# A\n$$\n- b\n$$\n",
        "$$\na\n\n# A\n\nd\n$$\n",
        "$ cheap\n\n$$ medium\n\n# A\n\n$$\n",
        "$$ is cheap.\n\n# A\n\nThis one is $$\n",
        "$$\n \t\n# A\n$$\n",
    ],
)
def test_what_is_no_math_around_a_heading_hides_none(text: str) -> None:
    assert headings(text) == ["A"]


def test_a_heading_may_hold_math() -> None:
    assert headings("# $$a$$\n\nx\n\n$$b$$\n===\n\ny\n") == ["$$a$$", "$$b$$"]


def test_a_line_in_which_a_comment_ends_is_not_underlined() -> None:
    assert headings("<!--\n\na --> b\n===\n\nx\n") == []
