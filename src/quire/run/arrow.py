"""Documents to chunks as Arrow record batches: one pure function for every engine that runs on Arrow.

chunk_batch(documents, strategy="flow")    # columns path and text in, one row per chunk out
"""

from __future__ import annotations

from typing import Any

from quire import options as run_options
from quire import pipeline
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
