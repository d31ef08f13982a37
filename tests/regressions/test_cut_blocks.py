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


def told(chunks: Chunks) -> set[str]:
    return {finding.code for finding in chunks.findings}


def fences(chunks: Chunks, above: str = "") -> Iterator[Token]:
    """All fences of the chunks, each chunk read below the line ``above``."""
    for chunk in chunks:
        yield from (token for token in _MARKDOWN.parse(above + chunk.original_text) if token.type == "fence")


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
    found = list(fences(chunks, "> - Above.\n>\n"))
    assert told(chunks) == {"indented-part"}
    assert len(found) == sum("of the code" in chunk.original_text for chunk in chunks) > 1
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
    chunks = cut(
        f"{indent}{marker} One.\n{item} what each of them means and why.\n", hard_cap=40, target=20, min_tokens=0
    )
    assert any(chunk.original_text.lstrip().startswith(f"{marker} {link}") for chunk in chunks)
    assert not any(chunk.original_text.endswith(f"\n{indent}{marker}") for chunk in chunks)


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
    assert all(chunk.original_text.startswith(">     ```py\n>     x") for chunk in chunks[1:]), "the label stands once"


def test_a_table_in_a_footnote_has_its_header_in_every_part_and_its_label_in_one() -> None:
    rows = "".join(f"    | row {number} | some words |\n" for number in range(60))
    chunks = cut(f"Text[^1].\n\n[^1]: | a | b |\n    |---|---|\n{rows}", hard_cap=100)
    assert len(chunks) > 2
    assert [chunk.original_text.count("[^1]:") for chunk in chunks] == [1, *[0] * (len(chunks) - 1)]
    for chunk in chunks[1:]:
        assert "table_open" in [token.type for token in _MARKDOWN.parse(f"-   Above.\n\n{chunk.original_text}")]


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
        types = {token.type for token in _MARKDOWN.parse(f"- - > - - Above.\n    >\n{chunk.original_text}")}
        assert "code_block" not in types
        assert (kind in types) == ("some words" in chunk.original_text)


_SMALL: list[tuple[str, dict[str, Any]]] = [
    ("packed", {"hard_cap": 64, "target": 64, "min_tokens": 0}),
    ("flow", {"max_tokens": 64, "target_tokens": 64, "min_tokens": 20, "overlap_sentences": 0}),
]


def ragged(marker: str, opening: int, indents: list[int], closing: int) -> str:
    """An item with code whose lines are indented in turn by ``indents``, and text behind it."""
    code = [" " * indents[number % len(indents)] + f"$ command number {number} with words" for number in range(16)]
    lines = ["Run it:", "", " " * opening + "```console", *code, " " * closing + "```", "", "   Text in the item."]
    return f"{marker} " + "\n".join(lines) + "\n\nProse after the list, which is no code.\n"


@pytest.mark.parametrize(("strategy", "options"), _SMALL)
@pytest.mark.parametrize("quote", ["", "> "])
@pytest.mark.parametrize(
    "text",
    [
        ragged("1.", 3, [3], 4),
        ragged("1.", 4, [3], 4),
        ragged("1.", 4, [4, 3, 8], 6),
        ragged("1.", 6, [6, 3, 5], 3),
        ragged("-", 5, [2, 5], 2),
        ragged("10.", 5, [4, 5], 7),
        ragged("- - -", 9, [6, 9], 6),
    ],
)
def test_lines_of_code_in_an_item_need_not_be_indented_alike(
    strategy: str, options: dict[str, Any], quote: str, text: str
) -> None:
    marker = text.partition("Run")[0]
    text = "".join(f"{quote}{line}".rstrip(" ") for line in text.splitlines(keepends=True))
    chunks = cut(text, strategy, **options)
    (whole,) = (token.content for token in _MARKDOWN.parse(text) if token.type == "fence")
    item = f"{quote}{marker}Above.\n{quote}\n"
    for above in [item] if "indented-part" in told(chunks) else [item, ""]:
        found = list(fences(chunks, above))
        assert len(found) == sum("$ command" in chunk.original_text for chunk in chunks) > 1
        assert "".join(token.content for token in found) == whole
        assert all(token.info == "console" for token in found)


