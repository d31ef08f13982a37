"""The strategy `flow`: what golden cases do not show; white space to the character, the guard, the ranges."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire import Chunks
from support import own_text


def cut(text: str, **options: Any) -> Chunks:
    chosen = {"tokenizer": "estimate", "breadcrumb_mode": "none", **options}
    chunks = quire.chunk(text, "flow", **chosen)
    assert quire.verify(text, chunks) == []
    return chunks


def normalised(text: str) -> str:
    (chunk,) = cut(text)
    return chunk.original_text


def codes(chunks: Chunks) -> list[str]:
    return [finding.code for finding in chunks.findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\n", "a\nb\nc"),
        ("# H   \n\ntext \t \n", "# H\n\ntext"),
        ("a \nb", "a\nb"),
        ("a\t\nb", "a\nb"),
        ("a  \nb", "a  \nb"),
        ("a  \r\nb", "a  \nb"),
        ("a\\\nb", "a\\\nb"),
        ("a  \n\nb", "a\n\nb"),
        ("a\n\n\n\n\nb", "a\n\nb"),
        ("a\n \n\t\n  \nb", "a\n\nb"),
        ("\n\n  \na\n\n\n", "a"),
        ("> a  \n> b", "> a  \n> b"),
        ("- a  \n  b", "- a  \n  b"),
        ("1. a  \n   b\n2. c  \n\n   d", "1. a  \n   b\n2. c\n\n   d"),
        ("a  \n  b", "a  \n  b"),
        ("- a\n\n\n\n- b", "- a\n\n- b"),
    ],
    ids=ascii,
)
def test_white_space(text: str, expected: str) -> None:
    assert normalised(text) == expected


@pytest.mark.parametrize(
    "block",
    [
        "```text\na  \n\n\n\nb \t\n```",
        "~~~\na  \n\n\n\nb \t\n~~~",
        "    a  \n\n\n\n    b",
        "| a | b |  \n|---|---| \n| 1 | 2 |",
        "<pre>\na  \n\n\n\nb\n</pre>",
        "<div>  \na \n</div>",
        "<!-- a  \n\n\n\nb -->",
        "```text\r\na  \r\nb\r\n```",
        "- item\n\n  ```text\n  a  \n\n\n\n  b\n  ```",
        "1. item\n\n   | a | b |  \n   |---|---| \n   | 1 | 2 |",
        "- item\n  - item\n\n    ```text\n    a  \n\n\n\n    b\n    ```",
        "> ```text\n> a  \n> b \t\n> ```",
    ],
    ids=ascii,
)
def test_code_tables_and_html_are_untouched(block: str) -> None:
    assert normalised(f"Before.  \n\n\n\n{block}\n\n\n\nAfter. \n") == f"Before.\n\n{block}\n\nAfter."
    assert normalised(f"{block}\n") == block


@pytest.mark.parametrize("text", ["# H  \n\n\n\na \nb\t\n\n\n\nc", "a\r\nb\r\n\r\n\r\n\r\nc"], ids=ascii)
def test_verbatim(text: str) -> None:
    (chunk,) = cut(text, normalize=False)
    assert chunk.original_text == text


@given(st.lists(st.sampled_from(["a", "b. C", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r"]), max_size=30))
def test_prose_has_regular_white_space(parts: list[str]) -> None:
    for chunk in cut("x" + "".join(parts), min_tokens=0):
        if chunk.node_types == ("paragraph",):
            assert "\r" not in chunk.original_text
            assert "\n\n\n" not in chunk.original_text
            for line in chunk.original_text.split("\n"):
                assert line in (line.rstrip(" \t"), line.rstrip(" \t") + "  ")


SENTENCES = [f"Sentence number {number} has a few words." for number in range(1, 31)]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_overlap_is_the_last_sentences(count: int) -> None:
    text = "\n\n".join(" ".join(SENTENCES[start : start + 3]) for start in range(0, 30, 3))
    chunks = cut(text, min_tokens=8, target_tokens=60, max_tokens=120, overlap_sentences=count)
    assert len(chunks) > 2
    assert chunks[0].overlap_chars == 0
    for before, chunk in pairwise(chunks):
        repeated = chunk.original_text[: chunk.overlap_chars].strip()
        sentences = own_text(before).replace("\n\n", " ").split(". ")
        expected = ". ".join(sentences[len(sentences) - count :]) if count else ""
        assert repeated.replace("\n\n", " ") == expected


def test_overlap_is_not_part_of_the_position() -> None:
    text = "\n\n".join(" ".join(SENTENCES[start : start + 3]) for start in range(0, 30, 3))
    for chunk in cut(text, min_tokens=8, target_tokens=60, max_tokens=120):
        place = chunk.source_position
        assert text[place.char_start : place.char_end] == own_text(chunk)
        assert chunk.added_chars == chunk.overlap_chars


def test_overlap_never_passes_the_cap() -> None:
    text = "\n\n".join(" ".join(SENTENCES[start : start + 4]) for start in range(0, 28, 4))
    for cap in range(42, 70, 3):
        chunks = cut(text, min_tokens=8, max_tokens=cap, breadcrumb_mode="always", title="A title")
        assert all(chunk.token_stats.embed_tokens <= cap for chunk in chunks)


def test_overlap_has_complete_sentences_only() -> None:
    long = "This sentence is cut between its words" + " and it goes on" * 16 + "."
    text = f"{long} Short.\n\n{' '.join(SENTENCES[:5])}\n"
    chunks = cut(text, min_tokens=0, target_tokens=60, max_tokens=80)
    for chunk in chunks:
        overlap = chunk.original_text[: chunk.overlap_chars].strip()
        assert not overlap or overlap[0].isupper()


CODE = "```text\n" + "some code in a line\n" * 6 + "```"
TABLE = "| a | b |\n|---|---|\n" + "| One. Two. | Three. Four. |\n" * 4


@pytest.mark.parametrize("block", [CODE, TABLE.rstrip()], ids=["code", "table"])
def test_no_overlap_into_or_out_of_code_and_tables(block: str) -> None:
    prose = " ".join(SENTENCES[:4])
    chunks = cut(f"{prose}\n\n{block}\n\n{prose}\n", min_tokens=8, target_tokens=40, max_tokens=64)
    assert [chunk.overlap_chars for chunk in chunks] == [0, 0, 0]


def test_no_overlap_before_a_heading() -> None:
    prose = " ".join(SENTENCES[:4])
    chunks = cut(f"{prose}\n\n# Heading\n\n{prose}\n", min_tokens=8, target_tokens=40, max_tokens=64)
    assert [chunk.overlap_chars for chunk in chunks] == [0, 0]


def test_a_document_that_fits_is_one_chunk() -> None:
    assert len(cut("Tiny.")) == 1
    text = "# A\n\n" + "\n\n".join(["x" * 38] * 12)
    assert len(cut(text, min_tokens=16, target_tokens=32, max_tokens=128)) == 1
    assert codes(cut("Tiny.")) == []


@given(
    st.lists(st.integers(min_value=1, max_value=40), min_size=1, max_size=20),
    st.sampled_from([(8, 24, 40), (16, 32, 32), (16, 40, 64), (32, 64, 64)]),
)
def test_a_chunk_below_the_minimum_fits_no_neighbour_and_is_told(
    sizes: list[int], limits: tuple[int, int, int]
) -> None:
    least, target, most = limits
    text = "\n\n".join(" ".join(["Words."] * size) for size in sizes)
    chunks = cut(text, min_tokens=least, target_tokens=target, max_tokens=most, overlap_sentences=0)
    assert all(chunk.token_stats.tokens <= most for chunk in chunks)
    small = [chunk.token_stats.tokens < least for chunk in chunks]
    assert codes(chunks).count("below-minimum") == (sum(small) if len(chunks) > 1 else 0)
    for number, (before, after) in enumerate(pairwise(chunks)):
        if small[number] or small[number + 1]:
            together = text[before.source_position.char_start : after.source_position.char_end]
            assert -(-len(together) // 4) > most


def test_closes_before_a_heading_if_that_is_enough() -> None:
    part = " ".join(SENTENCES[:3])
    text = f"{part}\n\n# Two\n\n{part}\n\n# Three\n\n{part}\n"
    chunks = cut(text, min_tokens=8, target_tokens=48, max_tokens=64)
    assert [chunk.contained_headings for chunk in chunks] == [(), ("Two",), ("Three",)]


def test_below_minimum_is_a_finding() -> None:
    text = f"```text\n{'x' * 130}\n```\n\nToo small.\n"
    chunks = cut(text, min_tokens=16, max_tokens=36)
    assert len(chunks) == 2
    assert "below-minimum" in codes(chunks)


FORMATTING_ONLY = f"{'x' * 127}\n\n---\n\n{'y' * 127}\n"
HEADING_ONLY = "# One\n\n## Two\n"
CODE_ONLY = "```text\ncode\n```\n"
TOO_SHORT = f"{'x' * 127}\n\nShort.\n"
GUARDED: list[tuple[str, str, dict[str, Any]]] = [
    ("formatting-only", FORMATTING_ONLY, {"max_tokens": 32, "min_tokens": 0}),
    ("heading-only", HEADING_ONLY, {}),
    ("code-without-context", CODE_ONLY, {}),
    ("too-short", TOO_SHORT, {"max_tokens": 32, "min_tokens": 16}),
]
each_reason = pytest.mark.parametrize(("reason", "text", "options"), GUARDED, ids=[each[0] for each in GUARDED])


@each_reason
def test_guard_warns(reason: str, text: str, options: dict[str, Any]) -> None:
    assert f"guard-kept-{reason}" in codes(cut(text, **options))


@each_reason
def test_guard_drops(reason: str, text: str, options: dict[str, Any]) -> None:
    kept = cut(text, guard="warn", **options)
    left = cut(text, guard="drop", **options)
    assert len(left) == len(kept) - 1
    assert f"guard-dropped-{reason}" in codes(left)


@each_reason
def test_guard_raises(reason: str, text: str, options: dict[str, Any]) -> None:
    with pytest.raises(quire.GuardError, match=reason):
        cut(text, guard="raise", path="docs/a.md", **options)
    with pytest.raises(quire.GuardError, match=r'docs/a\.md: line \d+, .*; the document is refused; .* guard="drop"'):
        cut(text, guard="raise", path="docs/a.md", **options)


def test_guard_lets_good_chunks_pass() -> None:
    text = "# One\n\nText.\n\n```text\ncode\n```\n"
    assert codes(cut(text, guard="raise")) == []


def test_code_below_its_breadcrumb_has_context() -> None:
    assert codes(quire.chunk(CODE_ONLY, "flow", path="a.md", guard="raise")) == []


def test_neighbours_of_a_dropped_chunk_know_each_other() -> None:
    first, last = cut(FORMATTING_ONLY, max_tokens=32, min_tokens=0, guard="drop")
    assert (first.prev_id, first.next_id) == (None, last.id)
    assert (last.prev_id, last.next_id) == (first.id, None)


def test_header_path_is_where_the_text_starts() -> None:
    text = "Preamble.\n\n# One\n\nText.\n\n## Two\n\nText.\n"
    (chunk,) = cut(text)
    assert chunk.header_path == ()
    assert chunk.contained_headings == ("One", "Two")
    (chunk,) = cut("# One\n\nText.\n\n# Two\n\nText.\n")
    assert chunk.header_path == ("One",)


def test_options_that_cannot_be_honoured() -> None:
    with pytest.raises(quire.OptionError, match="half"):
        quire.chunk("Text.", "flow", min_tokens=300)
    with pytest.raises(quire.OptionError, match="at most max_tokens"):
        quire.chunk("Text.", "flow", target_tokens=513)
    with pytest.raises(quire.OptionError, match="at least 32"):
        quire.chunk("Text.", "flow", max_tokens=31)


WORDS = {"max_tokens": 128, "tokenizer": "o200k_base"}


def test_a_sentence_that_fits_is_not_torn_beside_one_that_does_not() -> None:
    whole = "A sentence that fits the cap stays as it is, whatever is above it and below it."
    for words in range(130, 170):
        chunks = cut(f"{whole} {'Word ' + 'word ' * words}end.\n\n{whole}\n", **WORDS)
        assert (own_text(chunks[0]).count(whole), own_text(chunks[-1]).count(whole)) == (1, 1)


def test_sentences_come_before_words() -> None:
    text = "# One\n\n" + "One two three four. " * 30 + "Word " + "word " * 130 + "end.\n"
    for chunk in cut(text, **WORDS)[:-2]:
        assert own_text(chunk).endswith("four.")


def test_words_that_are_no_sentence_are_not_repeated() -> None:
    """Neither from the part of a sentence that a cut between words has left, nor into it."""
    text = f"{('word ' * 130).strip()}.\n\nA short one. Another one.\n"
    chunks = cut(text, **WORDS, overlap_sentences=3)
    assert [chunk.overlap_chars for chunk in chunks] == [0, 0]


@pytest.mark.parametrize("marks", ["> ", "> > "])
def test_the_marks_of_a_quote_are_repeated_between_words(marks: str) -> None:
    chunks = cut(f"{marks}{('word ' * 130).strip()}.\n", **WORDS)
    assert len(chunks) == 2
    assert chunks[1].original_text.startswith(f"{marks}word")


def counted(text: str, tokenizer: Any, **options: Any) -> int:
    """How many characters are counted in cutting a text."""
    seen = 0

    def count(part: str) -> int:
        nonlocal seen
        seen += len(part)
        return int(tokenizer(part))

    chunks = quire.chunk(text, "flow", tokenizer=count, breadcrumb_mode="none", **options)
    assert chunks
    return seen


def words_only(text: str) -> int:
    return sum(1 for word in text.split() if word.isalpha())


@pytest.mark.parametrize("nothing", ["***\n\n", "1. 2. 3. 4.\n"], ids=["rules", "items"])
@pytest.mark.parametrize("words", [490, 510, 512])
def test_the_cost_grows_no_faster_than_the_text(nothing: str, words: int) -> None:
    """What counts nothing gives thousands of places to cut at."""

    def cost(times: int) -> float:
        text = f"{'word ' * words}\n\n{nothing * times}\n{'word ' * 40}\n\n{'word ' * 500}"
        return counted(text, words_only, target_tokens=512) / len(text)

    assert cost(4000) < 2 * cost(500) + 20


def test_the_cost_grows_no_faster_than_the_cap() -> None:
    def cost(cap: int) -> float:
        text = "ab cd ef.\n\n" * (cap * 102 // 300)
        sizes = {"max_tokens": cap, "target_tokens": cap, "min_tokens": cap // 2}
        return counted(text, lambda part: len(part.split()), **sizes) / len(text)

    assert cost(16000) < 2 * cost(1000) + 20
