"""Converters write page markers that quire knows: a PDF of two pages, whose sentence goes on over the page break."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import quire

pymupdf = pytest.importorskip("pymupdf")
pymupdf4llm = pytest.importorskip("pymupdf4llm")
MarkItDown = pytest.importorskip("markitdown").MarkItDown

PAGES = ("Report\n\nThe first page ends with half a", "sentence, and the second page goes on. Then it ends.")
CONVERTERS: dict[str, Callable[[str], str]] = {
    "pymupdf4llm": lambda file: pymupdf4llm.to_markdown(file, page_separators=True),
    "markitdown": lambda file: MarkItDown().convert(file).markdown,
}


@pytest.mark.parametrize("converter", CONVERTERS)
@pytest.mark.filterwarnings("ignore")
def test_pages_of_a_pdf(converter: str, tmp_path: Path) -> None:
    document = pymupdf.open()
    for text in PAGES:
        document.new_page().insert_text((72, 72), text)
    document.save(tmp_path / "a.pdf")
    text = CONVERTERS[converter](str(tmp_path / "a.pdf"))
    (chunk,) = chunks = quire.chunk(text)
    assert chunk.pages == (1, 2)
    assert "half a sentence, and" in " ".join(chunk.embed_text.split())
    assert "page_number" not in chunk.embed_text
    assert quire.verify(text, chunks) == []