@pytest.mark.parametrize(("strategy", "options"), _SMALL)
@pytest.mark.parametrize(
    "start", ["- - ", "-  - Intro.\n\n      ", "> 1. Intro.\n>\n>     ", "[^1]: Intro.\n\n       "]
)
def test_rows_of_a_table_in_an_item_need_not_be_indented_alike(
    strategy: str, options: dict[str, Any], start: str
) -> None:
    quote = ">    " if start.startswith(">") else "     "
    body = "".join(f"{quote}{' ' * (number % 3)}| row {number} | some words here |\n" for number in range(20))
    chunks = cut(f"{start}| a | b |\n{quote}|---|---|\n{body}", strategy, **options)
    assert len(chunks) > 2
    assert "indented-part" in told(chunks)
    above = "> 1. Above.\n>\n" if start.startswith(">") else "-   Above.\n\n"
    for chunk in chunks:
        tokens = _MARKDOWN.parse(above + chunk.original_text.replace("[^1]: ", "-   "))
        rows = chunk.original_text.count("| row")
        assert sum(token.type == "tr_open" for token in tokens) == (rows + 1 if rows else 0)
        assert not any(token.type == "code_block" for token in tokens)


@pytest.mark.parametrize(("strategy", "options"), _SMALL)
def test_code_below_text_that_starts_a_chunk_in_an_item_is_code(strategy: str, options: dict[str, Any]) -> None:
    steps = "".join(
        f"    Step {number} of the item has a line of text with some words in it, and then comes its code, which is short.\n\n"
        f"    ```console\n    $ command number {number}\n    ```\n\n"
        for number in range(8)
    )
    chunks = cut(f"1.  Run it:\n\n{steps}", strategy, **options)
    assert len(chunks) > 3
    found = [token.content for token in fences(chunks, "1.  Above.\n\n")]
    assert found == [f"$ command number {number}\n" for number in range(8)]


def test_the_mark_of_a_quote_behind_a_table_makes_no_chunk_of_its_header() -> None:
    rows = "".join(f"> | row {number} | words here too |\n" for number in range(14))
    chunks = cut(f"> | a | b |\n> |---|---|\n{rows}>\n> Some text.\n", hard_cap=40, target=40, min_tokens=0)
    assert all("| row" in chunk.original_text for chunk in chunks if "| a | b |" in chunk.original_text)


def test_stops_before_small_letters_are_places_for_a_cut() -> None:
    text = "the net charge of the year was $147 million. partially offsetting these items was the gain on land, etc. and so on. "
    chunks = cut(text * 6 + "\n", hard_cap=64, target=40)
    assert len(chunks) > 2
    assert all(chunk.original_text.startswith(("the net", "partially")) for chunk in chunks)


def test_a_block_that_fits_only_with_the_line_end_behind_it_is_cut() -> None:
    text = "> <b\n>$$\n> <s>```\n>e\n>e\n> \n> :e\n> <a{[1]}>\n"
    assert len(cut(text, hard_cap=32, target=32, min_tokens=0)) > 1


def test_code_that_shows_a_fence_in_details_is_no_torn_fence() -> None:
    lines = "".join(f"    line {number} of the shown fence here\n" for number in range(12))
    text = f"<details>\n\n    ~~~\n{lines}\n</details>\n"
    chunks = cut(text, hard_cap=48, target=36, min_tokens=0)
    assert len(chunks) > 1
    assert quire.verify(text, chunks) == []


_URL = "https://example.org/a/very/long/path?with=query"


