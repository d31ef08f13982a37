"""The laws hold: on random documents with random options, on the specification's examples, on real documents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

import quire
from quire import Chunk, Chunks
from quire.model.options import STRATEGIES
from support import grammar, shared
from support.strategies import options


def assert_laws(text: str, **chosen: Any) -> Chunks:
    chunks = quire.chunk(text, **chosen)
    assert quire.verify(text, chunks, tokenizer=chosen.get("tokenizer")) == []
    again = quire.chunk(text, **chosen)
    assert [chunk.to_dict() for chunk in again] == [chunk.to_dict() for chunk in chunks]
    return chunks


@given(grammar.documents(), options())
def test_random_documents(text: str, chosen: dict[str, Any]) -> None:
    assert_laws(text, **chosen)


@given(grammar.documents(surrogates=True), options())
def test_random_documents_with_lone_surrogates(text: str, chosen: dict[str, Any]) -> None:
    assert_laws(text, **chosen)


@given(grammar.small_texts(), options())
def test_random_texts(text: str, chosen: dict[str, Any]) -> None:
    assert_laws(text, **chosen)


@shared.needs_shared
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_commonmark_examples(strategy: str) -> None:
    for example in shared.commonmark_examples():
        assert_laws(example["markdown"], strategy=strategy, path="example.md")


@shared.needs_shared
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_shared_document(strategy: str) -> None:
    for name, data in shared.documents():
        text = data.decode()
        chunks = quire.chunk(text, strategy, path=name)
        assert quire.verify(text, chunks) == [], name


@given(grammar.documents())
def test_blocks_hold_every_character(text: str) -> None:
    document = quire.parse(text)
    seen = document.source.body_start
    for block in document.blocks:
        assert text[seen : block.start].strip(" \t\r\n") == ""
        assert block.start < block.end
        for inner in block.walk():
            assert block.start <= inner.start <= inner.end <= block.end
        seen = block.end
    assert text[seen:].strip(" \t\r\n") == ""


@given(grammar.documents())
def test_a_section_is_the_sum_of_its_parts(text: str) -> None:
    sections = quire.parse(text).sections
    for section in sections[1:]:
        children = [below for below in sections if below.parent == section.number]
        ends = [section.body_end, *(child.end for child in children)]
        assert ends == [*(child.start for child in children), section.end]


TEXT = "Preamble.\n\n# A\n\nOne é.\n\n## B\n\nTwo.\n\nThree.\n\n# C\n\nFour.\n"


def whole() -> list[Chunk]:
    return list(quire.chunk(TEXT, strategy="tree", path="a.md"))


def moved(chunk: Chunk, **changes: int) -> Chunk:
    return replace(chunk, source_position=replace(chunk.source_position, **changes))


def counted(chunk: Chunk, **changes: int) -> Chunk:
    return replace(chunk, token_stats=replace(chunk.token_stats, **changes))


def with_chunk(number: int, chunk: Chunk) -> list[Chunk]:
    chunks = whole()
    chunks[number] = chunk
    return chunks


BROKEN = {
    "a chunk is missing": ("lost-text", lambda: whole()[:2] + whole()[3:]),
    "all chunks are missing": ("lost-text", list),
    "a chunk ends too early": ("lost-text", lambda: with_chunk(2, moved(whole()[2], char_end=whole()[2].source_position.char_end - 3))),
    "a chunk comes twice": ("overlapping-spans", lambda: [*whole()[:2], whole()[1], *whole()[2:]]),
    "chunks are in another order": ("overlapping-spans", lambda: whole()[::-1]),
    "a span is past the end": ("impossible-span", lambda: with_chunk(3, moved(whole()[3], char_end=len(TEXT) + 9))),
    "a span is empty": ("impossible-span", lambda: with_chunk(0, moved(whole()[0], char_end=0))),
    "the text was changed": ("altered-text", lambda: with_chunk(1, replace(whole()[1], original_text="One e."))),
    "another text is embedded": ("altered-text", lambda: with_chunk(1, replace(whole()[1], embed_text="Something else"))),
    "something was added in silence": ("unrecorded-text", lambda: with_chunk(1, replace(whole()[1], embed_text="More\n\n" + whole()[1].embed_text))),
    "an overlap is made up": ("unrecorded-text", lambda: with_chunk(1, replace(whole()[1], overlap_chars=1))),
    "bytes are characters": ("wrong-position", lambda: with_chunk(2, moved(whole()[2], byte_start=whole()[2].source_position.char_start))),
    "a line is wrong": ("wrong-position", lambda: with_chunk(2, moved(whole()[2], end_line=99))),
    "the size is wrong": ("wrong-position", lambda: with_chunk(2, moved(whole()[2], total_chars=1))),
    "the headings are another section's": ("wrong-headings", lambda: with_chunk(2, replace(whole()[2], header_path=("C",)))),
    "a heading is lost": ("lost-heading", lambda: with_chunk(2, replace(whole()[2], header_path=("A",)))),
    "two chunks have one id": ("duplicate-id", lambda: with_chunk(2, replace(whole()[2], id=whole()[1].id))),
    "numbers do not count up": ("wrong-number", lambda: with_chunk(2, replace(whole()[2], chunk_number=7))),
    "a neighbour is another's": ("broken-link", lambda: with_chunk(2, replace(whole()[2], prev_id=None))),
    "tokens are guessed": ("wrong-count", lambda: with_chunk(1, counted(whole()[1], tokens=1))),
    "the breadcrumb is not counted": ("wrong-count", lambda: with_chunk(1, counted(whole()[1], embed_tokens=whole()[1].token_stats.tokens))),
    "the estimate is wrong": ("wrong-count", lambda: with_chunk(1, counted(whole()[1], estimated_tokens=0))),
}  # fmt: skip


def test_the_whole_document_is_lawful() -> None:
    assert quire.verify(TEXT, whole()) == []


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_chunk_is_caught(what: str) -> None:
    code, make = BROKEN[what]
    findings = quire.verify(TEXT, make())
    assert code in {finding.code for finding in findings}
    assert all(finding.message and finding.line >= 1 for finding in findings)


def test_a_finding_says_what_and_where() -> None:
    chunks = quire.chunk(TEXT, strategy="tree", path="a.md")
    del chunks[2]
    finding = next(each for each in quire.verify(TEXT, chunks) if each.code == "lost-text")
    assert (finding.path, finding.line) == ("a.md", 9)
    assert "Two." in finding.message
    assert str(finding) == f"a.md:9: {finding.message} [lost-text]"


def test_every_chunk_of_another_text_is_caught() -> None:
    assert quire.verify(TEXT.replace("Two", "Owt"), whole()) != []


def test_a_chunk_over_the_cap_is_caught() -> None:
    chunks = list(quire.chunk(TEXT, strategy="packed", path="a.md"))
    metadata = dict(chunks[0].metadata)
    metadata["chunkingOptions"] = {**metadata["chunkingOptions"], "max_tokens": 8}
    findings = quire.verify(TEXT, [replace(chunks[0], metadata=metadata)])
    assert [finding.code for finding in findings] == ["over-cap"]


def test_a_chunk_that_ends_with_a_heading_is_caught() -> None:
    """The cut between two chunks moved to behind the heading of the second."""
    words = " ".join(["word"] * 30)
    text = f"# A\n\n{words}\n\n# B\n\n{words}\n"
    first, second = quire.chunk(text, strategy="packed", path="a.md", hard_cap=64, target=64)
    heading, start = text.index("# B") + 3, text.index("# B") + 5
    before = moved(first, char_end=heading, byte_end=heading, end_line=5)
    after = moved(second, char_start=start, byte_start=start, start_line=7)
    assert "heading-at-end" in {finding.code for finding in quire.verify(text, [before, after])}


ROWS = "# T\n\n| a | b |\n|---|---|\n" + "| one | two |\n" * 20
CODE = "# T\n\n```py\n" + "x = 1\n" * 40 + "```\n"


@pytest.mark.parametrize(
    ("text", "number", "lost", "said"),
    [
        (ROWS, 1, "| a | b |\n|---|---|\n", "a table without its header"),
        (CODE, 1, "```py\n", "code whose fence is not opened again"),
        (CODE, 1, "\n```", "code whose fence is not closed"),
        (f"- item\n\n    {CODE[5:].replace(chr(10), chr(10) + '    ')}", 2, "    ```py\n", "not opened again"),
    ],
)
def test_a_piece_that_lacks_what_is_repeated_is_caught(text: str, number: int, lost: str, said: str) -> None:
    chunks = quire.chunk(text, strategy="packed", path="a.md", hard_cap=64, breadcrumb_mode="none")
    assert quire.verify(text, chunks) == []
    own = chunks[number].original_text.replace(lost, "", 1)
    added = chunks[number].added_chars - len(lost)
    assert len(own) + len(lost) == len(chunks[number].original_text)
    chunks[number] = replace(chunks[number], original_text=own, embed_text=own, added_chars=added)
    assert [each.message for each in quire.verify(text, chunks) if each.code == "torn-block" and said in each.message]


def test_normalised_text_that_is_not_that_of_its_span_is_caught() -> None:
    (chunk,) = quire.chunk("one  \r\ntwo\r\n", strategy="flow", path="a.md")
    assert quire.verify("one  \r\ntwo\r\n", [chunk]) == []
    broken = replace(chunk, original_text="one two", embed_text="one two")
    assert "altered-text" in {finding.code for finding in quire.verify("one  \r\ntwo\r\n", [broken])}
