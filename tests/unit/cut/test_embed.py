"""The text to embed: when the breadcrumb stands above the text, and how much of it."""

from __future__ import annotations

from typing import Any

import pytest

import quire
from quire import Chunk
from quire.model.breadcrumbs import LIMIT

LONG = "A paragraph that fills the first chunk of its section, so that what comes after it stands alone. " * 2
CODE, TABLE, ITEMS = "```\ncode\n```", "| a | b |\n|---|---|\n| 1 | 2 |", "- one\n- two"


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        (CODE, "Title > One"),
        (TABLE, "Title > One"),
        (ITEMS, "Title > One"),
        (f"{CODE}\n\n{TABLE}\n\n{ITEMS}", "Title > One"),
        ("Some prose.", "Title"),
        (f"Some prose.\n\n{CODE}", "Title"),
        (f"{CODE}\n\nSome prose.", "Title"),
        ("> A quote.", "Title"),
    ],
)
def test_what_lacks_context(below: str, expected: str) -> None:
    chunks = quire.chunk(f"# One\n\n{LONG}\n\n{below}\n", "sections", title="Title", min_tokens=0, max_tokens=50)
    assert [chunk.embed_text for chunk in chunks[1:]] == [f"{expected}\n\n{below}"]


@pytest.mark.parametrize("text", ["Some prose.\n", "```\ncode\n```\n", "# One\n\nProse.\n", "# Title\n\nProse.\n"])
def test_always_and_none(text: str) -> None:
    always = quire.chunk(text, title="Title", breadcrumb_mode="always")[0]
    assert always.embed_text == f"{' > '.join(dict.fromkeys(('Title', *always.header_path)))}\n\n{always.original_text}"
    assert quire.chunk(text, title="Title", breadcrumb_mode="none")[0].embed_text == text.rstrip("\n")


# The example of the output format, to the letter.
ORIGINAL_TEXT = (
    "### OAuth Setup\n\nConfigure your OAuth provider:\n\n```javascript\nconst config = {\n"
    "  clientId: 'your-client-id',\n  redirectUri: 'https://example.com/callback'\n};\n```"
)
EMBED_TEXT = (
    "API Documentation > Authentication > OAuth Setup\n\n### OAuth Setup\n\nConfigure your OAuth provider:\n\n"
    "```javascript\nconst config = {\n  clientId: 'your-client-id',\n"
    "  redirectUri: 'https://example.com/callback'\n};\n```"
)
OVERVIEW = "Everything that a client sends has to be authenticated, and there are several ways to do that. " * 2


@pytest.mark.parametrize("heading", ["# Authentication", "## Authentication"])
@pytest.mark.parametrize("tokenizer", ["estimate", "o200k_base"])
@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "flow", "min_tokens": 0, "target_tokens": 64, "max_tokens": 72},
        {"strategy": "packed", "min_tokens": 0, "target": 72, "hard_cap": 72},
        {"strategy": "sections", "min_tokens": 0},
    ],
    ids=["flow", "packed", "sections"],
)
def test_the_oauth_example(options: dict[str, Any], tokenizer: str, heading: str) -> None:
    text = f"{heading}\n\n{OVERVIEW}\n\n{ORIGINAL_TEXT}\n"
    chunks = quire.chunk(text, path="api.md", title="API Documentation", tokenizer=tokenizer, **options)
    chunk = chunks[-1]
    assert chunk.header_path == ("Authentication", "OAuth Setup")
    assert chunk.header_breadcrumb == "Authentication > OAuth Setup"
    assert chunk.section_title == "OAuth Setup"
    assert chunk.section_slug == "oauth-setup"
    assert chunk.original_text == ORIGINAL_TEXT
    assert chunk.embed_text == EMBED_TEXT
    assert quire.verify(text, chunks) == []


def test_the_header_example() -> None:
    text = "# Getting Started\n\nText.\n\n## Authentication\n\nText.\n\n### OAuth Setup\n\nText.\n"
    chunk = quire.chunk(text, "sections", min_tokens=0, title="API Documentation")[-1]
    assert chunk.file_title == "API Documentation"
    assert chunk.section_title == "OAuth Setup"
    assert chunk.header_path == ("Getting Started", "Authentication", "OAuth Setup")
    assert chunk.header_breadcrumb == "Getting Started > Authentication > OAuth Setup"
    assert chunk.header_depths == (1, 2, 3)
    assert chunk.header_slugs == ("getting-started", "authentication", "oauth-setup")
    assert chunk.section_slug == "oauth-setup"
    assert chunk.embed_text.startswith(
        "API Documentation > Getting Started > Authentication > OAuth Setup\n\n### OAuth"
    )