@pytest.mark.parametrize(
    "block",
    [
        '[some-ref]: <https://example.org/x> "a title in words"',
        ":::note\n```\nsome code here x\nmore code and so on\n```\n:::",
        "> | a b c | d e |\n> |---|---|\n> | some words | y |",
        "[^1]: See the other page for this",
        "Short sentence that fits well here.",
    ],
)
def test_a_block_behind_a_sentence_that_is_cut_between_words_is_not_torn(block: str) -> None:
    limits = {"max_tokens": 40, "target_tokens": 32, "min_tokens": 20, "overlap_sentences": 0, "tokenizer": "estimate"}
    for before in range(16):
        for behind in range(10):
            text = f"page {_URL} of {_URL} alpha{' word' * before}\n\n{block}\n\n{'word ' * behind}{_URL} page.\n"
            chunks = cut(text, "flow", **limits)
            assert sum(block in chunk.original_text for chunk in chunks) == 1
            is_small = any(chunk.token_stats.tokens < 20 for chunk in chunks)
            assert is_small == ("below-minimum" in [finding.code for finding in chunks.findings])


def test_a_heading_is_not_torn_to_reach_the_minimum() -> None:
    text = (
        f"page {_URL} {_URL} page {_URL})\n\n## x longerword word longerword\n\n"
        f"of page alpha page page x alpha page {_URL} alpha.\n"
    )
    chunks = cut(text, "flow", max_tokens=40, target_tokens=37, min_tokens=17, overlap_sentences=0)
    assert sum("## x longerword word longerword" in chunk.original_text for chunk in chunks) == 1
    assert "below-minimum" in [finding.code for finding in chunks.findings]


@pytest.mark.parametrize("mark", ["> ", "   "])
@pytest.mark.parametrize(
    "block", ["| a b c | d e |\n|---|---|\n| some words | y |", "## x longerword word", "A sentence of words."]
)
def test_a_block_inside_another_is_not_torn_to_reach_the_minimum(block: str, mark: str) -> None:
    limits = {"max_tokens": 40, "target_tokens": 32, "min_tokens": 20, "overlap_sentences": 0, "tokenizer": "estimate"}
    for before in range(16):
        for behind in range(20):
            inner = f"page {_URL} of {_URL} alpha{' word' * before}\n\n{block}\n\n{'word ' * behind}page."
            text = "".join(f"{mark}{line}\n" for line in inner.splitlines())
            chunks = cut(text if mark == "> " else f"1. {text[3:]}", "flow", **limits)
            whole = "\n".join(f"{mark}{line}" for line in block.splitlines())
            assert sum(whole in chunk.original_text for chunk in chunks) == 1


@pytest.mark.parametrize("quote", ["", "> "])
@pytest.mark.parametrize(("opening", "closing"), [("$$", "$$"), ("<div>", "</div>")])
def test_parts_of_math_and_html_in_a_wide_item_are_no_code_below_their_item(
    opening: str, closing: str, quote: str
) -> None:
    rows = [f"    <i>a_{number}</i> = b_{number} + c_{number} + d_{number}" for number in range(10)]
    text = "\n".join(["10. Let us see.", "", f"    {opening}", *rows, f"    {closing}", ""])
    text = "".join(f"{quote}{line}".rstrip(" ") for line in text.splitlines(keepends=True))
    chunks = cut(text, hard_cap=64, target=48, min_tokens=0)
    assert len(chunks) > 2
    for chunk in chunks:
        item = f"{quote}10. Above.\n{quote}\n"
        assert "code_block" not in [token.type for token in _MARKDOWN.parse(item + chunk.original_text)]


@pytest.mark.parametrize("kind", ["table", "code"])
def test_only_the_first_part_has_the_little_room_below_a_long_heading(kind: str) -> None:
    heading = "# " + ("heading words " * 60)[:320].strip()
    first, mark, end, closing = ("| h |\n| --- |\n", "| ", " |", "") if kind == "table" else ("```\n", "", "", "\n```")
    rows = [f"{mark}row {number} https://example.org/page/{number} with text {number}{end}" for number in range(6)]
    text = f"{heading}\n\n{first}" + "\n".join(rows) + f"{closing}\n"
    chunks = cut(text, hard_cap=64, target=32, min_tokens=0)
    # A table's header goes below the heading; of code nothing does, and that is a finding. No line is torn.
    assert chunks[0].original_text == (f"{heading}\n\n{first}".rstrip() if kind == "table" else heading)
    assert ("heading-too-long" in told(chunks)) == (kind == "code")
    assert [row for row in rows if not any(row in chunk.original_text for chunk in chunks)] == []


