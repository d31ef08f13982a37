"""Regular white space: what is made regular, and what is verbatim, wherever it stands."""

from __future__ import annotations

import pytest

import quire
from support import own_text

FENCE = "```\nx  \n\n\ny\n```"
IN_ITEM = "- one\n\n  ```\n  x  \n\n\n  y\n  ```"


def normalized(text: str) -> str:
    (chunk,) = quire.chunk(text, "flow", breadcrumb_mode="none", max_tokens=10_000)
    assert quire.verify(text, [chunk]) == []
    return chunk.original_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a \nb\t\nc", "a\nb\nc"),
        ("a  \nb", "a  \nb"),
        ("a   \nb", "a  \nb"),
        ("a \t  \nb", "a  \nb"),
        ("a  \n\nb", "a\n\nb"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("a\n \n\t\n  \nb", "a\n\nb"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a  \r\nb", "a  \nb"),
        ("\n\na\n\n", "a"),
        (f"a  \n{FENCE}", f"a\n{FENCE}"),
        (f"{FENCE}  \n\n\n\na", f"{FENCE}\n\na"),
        (f"{IN_ITEM}\n- two \n", f"{IN_ITEM}\n- two"),
        (f"{IN_ITEM}  \n- two \t\n- three", f"{IN_ITEM}\n- two\n- three"),
        ("> a \n>\n> ```\n> x  \n> ```", "> a\n>\n> ```\n> x  \n> ```"),
        ("| a | b |\n|---|---|  \n| 1 | 2 |\n\n\n\na", "| a | b |\n|---|---|  \n| 1 | 2 |\n\na"),
        ("<div>  \nx \n</div>\n\n\na ", "<div>  \nx \n</div>\n\na"),
        ("    code  \n\ntext \n", "    code  \n\ntext"),
        ("- a \n\n      code\t\n- b \n\n> \tcode  \n", "- a\n\n      code\t\n- b\n\n> \tcode"),
        ("- ```\n  not closed  \n- b ", "- ```\n  not closed  \n- b"),
        ("| a |\n|---|\n| b |  \n\na ", "| a |\n|---|\n| b |  \n\na"),
    ],
)
def test_regular(text: str, expected: str) -> None:
    assert normalized(text) == expected


def test_blocks_that_share_one_are_not_repeated() -> None:
    details = "<details>\n\n- x\n\n  ```\n  k  \n  ```\n\n</details>\n"
    assert normalized(f"a \n\n{details}{details}") == f"a\n\n{details}{details}".rstrip("\n")


def test_code_in_a_list_of_several_chunks_stays_as_it_is() -> None:
    code = "  ```\n  x  \n\n\n  y\n  ```"
    text = "".join(f"- item {number}, with a few words \n\n{code}\n" for number in range(30))
    chunks = quire.chunk(text, "flow", max_tokens=64, breadcrumb_mode="none")
    assert len(chunks) > 5
    assert sum(own_text(chunk).count(code) for chunk in chunks) == 30
    assert not any("words \n" in own_text(chunk) for chunk in chunks)
    assert quire.verify(text, chunks) == []


def test_the_last_line_of_code_in_a_list_of_several_chunks_stays_as_it_is() -> None:
    text = "".join(f"- item {number} \n\n      code of the item  \n\n" for number in range(30))
    chunks = quire.chunk(text, "flow", breadcrumb_mode="none", max_tokens=64, target_tokens=64, min_tokens=0)
    assert len(chunks) > 3
    assert quire.verify(text, chunks) == []
    joined = "\n".join(chunk.original_text for chunk in chunks)
    assert joined.count("code of the item  \n") == 30 - len(chunks), "but at the end of a chunk"
