"""Functions that count tokens: a text may have more of them than its parts have together. The cap holds all the same."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import quire
from quire import Chunks

Count = Callable[[str], int]

FUNCTIONS: dict[str, Count] = {
    "a quarter, rounded down": lambda text: len(text) // 4,
    "a quarter, rounded": lambda text: round(len(text) / 4),
    "words and a third": lambda text: int(len(text.split()) * 1.3),
}
SENTENCE = "Some of the words here are longer than others, {}. "
SIZES = {"packed": "hard_cap", "flow": "max_tokens"}
each_strategy = pytest.mark.parametrize("strategy", SIZES)
each_function = pytest.mark.parametrize("count", FUNCTIONS.values(), ids=FUNCTIONS.keys())


def cut(text: str, strategy: str, count: Count, cap: int, **options: Any) -> Chunks:
    chunks = quire.chunk(text, strategy, tokenizer=count, **{SIZES[strategy]: cap}, **options)
    assert quire.verify(text, chunks, tokenizer=count) == []
    assert max(count(chunk.embed_text) for chunk in chunks) <= cap
    return chunks


def document(length: int) -> str:
    """Headings of many lengths, each above a paragraph, a list and code that have to be cut."""
    parts = []
    for number in range(40):
        words = " ".join("word"[: 1 + (number + each) % 4] for each in range(1 + number % 5))
        prose = "".join(SENTENCE.format("x" * (number * each % 7)) for each in range(1, length))
        code = "".join(f"$ run {'y' * (number * each % 9)}\n" for each in range(length))
        items = "".join(f"- item {'z' * (number * each % 11)}\n" for each in range(length))
        block = [prose.rstrip(), f"```console\n{code}```", items.rstrip(), prose.replace(".", "").rstrip()][number % 4]
        parts.append(f"{'#' * (1 + number % 3)} {words}\n\n{block}\n")
    return "\n".join(parts)


def test_a_heading_leaves_room_for_what_stands_below_it() -> None:
    count = FUNCTIONS["a quarter, rounded down"]
    text = f"## {'h' * 18}\n\n{('word ' * 30)[:108].strip()}.\n\n" + "# Other\n\nmore text here.\n" * 8
    for strategy in SIZES:
        chunks = cut(text, strategy, count, 32, breadcrumb_mode="none", min_tokens=0)
        assert [finding.code for finding in chunks.findings if finding.code != "guard-kept-too-short"] == []


@each_strategy
@each_function
@pytest.mark.parametrize("mode", ["none", "always", "conditional"])
@pytest.mark.parametrize("cap", [32, 40, 47, 64, 81, 128])
def test_nothing_is_over_the_cap_and_no_line_is_left_out(strategy: str, count: Count, mode: str, cap: int) -> None:
    text = document(cap // 4)
    chunks = cut(text, strategy, count, cap, breadcrumb_mode=mode, title="T")
    assert "heading-too-long" not in {finding.code for finding in chunks.findings}
    if mode == "always":
        assert [chunk.id for chunk in chunks if chunk.embed_text == chunk.original_text] == []


@each_strategy
def test_closing_headings_leave_room(strategy: str) -> None:
    count = FUNCTIONS["a quarter, rounded down"]
    for length in range(40):
        text = f"{'word ' * 20}{'x' * length}. {'word ' * 30}\n\n# The end\n\n## It is\n"
        chunks = cut(text, strategy, count, 48, breadcrumb_mode="none", min_tokens=0)
        assert chunks[-1].contained_headings == ("The end", "It is")
        assert "word" in chunks[-1].original_text


@each_strategy
@pytest.mark.parametrize("mode", ["none", "always"])
def test_a_heading_keeps_as_much_of_its_text_as_the_cap_allows(strategy: str, mode: str) -> None:
    def count(text: str) -> int:
        return len(text.split()) + (100 if text.count("#") and text.count("below") else 0)

    text = "# One\n\nThis is below.\n\n" + "".join(f"# Part {n}\n\nSome {'more ' * 20}text.\n\n" for n in range(9))
    chunks = cut(text, strategy, count, 64, breadcrumb_mode=mode, title="T", min_tokens=0)
    assert [chunk.original_text for chunk in chunks[:2]] == ["# One\n\nThis is", "below."]


def test_nothing_keeps_a_function_that_has_counted() -> None:
    class Words:
        def __call__(self, text: str) -> int:
            return len(text.split())

    count = Words()
    chunks = cut(document(6), "packed", count, 64)
    kept = weakref.ref(count)
    del count
    gc.collect()
    assert chunks
    assert kept() is None