# A document with every situation of the rule; the cap makes each block a chunk of its own.
EVERYTHING = """\
A preamble, which has a sentence of about eighty characters, so that it fills a chunk.

# One

A paragraph that starts the section, of about eighty characters, so that it fills.

A paragraph from the middle of the section, of about eighty characters, so that it fills.

```text
a code block of about eighty characters, so that it fills a chunk by itself, as all of them do
```

| a | b |
|---|---|
| 1 | a table of about eighty characters, so that it fills a chunk |

- an item of about eighty characters, so that it fills a chunk by itself, as others do
- another item of a list, so that it is full

Short prose.

## Two

The last paragraph, which has a heading above it, of about eighty characters, so it fills.
"""


def everything(**options: Any) -> list[Chunk]:
    chosen = {"strategy": "sections", "max_tokens": 36, "path": "a.md", **options}
    chunks = quire.chunk(EVERYTHING, **chosen)
    assert quire.verify(EVERYTHING, chunks) == []
    return chunks


def prefixes(chunks: list[Chunk]) -> dict[str, str]:
    """What stands above each chunk, by a word of its text."""
    found = {}
    for word in ("preamble", "starts", "middle", "code", "table", "list", "Short", "last"):
        chunk = next(each for each in chunks if word in each.original_text)
        found[word] = chunk.embed_text.removesuffix(chunk.original_text)
    return found


def test_conditional_with_another_title() -> None:
    assert prefixes(everything(title="Docs", min_tokens=0)) == {
        "preamble": "Docs\n\n",
        "starts": "Docs > One\n\n",
        "middle": "Docs\n\n",
        "code": "Docs > One\n\n",
        "table": "Docs > One\n\n",
        "list": "Docs > One\n\n",
        "Short": "Docs\n\n",
        "last": "Docs > One > Two\n\n",
    }


def test_conditional_where_the_title_is_the_first_heading() -> None:
    assert prefixes(everything(min_tokens=0)) == {
        "preamble": "One\n\n",
        "starts": "",
        "middle": "",
        "code": "One\n\n",
        "table": "One\n\n",
        "list": "One\n\n",
        "Short": "",
        "last": "One > Two\n\n",
    }


def test_always_prepends() -> None:
    above = prefixes(everything(title="Docs", min_tokens=0, breadcrumb_mode="always"))
    assert above["preamble"] == "Docs\n\n"
    assert above["middle"] == above["starts"] == above["table"] == "Docs > One\n\n"
    assert above["last"] == "Docs > One > Two\n\n"


def test_always_where_the_title_is_the_first_heading() -> None:
    above = prefixes(everything(min_tokens=0, breadcrumb_mode="always"))
    assert above["middle"] == above["starts"] == "One\n\n"
    assert above["last"] == "One > Two\n\n"


def test_none_never_prepends() -> None:
    for chunk in everything(title="Docs", min_tokens=0, breadcrumb_mode="none"):
        assert chunk.embed_text == chunk.original_text


def test_short_prose_has_the_full_line() -> None:
    text = f"# One\n\n{'A sentence is here. ' * 6}\n\nShort prose.\n"
    for least, expected in ((0, "Docs\n\nShort prose."), (8, "Docs > One\n\nShort prose.")):
        chunks = quire.chunk(text, "sections", title="Docs", min_tokens=least, max_tokens=36)
        assert chunks[-1].embed_text == expected


def test_overlap_counts_when_a_chunk_is_short() -> None:
    """Own text below the minimum plus the overlap is short, although it is above the minimum."""
    first = "The first paragraph has two sentences. This is the second of them, and it is repeated."
    own = "Seventeen tokens: not short, but short with such an overlap."
    last = "The third paragraph, of about eighty characters or a few more, if one counts them."
    options: dict[str, Any] = {"title": "Docs", "tokenizer": "estimate", "target_tokens": 24, "max_tokens": 40}
    text = f"# One\n\n{first}\n\n{own}\n\n{last}\n"
    with_overlap = quire.chunk(text, "flow", min_tokens=8, **options)[1]
    assert with_overlap.overlap_chars > 0
    assert with_overlap.embed_text.startswith("Docs > One\n\n")
    without = quire.chunk(text, "flow", min_tokens=8, overlap_sentences=0, **options)[1]
    assert without.embed_text == f"Docs\n\n{own}"


@pytest.mark.parametrize("strategy", ["packed", "sections", "flow"])
@pytest.mark.parametrize(
    "heading", ["One", "One  two", "One\u00a0two", "A &amp; B", "`code`", "*A*", "x" * 200], ids=ascii
)
def test_the_line_is_not_repeated_above_its_own_heading(strategy: str, heading: str) -> None:
    """What the line would say is what the heading says, however it is written and however long it is."""
    chunk = quire.chunk(f"# {heading}\n\nText.\n\n## Two\n\nText.\n", strategy, min_tokens=0)[0]
    assert chunk.embed_text == chunk.original_text


