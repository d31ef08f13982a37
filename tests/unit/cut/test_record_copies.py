"""Chunks can be copied and sent to another process, whether their fields were read before or not."""

from __future__ import annotations

import copy
import pickle

import pytest

import quire

TEXT = (
    "---\ntags: [a, b]\nnested: {x: 1}\n---\n\n# Guide\n\nText.\n\n## Part\n\n```sh\nls\n```\n\n| a |\n|---|\n| 1 |\n"
)


@pytest.mark.parametrize("strategy", ["packed", "flow", "sections", "tree"])
def test_a_copy_has_the_same_record(strategy: str) -> None:
    chunks = quire.chunk(TEXT, strategy, path="a.md")
    sent = pickle.loads(pickle.dumps(chunks))
    copied = [copy.deepcopy(chunk) for chunk in quire.chunk(TEXT, strategy, path="a.md")]
    assert [each.to_dict() for each in sent] == [each.to_dict() for each in copied] == [c.to_dict() for c in chunks]
    assert sent.findings == chunks.findings
    assert sent.document.sections[1].slug == "guide"
    assert sent[0] == chunks[0]
    with pytest.raises(TypeError):
        sent[0].metadata["x"] = 1


def test_chunks_can_be_in_a_set() -> None:
    chunks = quire.chunk(TEXT, "tree", path="a.md")
    assert len({*chunks, *quire.chunk(TEXT, "tree", path="a.md")}) == len(chunks) > 1


def test_printed_chunks_are_short() -> None:
    text = "# Guide\n\nOne\ntwo.\n\n## Part\n\n" + "word " * 40
    chunks = quire.chunk(text, "tree", path="docs/a.md")
    assert repr(chunks) == "<Chunks: 2 chunks of docs/a.md, 0 findings, tree>"
    assert repr(chunks[0]) == "<Chunk doc:docs/a.md#guide\n  Guide, lines 3 to 4, 6 tokens\n  One two.>"
    assert repr(chunks[1]).endswith("word word word…>")
    assert repr(quire.chunk("Text.")) == "<Chunks: 1 chunk of untitled, 0 findings, packed>"
    assert repr(quire.chunk("")) == "<Chunks: 0 chunks of untitled, 0 findings, packed>"
    assert repr(quire.chunk("text")[0]) == "<Chunk doc:untitled::ch0\n  lines 1 to 1, 1 tokens\n  text>"


def test_a_table_is_one_line() -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas: make test-integrations")
    chunks = quire.chunk(TEXT, "tree", path="a.md")
    table = pandas.DataFrame(map(quire.flat, chunks))
    assert [*table.columns] == [*quire.flat(chunks[0])]
    assert [*table["id"]] == [chunk.id for chunk in chunks]
