"""Directives, components and ``<details>`` are one block each, however they are written."""

from __future__ import annotations

import pytest

import quire
from quire.parsing.nested_blocks import inner_blocks


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in quire.parse(text).blocks]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "text",
    [
        ":::note\n\na\n\n:::\nafter\n",
        "intro\n:::note\n\na\n\n:::\n",
        ":::note\n| a | b |\n|---|---|\n| 1 | 2 |\n:::\n",
        ":::note\n\na | b\n--|--\n1 | 2\n:::\n",
        "::::a\n\n:::b\n\nx\n\n:::\n::::\n",
        ":::a\n\n:::b\n\nx\n\n:::\n:::\n",
        ":::note\n- a\n- b\n:::\n",
        ":::a\n\n- b\n\n  :::note\n\n  c\n\n  :::\n\nd\n\n:::\n",
    ],
)
def test_directives(text: str, line_end: str) -> None:
    text = text.replace("\n", line_end)
    assert blocks(f"{text}{line_end}para{line_end}") == [("directive", text.rstrip()), ("paragraph", "para")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "text",
    [
        '<Tabs items={["npm", "pnpm"]}>\n\na\n\n</Tabs>\n',
        '<Tabs caption="Vec<T>">\n\na\n\n</Tabs>\n',
        '<Tabs items="a /> b">\n\na\n\n</Tabs>\n',
        "<Tabs x={() => 1}>\n\na\n\n</Tabs>\n",
        "<Tabs x={[{a: {b: 1}}]}>\n\na\n\n</Tabs>\n",
        "<Card\n  icon={<Icon />}\n>\n\na\n\n</Card>\n",
        "<Card\n  title='x'\n>\n  a\n\nb\n</Card>\n",
        "<Foo.Bar>\n\na\n\n</Foo.Bar>\n",
        "intro\n<Tabs>\n\na\n\n</Tabs>\n",
        "<DETAILS>\n\na\n\n</details>\n",
        "<details>\n\na\n\n</Details>\n",
        "<Tabs>\n\n<Tab x={<A b='}' />} />\n\n<Tab>\n\na\n\n</Tab>\n\n</Tabs>\n",
    ],
)
def test_components(text: str, line_end: str) -> None:
    text = text.replace("\n", line_end)
    assert blocks(f"{text}{line_end}para{line_end}") == [("html", text.rstrip()), ("paragraph", "para")]


@pytest.mark.parametrize(
    "text",
    [
        "a <Tabs> b\n\nc\n\nd </Tabs>\n",
        "<Tabs items={[1]} />\n\na\n\n</Tabs>\n",
        "<Card\n  title='x'\n\n> quote\n\n</Card>\n",
    ],
)
def test_what_opens_nothing(text: str) -> None:
    assert len(blocks(text)) == 3


def test_math_above_a_quote() -> None:
    assert blocks("$$ x $$\n> quote\n") == [("math", "$$ x $$"), ("quote", "> quote")]


def test_closings_right_below_a_table() -> None:
    text = "<Tabs>\n\n:::note\n| a |\n|---|\n| 1 |\n:::\n</Tabs>\n"
    assert [kind for kind, _ in blocks(f"{text}\npara\n")] == ["html", "paragraph"]


@pytest.mark.parametrize(
    ("kind", "opening", "closing"),
    [("html", "<details>", "</details>"), ("directive", ":::note", ":::"), ("math", "$$", "$$")],
)
def test_groups_in_an_item(kind: str, opening: str, closing: str) -> None:
    text = f"- a\n\n  {opening}\n\n  b\n\n  c\n\n  {closing}\n\n  d\n"
    (item,) = inner_blocks(text, quire.parse(text).blocks[0])
    assert [each.kind for each in item.children] == ["paragraph", kind, "paragraph"]
    assert len(item.children[1].children) == 4


def test_groups_in_a_quote() -> None:
    text = "> <Tabs a={[1]}>\n>\n> b\n>\n> </Tabs>\n"
    assert [each.kind for each in inner_blocks(text, quire.parse(text).blocks[0])] == ["html"]


@pytest.mark.parametrize("strategy", ["packed", "flow"])
def test_details_in_an_item_are_cut_from_what_is_above_them(strategy: str) -> None:
    words = "Alpha beta gamma delta epsilon zeta. "
    text = f"- {words * 7}\n\n  <details>\n\n  {words * 3}\n\n  {words * 3}\n\n  </details>\n"
    sizes = {"target": 80, "hard_cap": 100} if strategy == "packed" else {"target_tokens": 70, "max_tokens": 100}
    chunks = quire.chunk(text, strategy, min_tokens=10, **sizes)
    assert [("<details>" in chunk.original_text, "</details>" in chunk.original_text) for chunk in chunks] == [
        (False, False),
        (True, True),
    ]


@pytest.mark.parametrize("strategy", ["packed", "flow", "sections"])
def test_shortcodes_nested_a_thousand_deep(strategy: str) -> None:
    text = "{{< a >}}\n\n" * 1_000 + "text\n\n" + "{{< /a >}}\n\n" * 1_000
    chunks = quire.chunk(text, strategy)
    assert quire.verify(text, chunks) == []