@pytest.mark.parametrize("strategy", ["packed", "sections", "flow", "tree"])
@pytest.mark.parametrize("length", [10, 60, 100, 200])
def test_the_line_is_at_most_160_characters(strategy: str, length: int) -> None:
    text = "".join(f"{'#' * level} {chr(96 + level) * length}\n\nText.\n\n" for level in range(1, 7))
    chunks = quire.chunk(text, strategy, path="a.md", title="T" * length, breadcrumb_mode="always")
    for chunk in chunks:
        line, blank, _ = chunk.embed_text.split("\n", 2)
        assert len(line) <= LIMIT
        assert blank == ""
        assert line[0] == "T"
        if chunk.header_path:
            assert line[-1] in f"{chunk.header_path[-1][-1]}…"


def test_the_middle_gives_way() -> None:
    names = [letter * 50 for letter in "abcd"]
    text = "".join(f"{'#' * level} {name}\n\nText.\n\n" for level, name in enumerate(names, 1))
    last = quire.chunk(text, "sections", min_tokens=0, max_depth=6, title="Docs")[-1]
    assert last.embed_text.splitlines()[0] == f"Docs > … > {names[2]} > {names[3]}"
    assert last.header_path == tuple(names)


@pytest.mark.parametrize("strategy", ["packed", "sections", "flow", "tree"])
def test_no_headings_and_no_title(strategy: str) -> None:
    chunk = quire.chunk("Text.\n", strategy)[0]
    assert chunk.embed_text == chunk.original_text == "Text."
    assert (chunk.file_title, chunk.section_title, chunk.header_path) == ("", "", ())


@pytest.mark.parametrize("strategy", ["packed", "sections", "flow", "tree"])
def test_no_headings(strategy: str) -> None:
    chunk = quire.chunk("Text.\n", strategy, path="docs/notes.md")[0]
    assert chunk.embed_text == "notes\n\nText."
    assert (chunk.section_title, chunk.header_path, chunk.header_breadcrumb) == ("notes", (), "")
    assert chunk.breadcrumb == ("notes.md",)


def test_the_title_is_never_part_of_the_header_path() -> None:
    text = "---\ntitle: Front\n---\n\n## One\n\nText.\n"
    chunk = quire.chunk(text, "sections", min_tokens=0, path="a.md")[0]
    assert chunk.file_title == "Front"
    assert chunk.header_path == ("One",)
    assert chunk.embed_text.startswith("Front > One\n\n## One")


def test_the_tree_always_has_the_full_line() -> None:
    text = "Preamble.\n\n# One\n\nText.\n\n## Two\n\nText.\n"
    assert [chunk.embed_text for chunk in quire.chunk(text, "tree", title="Docs")] == [
        "Docs\n\nPreamble.",
        "Docs > One\n\nText.",
        "Docs > One > Two\n\nText.",
    ]


@pytest.mark.parametrize("mode", ["conditional", "always", "none"])
@pytest.mark.parametrize("strategy", ["packed", "flow"])
@pytest.mark.parametrize("cap", [32, 33, 40, 64])
def test_the_line_counts(strategy: str, mode: str, cap: int) -> None:
    name = "hard_cap" if strategy == "packed" else "max_tokens"
    options: dict[str, Any] = {name: cap, "breadcrumb_mode": mode, "title": "A title of some length"}
    chunks = quire.chunk(EVERYTHING, strategy, **options)
    assert max(chunk.token_stats.embed_tokens for chunk in chunks) <= cap
    assert quire.verify(EVERYTHING, chunks) == []


@pytest.mark.parametrize("mode", ["conditional", "always", "none"])
def test_what_is_added_is_recorded(mode: str) -> None:
    for chunk in everything(title="Docs", min_tokens=0, breadcrumb_mode=mode):
        assert chunk.added_chars == len(chunk.embed_text) - len(chunk.original_text)


def test_the_breadcrumb_of_packed_chunks() -> None:
    text = "Preamble.\n\n# One\n\nText.\n\n## Two\n\nText.\n"
    (whole,) = quire.chunk(text, "packed", path="guide/start.md")
    assert whole.breadcrumb == ("start.md",)
    assert whole.contained_headings == ("One", "Two")
    long = text.replace("Text.", "A sentence is here. " * 6)
    chunks = quire.chunk(long, "packed", path="guide/start.md", tokenizer="estimate", hard_cap=48, min_tokens=0)
    assert [chunk.breadcrumb for chunk in chunks] == [("start.md",), ("start.md", "One"), ("start.md", "One", "Two")]


@pytest.mark.parametrize("strategy", ["packed", "flow"])
@pytest.mark.parametrize("mark", ["# {}", "## {}", "{}\n==="])
def test_a_chunk_above_all_headings_has_the_title_of_the_first_that_it_holds(strategy: str, mark: str) -> None:
    text = f"Preamble.\n\n{mark.format('First *one*')}\n\nOne.\n\n{mark.format('Second')}\n\nTwo.\n"
    (chunk,) = quire.chunk(text, strategy, path="a.md")
    assert (chunk.section_title, chunk.header_path, chunk.section_slug) == ("First one", (), "")
    preamble, *_ = quire.chunk(text, "sections", path="a.md", min_tokens=0)
    assert (preamble.section_title, preamble.header_path) == ("", ())
