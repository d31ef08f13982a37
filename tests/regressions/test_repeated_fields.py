"""Titles and front matter are repeated in every record, so both are bounded: output grows with the text, not its square."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import quire
from quire.output.record_forms import records

STRATEGIES = ("packed", "flow", "sections", "tree")
SECTIONS = "## a\n\nx\n\n" * 400
LONG = "word " * 40_000
ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{above}'] * 9)}]\n" for above, name in zip("abcd", "bcde", strict=True)
)
LARGEST = 12_000
"""No record of a small section is larger: a title has 1,000 characters, and a record repeats it up to nine times."""


def sizes(text: str, strategy: str, **options: str) -> tuple[list[int], list[str]]:
    """The sizes of the records without their texts, and the codes of the findings."""
    chunks = quire.chunk(text, strategy, path="a.md", **options)
    made = [{**chunk.to_dict(), "embedText": "", "originalText": ""} for chunk in chunks]
    codes = [finding.code for finding in chunks.findings if finding.code.startswith(("title-", "frontmatter-"))]
    # The headings in a chunk are as many as its text has.
    return [len(json.dumps({**each, "containedHeadings": []}, ensure_ascii=False)) for each in made], codes


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "text",
    [
        f"# {LONG}\n\n{SECTIONS}",
        f"{LONG}\n===\n\n{SECTIONS}",
        f"# *{LONG.strip()}*\n\n{SECTIONS}",
        f"# {'é' * 100_000}\n\n{SECTIONS}",
        "---\n" + ": " * 300_000 + "\n---\nb\n",
    ],
)
def test_a_long_heading_is_shortened(text: str, strategy: str) -> None:
    found, codes = sizes(text, strategy)
    assert max(found) < LARGEST
    assert codes == ["title-shortened"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_long_titles_of_the_document_are_shortened(strategy: str) -> None:
    found, codes = sizes(SECTIONS, strategy, title=LONG)
    assert (max(found) < LARGEST, codes) == (True, ["title-shortened"])
    found, codes = sizes(f"---\ntitle: {LONG}\n---\n{SECTIONS}", strategy)
    assert (max(found) < LARGEST, codes) == (True, ["frontmatter-too-large", "title-shortened"])


def test_a_title_keeps_its_first_thousand_characters() -> None:
    exact, longer = quire.parse(f"# {'a' * 1000}\n\nx\n"), quire.parse(f"# {'a' * 1001}\n\nx\n")
    assert (exact.title, exact.findings) == ("a" * 1000, ())
    assert longer.title == longer.sections[1].title == "a" * 999 + "…"
    assert len(longer.sections[1].slug) == len(longer.sections[1].anchor) == 999
    assert [(each.code, each.line) for each in longer.findings] == [("title-shortened", 1)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_shortened_titles_keep_the_laws(strategy: str) -> None:
    text = f"# {LONG}\n\n{SECTIONS}# {LONG}\n\nx\n"
    chunks = quire.chunk(text, strategy)
    assert quire.verify(text, chunks) == []
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "front",
    [
        f"---\nname: {LONG}\n---\n",
        "---\n" + "".join(f"k{number}: v\n" for number in range(10_000)) + "---\n",
        f"---\n{ALIASES}---\n",
        "+++\na = [" + '"x", ' * 20_000 + "]\n+++\n",
    ],
)
def test_large_front_matter_is_not_repeated(front: str, strategy: str) -> None:
    found, codes = sizes(front + SECTIONS, strategy)
    assert max(found) < LARGEST
    assert codes == ["frontmatter-too-large"]
    document = quire.parse(front + SECTIONS)
    assert len(str(document.frontmatter)) > 8_000


def test_large_front_matter_still_gives_the_title() -> None:
    chunks = quire.chunk(f"---\ntitle: T\nname: {LONG}\n---\nbody\n", path="a.md")
    assert chunks[0].file_title == "T"
    assert {*chunks[0].metadata} == {"chunkingOptions", "pipeline", "sourceFile"}


@pytest.mark.parametrize(
    "values",
    [
        "a: " + "[" * 100_000,
        "a: " + "{a: " * 100_000,
        "a:\n " + "- " * 100_000,
        "a:\n " + "? " * 100_000,
        ALIASES + "".join(f"{name}: &{name} [{', '.join(['*e'] * 1000)}]\n" for name in "fghij"),
    ],
)
def test_values_that_grow_without_bound_are_text(values: str) -> None:
    document = quire.parse(f"---\n{values}\n---\nbody\n")
    assert document.frontmatter == {}
    assert [finding.code for finding in document.findings] == ["frontmatter-malformed"]


def test_node_records_are_bounded() -> None:
    chunks = quire.chunk(f"# {LONG}\n\n{SECTIONS}", "tree", path="a.md")
    assert max(len(json.dumps(record)) for record in records(chunks, "node")) < LARGEST


def test_nodes_of_the_index_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    tags = ", ".join(f"tag{number}{'x' * 600}" for number in range(100))
    (tmp_path / "docs" / "a.md").write_text(f"---\ntags: [{tags}]\n---\n# {LONG}\n\n{SECTIONS}")
    with quire.Index.open(tmp_path / "index") as index:
        index.update({"docs": tmp_path / "docs"})
        nodes = index.outline("a.md")
        assert len(nodes) == 402
        assert max(len(node.title) for node in nodes) == 1000
        assert max(len(str(node.breadcrumb)) for node in nodes) < LARGEST
        assert {node.tags for node in nodes} == {()}
