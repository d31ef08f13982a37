"""``chunk_batch``: a record batch of documents to one of chunks."""

import pyarrow as pa
import pytest

import quire
from quire.run import chunk_batch, chunk_schema

TEXTS = {
    "b.md": "# B\n\nText.\n\n## C\n\nMore.\n",
    "empty.md": "",
    "a/_x.md": "Only text.\n",
    "plain.txt": "# no heading\n",
}


def batch(texts):
    return pa.record_batch({"path": list(texts), "text": list(texts.values())})


@pytest.mark.parametrize("strategy", ["packed", "flow", "sections", "tree"])
def test_rows_are_the_records_of_chunk_in_order(strategy) -> None:
    rows = chunk_batch(batch(TEXTS), strategy).to_pylist()
    chunks = [chunk for path, text in TEXTS.items() for chunk in quire.chunk(text, strategy, path=path)]
    assert [row["id"] for row in rows] == [chunk.id for chunk in chunks]
    assert [row["embedText"] for row in rows] == [chunk.embed_text for chunk in chunks]
    assert [row["contentHash"] for row in rows] == [chunk.content_hash for chunk in chunks]


def test_options_are_those_of_the_strategy() -> None:
    (row,) = chunk_batch(batch({"a.md": "# A\n\nText.\n"}), "packed", hard_cap=256, content_type="guide").to_pylist()
    assert row["id"] == "guide:a::ch0"
    with pytest.raises(quire.OptionError, match="max_tokenz"):
        chunk_batch(batch(TEXTS), max_tokenz=3)


def test_no_documents_have_no_rows_but_all_columns() -> None:
    empty = chunk_batch(batch({"empty.md": ""}))
    assert empty.num_rows == 0
    assert empty.schema == chunk_schema()


def test_a_table_of_several_chunks() -> None:
    table = pa.concat_tables(
        [pa.table({"path": ["a.md"], "text": ["A."]}), pa.table({"path": ["b.md"], "text": ["B."]})]
    )
    assert [row["sourcePath"] for row in chunk_batch(table).to_pylist()] == ["a.md", "b.md"]


def test_missing_columns_and_texts_are_named() -> None:
    with pytest.raises(quire.InputError, match="give it the columns path and text"):
        chunk_batch(pa.record_batch({"file": ["a"], "body": ["b"]}))
    with pytest.raises(quire.InputError, match=r"a\.md: has no text"):
        chunk_batch(pa.record_batch({"path": ["a.md"], "text": pa.array([None], pa.string())}))
