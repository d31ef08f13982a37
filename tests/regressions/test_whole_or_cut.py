"""What fits is not cut, what is cut keeps the cap, and a chunk is named by its text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import quire
from quire import Chunks
from support import own_text


def words(text: str) -> int:
    return len(text.split())


def cut(text: str, strategy: str, **options: Any) -> Chunks:
    chunks = quire.chunk(text, strategy, **options)
    assert quire.verify(text, chunks, tokenizer=options.get("tokenizer")) == []
    return chunks


@pytest.mark.parametrize("strategy", ["packed", "flow"])
@pytest.mark.parametrize("word", ["antidisestablishmentarianism ", "a "])
def test_a_document_that_fits_is_one_chunk_whatever_counts(strategy: str, word: str) -> None:
    text = f"# One\n\n{word * 200}\n\n## Two\n\n{word * 200}\n"
    assert len(cut(text, strategy, tokenizer=words, breadcrumb_mode="none", max_tokens=406)) == 1


def test_verify_tells_that_a_document_was_cut_though_it_fits() -> None:
    text = "# One\n\nSome text.\n\n# Two\n\nMore text.\n"
    chunks = quire.chunk(text, "packed", hard_cap=32, tokenizer=lambda text: 6 * words(text))
    assert len(chunks) == 2
    options = {**chunks[0].metadata["chunkingOptions"], "tokenizer": "o200k_base", "max_tokens": 512}
    metadata = {**chunks[0].metadata, "chunkingOptions": options}
    codes = [finding.code for finding in quire.verify(text, [replace(each, metadata=metadata) for each in chunks])]
    assert "cut-though-it-fits" in codes


@pytest.mark.parametrize(
    ("strategy", "options"),
    [("flow", {"min_tokens": 8, "target_tokens": 24, "max_tokens": 40}), ("packed", {"hard_cap": 32, "min_tokens": 0}),
     ("sections", {"min_tokens": 0, "max_tokens": 32, "tokenizer": "o200k_base"})],
)  # fmt: skip
def test_a_heading_without_text_names_no_chunk(strategy: str, options: dict[str, Any]) -> None:
    text = "# Alpha\n\nSome text.\n\n## Alpha sub\n\nMore text about it. It goes on.\n\n### Empty child\n\n# Beta\n\n"
    chunks = cut(f"{text}{'Text of beta. ' * 5}\n", strategy, **options)
    beta = next(chunk for chunk in chunks if "Text of beta" in chunk.original_text)
    assert beta.original_text.startswith("### Empty child")
    assert beta.header_path == ("Beta",)


@pytest.mark.parametrize("strategy", ["flow", "packed", "sections"])
def test_a_parent_without_text_is_only_a_part_of_the_path(strategy: str) -> None:
    (chunk,) = cut("# Parent\n\n## Child\n\nText.\n", strategy)
    assert chunk.header_path == ("Parent", "Child")


@pytest.mark.parametrize(
    ("opening", "line", "closing"),
    [("", "- item {} {}", ""), ("", "> text {} {}\n>", ""), (":::note\n\n", "text {} {}", "\n:::\n")],
    ids=["list", "quote", "directive"],
)
def test_sections_are_cut_at_the_blank_lines_of_a_container(opening: str, line: str, closing: str) -> None:
    blocks = "\n".join(line.format(number, "word " * 50) + "\n" * (line[-1] != ">") for number in range(40))
    chunks = cut(f"# Long\n\n{opening}{blocks}{closing}", "sections", tokenizer="o200k_base")
    assert len(chunks) > 2
    assert max(chunk.token_stats.embed_tokens for chunk in chunks) <= 800


def test_the_minimum_of_sections_counts_the_body() -> None:
    text = f"# One\n\n{'y' * 600}\n\n# A heading with characters of its own\n\n"
    assert len(cut(f"{text}{'x' * 396}\n", "sections")) == 1  # 99 tokens without the heading
    assert len(cut(f"{text}{'x' * 400}\n", "sections")) == 2


def test_special_tokens_count(tmp_path: Path) -> None:
    names = ("[UNK]", "[CLS]", "[SEP]", "alpha", "beta", "gamma", ".", "Title")
    tokenizer = Tokenizer(models.WordPiece({name: rank for rank, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = [("[CLS]", 1), ("[SEP]", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    file = tmp_path / "tokenizer.json"
    tokenizer.save(str(file))
    text = "# Title\n\n" + "alpha beta gamma. " * 400
    for strategy, options in (("packed", {"hard_cap": 64}), ("flow", {"max_tokens": 64})):
        chunks = cut(text, strategy, tokenizer=str(file), **options)
        assert max(len(tokenizer.encode(chunk.embed_text).ids) for chunk in chunks) <= 64


def test_overlap_over_headings_and_out_of_lists() -> None:
    part = "## Part {0}\n\nFirst sentence of part {0}. Second sentence of it.\n\n- An item of part {0}. It ends so.\n\n"
    text = "".join(part.format(number) for number in range(12))
    sizes = {"min_tokens": 8, "target_tokens": 32, "max_tokens": 96, "overlap_sentences": 1}
    assert not any(chunk.overlap_chars for chunk in cut(text, "flow", **sizes))
    chunks = cut(text, "flow", overlap="always", **sizes)
    assert len(chunks) > 5
    for before, chunk in pairwise(chunks):
        repeated = chunk.original_text[: chunk.overlap_chars].strip()
        assert repeated
        assert own_text(before).endswith(repeated)


@pytest.mark.parametrize("heading", ["# Title t {{#{}}}\n\n", "Title t {{#{}}}\n=======\n\n"], ids=["atx", "setext"])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("{{< figure >}}", "{{< /figure >}}"), ("{{% figure %}}", "{{% /figure %}}"), (":::note", ":::")],
)
def test_a_heading_above_a_container_that_just_fits_counts(heading: str, opening: str, closing: str) -> None:
    for length in range(180, 260, 8):
        text = f"{heading.format('z' * length)}{opening}\n{'alpha beta gamma. ' * 97}\n{closing}\n"
        chunks = cut(text, "flow")
        assert max(chunk.token_stats.embed_tokens for chunk in chunks) <= 512


def test_a_directive_with_carriage_returns_keeps_the_cap() -> None:
    text = "Intro text.\r\r:::note\r" + "word word word. " * 30 + "\r:::\r"
    assert max(chunk.token_stats.embed_tokens for chunk in cut(text, "packed", hard_cap=64)) <= 64


def test_a_line_end_in_front_of_a_chunk_is_not_part_of_it() -> None:
    text = "<script>\n" + "word word word. " * 12 + "\n\n<sc\n  #\tone two three four five six\n"
    chunks = cut(text, "flow", target_tokens=15, max_tokens=48)
    assert not any(chunk.original_text.startswith("\n") for chunk in chunks)


@pytest.mark.parametrize(
    "text", ["word " * 4000, "x" * 20_000, "Sentence one. " * 1430], ids=["words", "x", "sentences"]
)
def test_small_targets_do_not_count_the_text_again_and_again(text: str) -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text)

    quire.chunk(text, "packed", hard_cap=40, target=4, tokenizer=count)
    assert counted < 60 * len(text)


@pytest.mark.parametrize("strategy", ["packed", "flow"])
@pytest.mark.parametrize("counter", ["o200k_base", "estimate", words])
@pytest.mark.parametrize("heading", ["# Teleport", "Teleport to *there*\n===", "# A\n\n## B"])
def test_a_document_is_whole_at_the_cap_if_its_one_chunk_fits(strategy: str, counter: Any, heading: str) -> None:
    """The breadcrumb counts only if it is there: above a text that starts with its own title there is none."""
    text = f"{heading}\n\n{'some internationalization words. ' * 40}\n\n{'More of them. ' * 30}\n"
    (whole,) = cut(text, strategy, tokenizer=counter, path="a.md", max_tokens=4000)
    size = whole.token_stats.embed_tokens
    assert len(cut(text, strategy, tokenizer=counter, path="a.md", max_tokens=size)) == 1
    assert len(cut(text, strategy, tokenizer=counter, path="a.md", max_tokens=size - 1)) > 1
