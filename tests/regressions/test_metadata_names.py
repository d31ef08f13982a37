"""The names of quire's own metadata are its own: front matter neither takes them nor passes for them."""

from __future__ import annotations

import quire

TEXT = "---\nsourceFile: x.md\nprocessedAt: never\nchunkingOptions: none\npipeline: ci\nowner: me\n---\n\ntext\n"


def test_front_matter_does_not_pass_for_quire_s_own_metadata() -> None:
    chunks = quire.chunk(TEXT)
    metadata = chunks[0].metadata
    assert set(metadata) == {"owner", "chunkingOptions", "pipeline"}
    assert metadata["chunkingOptions"]["tokenizer"] == "o200k_base"
    assert set(metadata["pipeline"]) == {"version"}
    assert chunks.document.frontmatter["sourceFile"] == "x.md"


def test_what_is_left_out_of_the_metadata_is_a_finding() -> None:
    found = [finding.code for finding in quire.chunk(TEXT, path="a.md").findings]
    assert found == ["frontmatter-reserved"] * 4


def test_quire_s_own_metadata_is_there_whatever_front_matter_says() -> None:
    metadata = quire.chunk(TEXT, path="a.md", timestamps=True)[0].metadata
    assert metadata["sourceFile"] == "a.md"
    assert metadata["processedAt"] != "never"
    assert metadata["owner"] == "me"
