"""Pages of converted documents: from the markers of converters to chunks, hits and rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire

BREAK = "<!-- PageBreak -->"
DASHES = "-" * 48
FORMS = {
    "MinerU": ("<!-- page 1 of 3 -->\n\nOne.\n\n<!-- page 2 of 3 -->\n\nTwo.\n\n<!-- page 3 of 3 -->\n\nThree.\n"),
    "MarkItDown": "<!-- Slide number: 1 -->\nOne.\n\n<!-- Slide number: 2 -->\nTwo.\n\n<!-- Slide number: 3 -->\nThree.\n",
    "Marker": f"{{0}}{DASHES}\n\nOne.\n\n{{1}}{DASHES}\n\nTwo.\n\n{{2}}{DASHES}\n\nThree.\n",
    "PyMuPDF4LLM": "".join(f"{word}.\n\n--- end of page.page_number={number} ---\n\n" for number, word in enumerate(("One", "Two", "Three"), 1)),
    "Azure": f"One.\n\n{BREAK}\n\nTwo.\n\n{BREAK}\n\nThree.\n",
    "docling": "One.\n\n<!-- page break -->\n\nTwo.\n\n<!-- page break -->\n\nThree.\n",
    "pdfminer": "One.\n\n\fTwo.\n\n\fThree.\n\n\f",
}  # fmt: skip


@pytest.mark.parametrize("converter", FORMS)
@pytest.mark.parametrize("strategy", ["tree", "sections", "packed", "flow"])
def test_the_markers_of_converters(converter, strategy) -> None:
    text = FORMS[converter]
    chunks = quire.chunk(text, strategy)
    assert [(chunk.embed_text, chunk.pages) for chunk in chunks] == [("One.\n\nTwo.\n\nThree.", (1, 3))]
    assert text.strip().endswith(chunks[0].original_text.strip())  # spans are exact, below a first marker
    assert quire.verify(text, chunks) == quire.verify(text, list(chunks)) == []


def test_each_chunk_has_its_pages() -> None:
    text = f"# A\n\n{'one ' * 40}\n\n{BREAK}\n\n## B\n\n{'two ' * 40}\n\n<!-- page 7 -->\n\n## C\n\n{'seven ' * 40}\n"
    chunks = quire.chunk(text, "packed", max_tokens=64, target_tokens=64)
    assert [(chunk.section_title, chunk.pages) for chunk in chunks] == [("A", (1, 1)), ("B", (2, 2)), ("C", (7, 7))]
    assert not any("<!--" in chunk.embed_text for chunk in chunks)
    assert chunks[1].to_dict()["pages"] == [2, 2]
    assert quire.Chunk.from_dict(chunks[1].to_dict()) == chunks[1]


def test_a_sentence_over_a_page_break_stays_whole() -> None:
    text = f"# A\n\nThe cat\n\n{BREAK}\n\nsat on the mat. New\n\n{BREAK}\n\nYork is elsewhere.\n"
    document = quire.parse(text)
    assert [block.kind for block in document.blocks] == ["heading", "paragraph", "paragraph"]
    (chunk,) = quire.chunk(text)
    assert chunk.embed_text == "# A\n\nThe cat sat on the mat. New\n\nYork is elsewhere."


def test_code_has_no_markers() -> None:
    text = f"# A\n\n```html\n{BREAK}\n```\n\nText.\n"
    (chunk,) = quire.chunk(text)
    assert (chunk.pages, chunk.embed_text) == ((), text.rstrip())
    assert "pages" not in chunk.to_dict()
    (chunk,) = quire.chunk(f"{text}\n{BREAK}\n\nEnd.\n")
    assert (chunk.pages, chunk.embed_text.count("<!--")) == ((1, 2), 1)


def test_a_marker_of_ones_own() -> None:
    text = "One.\n\n[[page 12]]\n\nTwelve.\n"
    chunks = quire.chunk(text, page_marker=r"\[\[page (\d+)\]\]")
    assert [(chunk.embed_text, chunk.pages) for chunk in chunks] == [("One.\n\nTwelve.", (11, 12))]
    assert quire.verify(text, list(chunks)) == []
    with pytest.raises(quire.OptionError, match="page_marker='\\(' is invalid: must be a regular expression"):
        quire.chunk(text, page_marker="(")


def test_hits_have_pages(tmp_path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# A\n\nFirst.\n\n{BREAK}\n\nMore.\n\n## B\n\nNeedle.\n\n[p9]\n\nNine.\n")
    with quire.Index.open(tmp_path / ".quire") as index:
        index.update({"docs": tmp_path / "docs"}, reading={"docs": {"page_marker": r"\[p(\d+)\]"}})
        assert [hit.pages for hit in index.search("needle")] == [(2, 9)]
        assert index.get("a.md#a").pages == (1, 9)
        assert index.get("a.md#a", children=False).pages == (1, 2)


PIECES = st.sampled_from(
    ["# A", "## B", "text goes on", "A sentence.", "- item one\n- item two", "```\ncode", "```", "| a | b |\n|---|---|\n| 1 | 2 |",
     BREAK, "<!-- page 4 -->", f"{{2}}{DASHES}", "--- end of page.page_number=2 ---", "\f", "\fx", "> quote", "on the"]
)  # fmt: skip


@given(
    st.lists(PIECES, max_size=12),
    st.sampled_from(["\n", "\n\n"]),
    st.sampled_from(["tree", "sections", "packed", "flow"]),
)
def test_the_laws_hold(pieces, between, strategy) -> None:
    text = between.join(pieces)
    options = {"packed": {"max_tokens": 32, "target_tokens": 16}, "flow": {"max_tokens": 32, "min_tokens": 0}}
    chunks = quire.chunk(text, strategy, **options.get(strategy, {}))
    assert quire.verify(text, chunks) == []
    assert quire.verify(text, list(chunks)) == []
