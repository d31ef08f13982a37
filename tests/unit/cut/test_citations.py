"""Chunks that can be cited and updated: stable ids, anchors, addresses, and records that are read back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import quire
from quire.output.jsonl import write_jsonl
from support import grammar
from support.strategies import options

STRATEGIES = ["packed", "flow", "sections", "tree"]


def page(names: list[str]) -> str:
    return "\n".join(f"## {name}\n\n" + f"About {name} there is this to say. " * 80 + "\n" for name in names)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_inserted_section_leaves_nine_of_ten_stable_ids(strategy: str) -> None:
    names = [f"Part {letter}" for letter in "ABCDEFGHIJ"]
    old = quire.chunk(page(names), strategy, path="guides/auth.md")
    new = quire.chunk(page([*names[:2], "Inserted", *names[2:]]), strategy, path="guides/auth.md")
    kept = {chunk.stable_id for chunk in old} & {chunk.stable_id for chunk in new}
    assert len(old) >= 5
    assert len(kept) >= 0.9 * len(old)


@given(text=grammar.documents(), chosen=options())
def test_stable_ids_are_unique_in_a_document(text: str, chosen: dict[str, Any]) -> None:
    chunks = quire.chunk(text, **chosen)
    assert len({chunk.stable_id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        assert f"#{chunk.anchor}"[:64] in chunk.stable_id or (not chunk.anchor and "#" not in chunk.stable_id)
        assert chunk.url is None


def test_equal_texts_have_numbers() -> None:
    code = "```\n" + "x = 1\n" * 40 + "```\n\n"
    chunks = quire.chunk(f"# A\n\n{code * 3}", max_tokens=96, min_tokens=0, path="a.md")
    ids = [chunk.stable_id for chunk in chunks]
    assert len(set(ids)) == len(ids)
    assert any(each.endswith(".2") for each in ids)


def test_overlap_does_not_change_a_stable_id() -> None:
    text = "# A\n\n" + " ".join(f"Sentence {n} is about the number {n} and nothing else." for n in range(100))
    first, _, *_ = chunks = quire.chunk(text, "flow", max_tokens=128, target_tokens=80, path="a.md")
    last_sentence = first.original_text.rpartition(". ")[2]
    edited = quire.chunk(
        text.replace(last_sentence, last_sentence.upper()), "flow", max_tokens=128, target_tokens=80, path="a.md"
    )
    assert last_sentence in chunks[1].original_text[: chunks[1].overlap_chars]
    assert edited[1].stable_id == chunks[1].stable_id
    assert edited[1].original_text != chunks[1].original_text


@pytest.mark.parametrize("strategy", ["packed", "flow"])
def test_the_anchor_is_that_of_the_heading_at_the_start(strategy: str) -> None:
    text = "Preamble.\n\n" + "It has more. " * 60 + f"\n\n# Guide\n\n{page(['One', 'Two'])}\n## One\n\nAgain.\n"
    chunks = quire.chunk(text, strategy, max_tokens=128, min_tokens=0)
    document = chunks.document
    for chunk in chunks:
        assert chunk.anchor == document.sections[document.section_at(chunk.source_position.char_start)].anchor
    anchors = [chunk.anchor for chunk in chunks]
    assert anchors[0] == ""
    assert {"one", "two"} < set(anchors)
    assert anchors.count("two") > 1  # also in the middle of a section


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_empty_heading_gives_no_path(strategy: str) -> None:
    text = f"# Alpha\n\n{'Text. ' * 200}\n\n## Alpha sub\n\n### Empty child\n\n# Beta\n\n{'Other. ' * 200}"
    chunks = quire.chunk(text, strategy, **{} if strategy == "tree" else {"max_tokens": 256, "min_tokens": 0})
    beta = [chunk for chunk in chunks if "Other." in chunk.original_text and "Text." not in chunk.original_text]
    assert beta
    assert {chunk.header_path for chunk in beta} == {("Beta",)}


@pytest.mark.parametrize(
    ("dialect", "path", "front_matter", "address"),
    [
        (None, "guides/auth.md", "", "guides/auth"),
        (None, "guides/index.md", "", "guides/"),
        (None, "README.md", "", ""),
        (None, "a b/v1.2.mdx", "", "a%20b/v1.2"),
        ("github", "guides/README.md", "", "guides/README.md"),
        ("hugo", "Guides/_index.md", "", "guides/"),
        ("hugo", "Guides/My Page.md", "", "guides/my-page/"),
        ("hugo", "guides/auth.md", "slug: login", "guides/login/"),
        ("mkdocs", "guides/auth.md", "slug: login", "guides/auth/"),
        ("docusaurus", "01-guides/02-auth.md", "", "guides/auth"),
        ("docusaurus", "guides/auth.md", "slug: /login", "login"),
        ("vitepress", "guides/auth.md", "", "guides/auth.html"),
        ("myst", "guides/index.md", "", "guides/"),
        ("jekyll", "auth.markdown", "", "auth.html"),
    ],
)
def test_the_address_of_a_page(dialect: str | None, path: str, front_matter: str, address: str) -> None:
    text = f"---\n{front_matter or 'draft: false'}\n---\n# Log in\n\nText.\n"
    (chunk,) = quire.chunk(text, path=path, dialect=dialect, base_url="https://example.com/docs/")
    assert chunk.url == f"https://example.com/docs/{address}#log-in"
    (chunk,) = quire.chunk("Text.\n", path=path, dialect=dialect, base_url="/docs")
    assert chunk.url is not None
    assert "#" not in chunk.url


def test_a_base_url_must_be_an_address() -> None:
    with pytest.raises(quire.OptionError, match="base_url='docs' is invalid: must be an address"):
        quire.chunk("x", base_url="docs")


def test_records_are_read_back(tmp_path: Path) -> None:
    chunks = quire.chunk(page(["One", "Two"]), max_tokens=128, path="a.md", base_url="https://example.com")
    file = tmp_path / "chunks.jsonl"
    write_jsonl(file, [chunks])
    assert quire.read_jsonl(file) == list(chunks)
    assert [quire.Chunk.from_dict(chunk.to_dict()) for chunk in chunks] == list(chunks)
    assert quire.verify(chunks.document.text, quire.read_jsonl(file)) == []
    with file.open("a") as stream:
        stream.write('{"id": 1}\n')
    with pytest.raises(quire.InputError, match=f"line {len(chunks) + 1}.*id=1 is invalid"):
        quire.read_jsonl(file)
    with pytest.raises(quire.InputError, match="cannot be read"):
        quire.read_jsonl(tmp_path / "none.jsonl")


def test_chunks_in_a_notebook() -> None:
    shown = quire.chunk("# A & B\n\n<b>bold</b>\n", path="a.md")._repr_html_()
    assert shown.count("<div") == 2
    assert "# A &amp; B\n\n&lt;b>bold" in shown


def test_the_files_of_a_generator_set_the_rules_of_addresses(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (tmp_path / "mkdocs.yml").touch()
    (folder / "auth.md").write_text("# What's new & later\n\nText.\n")
    ((chunk,),) = quire.chunk_dir(folder, base_url="https://example.com")
    assert chunk.url == "https://example.com/auth/#whats-new-later"
    (tmp_path / "quire.toml").write_text('[trees.docs]\npath = "docs"\nbase_url = "https://example.com"\n')
    command = [sys.executable, "-m", "quire", "chunk", "--format", "jsonl"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
    assert quire.Chunk.from_dict(json.loads(printed)).url == chunk.url
