"""The content hash: it changes when what is embedded changes, and only then."""

from __future__ import annotations

from typing import Any

import pytest

import quire
from quire import Chunk, Chunks

STRATEGIES: list[dict[str, Any]] = [
    {"strategy": "tree"},
    {"strategy": "sections"},
    {"strategy": "sections", "min_tokens": 0},
    {"strategy": "packed", "hard_cap": 160, "target": 80},
    {"strategy": "flow", "max_tokens": 160, "target_tokens": 128, "min_tokens": 32},
]
each_strategy = pytest.mark.parametrize(
    "options", STRATEGIES, ids=["tree", "sections", "sections-no-minimum", "packed", "flow"]
)


def document(changed: str = "The text of the first section.") -> str:
    """Sections of about a hundred tokens, so that each is a chunk, whatever the strategy."""
    sections = (f"## Section {number}\n\n{f'Words of section {number}. ' * 24}\n" for number in range(1, 8))
    return f"# Guide\n\n{changed} {'Words of the guide. ' * 20}\n\n" + "\n".join(sections)


def cut(text: str, options: dict[str, Any], **more: Any) -> Chunks:
    chosen = {"path": "a.md", "tokenizer": "estimate", **options, **more}
    chunks = quire.chunk(text, **chosen)
    assert quire.verify(text, chunks) == []
    return chunks


def hashes(chunks: list[Chunk]) -> list[str]:
    return [chunk.content_hash for chunk in chunks]


@each_strategy
def test_sections_below_an_edit_keep_theirs(options: dict[str, Any]) -> None:
    before, after = cut(document(), options), cut(document("Some other text, a bit longer than it was."), options)
    assert len(before) == len(after) > 6
    assert before[0].content_hash != after[0].content_hash
    assert hashes(before)[1:] == hashes(after)[1:]
    assert before[-1].source_position != after[-1].source_position


@each_strategy
def test_a_line_at_the_very_top_changes_nothing_below(options: dict[str, Any]) -> None:
    before, after = cut(document(), options), cut("\n\n\n" + document(), options)
    assert hashes(before) == hashes(after)


@each_strategy
def test_front_matter_changes_nothing_below(options: dict[str, Any]) -> None:
    """Unless it changes the title; the document's own node in the tree holds it, too."""
    before = cut(f"---\ntags: [a]\n---\n\n{document()}", options)
    after = cut(f"---\ntags: [a, b]\nauthor: me\n---\n\n{document()}", options)
    first = 1 if options["strategy"] == "tree" else 0
    assert hashes(before)[first:] == hashes(after)[first:]


@each_strategy
def test_an_inserted_section_leaves_the_others(options: dict[str, Any]) -> None:
    text = document()
    place = text.index("## Section 3")
    inserted = f"{text[:place]}## Inserted\n\n{'Words of what is new. ' * 20}\n\n{text[place:]}"
    before, after = cut(text, options), cut(inserted, options)
    assert len(after) == len(before) + 1
    assert set(hashes(before)) <= set(hashes(after))


@each_strategy
def test_paths_and_times_do_not_matter(options: dict[str, Any]) -> None:
    chunks = cut(document(), options)
    assert hashes(cut(document(), options, path="docs/other.md")) == hashes(chunks)
    assert hashes(cut(document(), options, timestamps=True)) == hashes(chunks)
    assert hashes(cut(document(), options, content_type="post")) == hashes(chunks)


@each_strategy
def test_line_ends_matter_only_as_far_as_they_are_embedded(options: dict[str, Any]) -> None:
    same = hashes(cut(document().replace("\n", "\r\n"), options)) == hashes(cut(document(), options))
    # `flow` normalises; in the tree every section here is one line.
    assert same is (options["strategy"] in ("flow", "tree"))


@each_strategy
def test_the_place_under_the_headings_matters(options: dict[str, Any]) -> None:
    before, after = cut(document(), options), cut(document().replace("# Guide", "# Manual"), options)
    assert not set(hashes(before)) & set(hashes(after))


@each_strategy
def test_the_title_matters_where_it_is_embedded(options: dict[str, Any]) -> None:
    always = {**options, "breadcrumb_mode": "always"}
    assert not set(hashes(cut(document(), always))) & set(hashes(cut(document(), always, title="Other")))


@each_strategy
def test_equal_texts_under_different_headings_differ(options: dict[str, Any]) -> None:
    text = "".join(f"# H{number}\n\n{'The same words. ' * 28}\n\n" for number in range(4))
    chunks = cut(text, {**options, "breadcrumb_mode": "none"})
    assert len(set(hashes(chunks))) == len(chunks) == 4


def test_header_path_and_text_are_told_apart() -> None:
    one = quire.chunk("# A\n\nB\n\nC\n", "tree", breadcrumb_mode="none")[0]
    two = quire.chunk("# A\n\n## B\n\nC\n", "tree", breadcrumb_mode="none")[0]
    assert one.content_hash != two.content_hash


@each_strategy
def test_it_is_in_the_record(options: dict[str, Any]) -> None:
    for chunk in cut(document(), options):
        assert chunk.to_dict()["contentHash"] == chunk.content_hash
        assert len(chunk.content_hash) == 32
        assert int(chunk.content_hash, 16) >= 0


def test_lone_surrogates_have_a_hash() -> None:
    assert len(quire.chunk("\ud800 text", "flow")[0].content_hash) == 32


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("# a\x1fb\n\nT", "# a\n\n## b\n\nT"),
        ("# a\x1e1b\n\nT", "# a\x1fb\n\nT"),
        ("\x1fT", "#\n\nT"),
        ("# a\n\n\x1fT", "# a\n\n##\n\nT"),
    ],
)
def test_a_separator_in_a_text_separates_nothing(one: str, two: str) -> None:
    first, second = (quire.chunk(text, "tree", breadcrumb_mode="none")[-1] for text in (one, two))
    assert (first.header_path, first.embed_text) != (second.header_path, second.embed_text)
    assert first.content_hash != second.content_hash


def test_the_hash_of_ordinary_documents_is_what_it_has_always_been() -> None:
    assert quire.chunk("# A\n\n## B\n\nText.\n", "tree")[0].content_hash == "58fa072f163c6f1ea5d59c6a4072c9e5"