@pytest.mark.parametrize("indent", ["", "  ", "> "])
@pytest.mark.parametrize(
    "opening", ["</svg>", "<Note>", "and <div>", "a <script> tag", "and <!-- this", "some ~~~ signs"]
)
def test_no_part_starts_with_what_would_make_the_code_below_it_something_else(opening: str, indent: str) -> None:
    for words in range(30, 75):
        lines = f"{'word ' * words}\n{opening}\n```py\nline of code\nline of code\n```\n".splitlines()
        text = "".join(f"{indent}{line}\n" for line in lines)
        text = f"- {text[2:]}" if indent == "  " else text
        for strategy, options in (("packed", {"hard_cap": 64}), ("flow", {"max_tokens": 64, "min_tokens": 30})):
            found = list(fences(cut(text, strategy, **options)))
            assert sum(token.content.count("line of code") for token in found) == 2, text
            assert {token.info for token in found} == {"py"}


@pytest.mark.parametrize("strategy", ["packed", "flow"])
@pytest.mark.parametrize(
    "text",
    [
        '- [^1]: A note.\n\n  <a id="x"></a>\n  :::note\n  > [!NOTE]\n  > !!! note "Title"\n  >\n  >     # alpha\n  :::\n',
        f'- #\n- <a id="x"></a>\n  :::note\n  > ># alpha\n  > >\n  > >|a|\n  > >|---|\n  > >|{"z" * 90}|\n  :::\n',
    ],
)
def test_a_container_in_a_list_that_an_id_opens_is_cut_once(text: str, strategy: str) -> None:
    assert len(cut(text, strategy, path="a.md", max_tokens=32, min_tokens=0)) > 1


@pytest.mark.parametrize("strategy", ["packed", "flow"])
@pytest.mark.parametrize("opening", ["!!! note", "??? tip", '=== "Tab"'])
@pytest.mark.parametrize("inside", [("{% tip %}", "{% endtip %}"), ("{{% tab %}}", "{{% /tab %}}"), (":::x", ":::")])
def test_what_closes_a_container_inside_an_admonition_does_not_close_that(
    opening: str, inside: tuple[str, str], strategy: str
) -> None:
    rows = "".join(f"    | name {number} | value {number} |\n" for number in range(30))
    table = f"    | name | value |\n    |---|---|\n{rows}"
    text = f"{opening}\n\n{table}\n    {inside[0]}\n    Some words.\n    {inside[1]}\n"
    chunks = cut(text, strategy, max_tokens=96)
    assert len(chunks) > 2
    assert all("| name | value |" in chunk.original_text for chunk in chunks if "| name 1" in chunk.original_text)
    for chunk in chunks:
        lines = [line.strip() for line in chunk.original_text.splitlines()]
        assert lines.count(inside[1]) <= lines.count(inside[0])


def not_blank(text: str) -> int:
    return sum(not character.isspace() for character in text)


@pytest.mark.parametrize("tokenizer", ["o200k_base", not_blank])
@pytest.mark.parametrize("strategy", ["packed", "flow"])
@pytest.mark.parametrize("around", [("```js\n", "```\n"), ("| a | b |\n|---|---|\n", ""), ("<div>\n", "</div>\n")])
def test_a_line_that_fits_is_not_torn_to_stay_with_a_heading(
    around: tuple[str, str], strategy: str, tokenizer: Any
) -> None:
    for words in range(1, 16):
        row = "| set.add({}) | one and two |" if "|" in around[0] else "const total{} = set.size + 1;"
        lines = [row.format(number) for number in range(6)]
        body = around[0] + "".join(f"{line}\n" for line in lines) + around[1]
        headings = f"## {' '.join(['Examples'] * words)}\n\n### Using the object\n\n"
        for text in (headings + body, f"Text.\n\n{body}\n{headings}"):
            chunks = quire.chunk(
                text, strategy, max_tokens=64, min_tokens=0, tokenizer=tokenizer, breadcrumb_mode="none"
            )
            assert quire.verify(text, chunks, tokenizer=tokenizer) == []
            assert [line for line in lines if not any(line in chunk.original_text for chunk in chunks)] == []
