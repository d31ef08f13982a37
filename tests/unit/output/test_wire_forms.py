"""The compact record, the flat record and the node record."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

import quire
from quire.output import chunk_json, record_forms
from quire.output.record_forms import FLAT
from support import grammar
from support.examples import AUTHENTICATION
from support.strategies import options

TEXT = "---\na: 1\n---\nPré.\n\n# Top\n\nOne.\n\n## Empty\n\n### Déep\n\n\nTwo.\n\n## Gone\n"


def test_compact_has_the_fields_of_the_short_record() -> None:
    chunk = quire.chunk("# A\n\nOne.\n\n## B\n\nTwo two.\n", "tree", path="guides/a.md")[1]
    assert record_forms.compact(chunk) == {
        "id": "guides/a.md:1", "file": "guides/a.md", "title": "B", "headings": "A > B", "body": "Two two.",
        "startLine": 7, "endLine": 7, "tokenEstimate": 2,
    }  # fmt: skip


def test_the_example_of_the_short_record() -> None:
    chunks = quire.chunk(AUTHENTICATION, "sections", min_tokens=0, path="auth.md")
    made = [record_forms.compact(chunk) for chunk in chunks]
    assert [each["headings"] for each in made] == [
        "Authentication",
        "Authentication > Basic Auth",
        "Authentication > OAuth",
        "Authentication > OAuth > Authorization Code",
    ]
    assert made[0]["body"] == "Overview of auth methods."
    assert made[1]["body"].startswith("Send credentials")
    assert made[1]["body"].endswith("base64 encoded.")
    assert [each["startLine"] for each in made] == [1, 5, 10, 14]
    assert made[0]["tokenEstimate"] == 7


def test_text_without_a_path_is_untitled() -> None:
    (chunk,) = quire.chunk("x", "tree")
    assert (record_forms.compact(chunk)["id"], record_forms.compact(chunk)["file"]) == ("untitled:0", "untitled")


def chunk_with(
    text: str, depths: tuple[int, ...] = (1, 2), kinds: tuple[str, ...] = ("heading",), overlap: int = 0
) -> Any:
    (chunk,) = quire.chunk("x", "tree")
    return replace(chunk, original_text=text, header_depths=depths, node_types=kinds, overlap_chars=overlap)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("## B\n\ntext", "text"),
        ("## B\ntext", "text"),
        ("   ## B ##  \r\n\r\n   text\r\n", "   text"),
        ("## B\r\rtext\rmore", "text\rmore"),
        ("##\n\ntext", "text"),
        ("## B", ""),
        ("B\n---\n\ntext", "text"),
        ("B\nover two *lines*\n  -----  \n\n    code", "    code"),
        ("B\n-", ""),
        ("## B\n\n### C\n\ntext", "### C\n\ntext"),
        ("## B\n\n## B\n\njoined", "## B\n\njoined"),
    ],
)
def test_the_own_heading_is_left_out(text: str, body: str) -> None:
    assert record_forms.compact(chunk_with(text))["body"] == body


@pytest.mark.parametrize(
    ("text", "chunk"),
    [
        ("another depth", {"text": "### C\n\ntext"}),
        ("another depth, underlined", {"text": "C\n===\n\ntext"}),
        ("not a heading but code", {"text": "## B\n\ntext", "kinds": ("code",)}),
        ("no headings above", {"text": "## B\n\ntext", "depths": ()}),
        ("overlap first", {"text": "## B\n\ntext", "overlap": 4}),
        ("prose", {"text": "B\n\ntext\n---", "kinds": ("paragraph",)}),
        ("a tag", {"text": "##B\n\ntext"}),
    ],
)
def test_anything_else_stays(text: str, chunk: dict[str, Any]) -> None:
    assert record_forms.compact(chunk_with(**chunk))["body"] == chunk["text"]


@given(grammar.documents(surrogates=True), options())
def test_forms_of_random_documents(text: str, chosen: dict[str, Any]) -> None:
    chunks = quire.chunk(text, **chosen)
    for chunk in chunks:
        made = record_forms.compact(chunk)
        assert made["body"] in chunk.original_text
        assert made["tokenEstimate"] == -(-len(made["body"]) // 4)
        json.loads(chunk_json.to_json(made))
    data = text.encode("utf-8", "surrogatepass")
    for made in record_forms.nodes(chunks, every=True):
        body = data[made["byte_start"] : made["byte_end"]]
        assert body.decode("utf-8", "surrogatepass") == made["body"]


def test_nodes() -> None:
    chunks = quire.chunk(TEXT, "tree", path="g/a.md", tree="docs")
    made = list(record_forms.nodes(chunks))
    assert [each["id"] for each in made] == ["docs:g/a.md", "docs:g/a.md#top", "docs:g/a.md#dep"]
    assert made[2] == {
        "id": "docs:g/a.md#dep", "doc_id": "docs:g/a.md", "parent_id": "docs:g/a.md#empty", "depth": 3, "position": 3,
        "title": "Déep", "slug": "dep", "byte_start": 53, "byte_end": 61, "body": "\n\nTwo.\n\n",
        "breadcrumb": "> Top › Empty › Déep", "path": "g/a.md", "tree": "docs",
    }  # fmt: skip
    assert made[0]["parent_id"] is None
    assert made[0]["body"] == "---\na: 1\n---\nPré.\n\n"
    assert (made[0]["byte_start"], made[0]["depth"], made[0]["breadcrumb"]) == (0, 0, "> Top")
    assert [each["id"] for each in made] == [chunk.id for chunk in chunks]
    assert [each["parent_id"] for each in made] == [chunk.parent_id for chunk in chunks]


def test_nodes_without_text_when_asked_for() -> None:
    chunks = quire.chunk(TEXT, "tree", path="g/a.md")
    made = list(record_forms.nodes(chunks, every=True))
    assert [each["title"] for each in made] == ["Top", "Top", "Empty", "Déep"]
    assert [each["position"] for each in made] == [0, 1, 2, 3]
    assert made[2]["body"].strip() == ""


def test_a_document_without_a_path() -> None:
    (made,) = record_forms.nodes(quire.chunk("x\n", "tree"))
    assert (made["id"], made["path"], made["tree"], made["body"]) == ("doc:untitled", "untitled", "doc", "x\n")


def test_forms_by_name() -> None:
    chunks = quire.chunk(TEXT, "tree", path="a.md")
    assert list(record_forms.records(chunks)) == [chunk.to_dict() for chunk in chunks]
    assert list(record_forms.records(chunks, "compact")) == [record_forms.compact(chunk) for chunk in chunks]
    assert list(record_forms.records(chunks, "node")) == list(record_forms.nodes(chunks))
    assert list(record_forms.records(chunks, "flat")) == [quire.flat(chunk) for chunk in chunks]
    assert set(record_forms.FORMS) == {"chunk", "compact", "flat", "node"}


def test_flat_has_scalars_only_and_the_same_fields_for_every_chunk() -> None:
    texts = ["---\ntags: [a, b, a]\n---\n# A\n\nx\n\n## B\n\ny\n", "---\ntags: a, c\n---\nx\n", "plain"]
    chunks = [chunk for text, path in zip(texts, ["d/a.md", "b.md", None], strict=True)
              for chunk in quire.chunk(text, "tree", path=path)]  # fmt: skip
    rows = [quire.flat(chunk) for chunk in chunks]
    assert [{name: type(value) for name, value in row.items()} for row in rows] == [dict(FLAT)] * len(rows)
    assert [row["tags"] for row in rows] == ["a, b"] * 3 + ["a, c", ""]
    row, chunk = rows[2], chunks[2]
    assert (row["headerPath"], row["headerSlugs"], row["sectionSlug"]) == ("A > B", "a/b", "b")
    assert (row["sourcePath"], row["contentHash"]) == ("d/a.md", chunk.content_hash)
    assert json.loads(str(row["frontMatter"])) == {"tags": ["a", "b", "a"]}
    assert (rows[-1]["sourcePath"], rows[-1]["prevId"]) == ("", "")


@given(grammar.documents(), options())
def test_every_flat_record_is_flat(text: str, chosen: dict[str, Any]) -> None:
    for chunk in quire.chunk(text, **chosen):
        assert {name: type(value) for name, value in quire.flat(chunk).items()} == dict(FLAT)
