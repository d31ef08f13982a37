"""Documents to chunks as Arrow record batches: one pure function for every engine that runs on Arrow.

chunk_batch(documents, strategy="flow")  # columns path and text in, one row per chunk out
embed_batch(chunks, "wordllama")         # the same rows with a column vector
"""

from __future__ import annotations

from functools import cache
from typing import Any

from quire import options as run_options
from quire import pipeline
from quire.embed import Embedder, passages, resolve
from quire.errors import InputError
from quire.write.parquet import pyarrow, row_batches, schema


def chunk_batch(documents: Any, strategy: str = run_options.DEFAULT_STRATEGY, **options: Any) -> Any:
    """Cut the documents of a record batch or table into chunks; return a record batch with one row per chunk.

    ``documents`` has the columns ``path`` and ``text``. Rows are in the order of the documents and, within one, of its
    text; columns are those of ``quire chunk --format parquet``. A document without text gives no row.
    """
    arrow, _ = pyarrow()
    rows = [
        batch
        for path, text in zip(*_columns(documents), strict=True)
        for batch in row_batches(pipeline.chunk(text, strategy, path=path, **options))
    ]
    table = arrow.Table.from_batches(rows, schema=schema(arrow)).combine_chunks()
    return table.to_batches()[0] if table.num_rows else arrow.RecordBatch.from_pylist([], schema=schema(arrow))


def chunk_schema() -> Any:
    """The schema of the rows that ``chunk_batch`` returns."""
    return schema(pyarrow()[0])


def embed_batch(chunks: Any, embedder: str) -> Any:
    """The rows of ``chunk_batch`` with the column ``vector``.

    A text that is longer than the model's window has the mean of the vectors of its passages.
    """
    arrow, _ = pyarrow()
    model = embedder_of(embedder)
    parts = [passages(text, model) for text in chunks.column("embedText").to_pylist()]
    made = iter(model.embed([text for each in parts for text in each]) if parts else ())
    vectors = [sum(next(made) for _ in each) / len(each) for each in parts]
    return chunks.append_column("vector", arrow.array(vectors, arrow.list_(arrow.float32())))


@cache
def embedder_of(name: str) -> Embedder:
    """The embedder of that name, loaded once in each process."""
    return resolve(name)


def _columns(documents: Any) -> tuple[list[str | None], list[str]]:
    """The paths and texts of a batch; an InputError if a column or a text is missing."""
    names = documents.schema.names
    if "path" not in names or "text" not in names:
        raise InputError("documents", f"has the columns {', '.join(names)}", "give it the columns path and text")
    paths, texts = documents.column("path").to_pylist(), documents.column("text").to_pylist()
    missing = next((path for path, text in zip(paths, texts, strict=True) if text is None), "")
    if missing != "":
        raise InputError(str(missing), "has no text", "leave it out, or give it an empty text")
    return paths, texts
