"""Documents to chunks as Arrow record batches: one pure function for every engine that runs on Arrow.

chunk_batch(documents, strategy="flow")  # columns path and text in, one row per chunk out
embed_batch(chunks, "wordllama")         # the same rows with a column vector
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from quire import pipeline
from quire.embed.embedder import passages, resolve
from quire.errors import InputError
from quire.model import options as run_options
from quire.output.parquet import pyarrow, rows_of
from quire.output.parquet import schema as chunk_schema  # noqa: F401  Dask and Spark ask for it


def chunk_batch(documents: Any, strategy: str = run_options.DEFAULT_STRATEGY, **options: Any) -> Any:
    """Cut the documents of a record batch or table into chunks; return a record batch with one row per chunk.

    ``documents`` has the columns ``path`` and ``text``. Rows are in the order of the documents and, within one, of its
    text; columns are those of ``quire chunk --format parquet``. A document without text gives no row.
    """
    pairs = zip(*_columns(documents), strict=True)
    return rows_of(pipeline.chunk(text, strategy, path=path, **options) for path, text in pairs)


def embed_batch(chunks: Any, embedder: object) -> Any:
    """The rows of ``chunk_batch`` with the column ``vector``; equal texts are embedded once.

    A text that is longer than the model's window has the mean of the vectors of its passages.
    """
    arrow, _ = pyarrow()
    model = resolve(embedder)
    texts = [passages(text, model) for text in chunks.column("embedText").to_pylist()]
    unique = list(dict.fromkeys(chain.from_iterable(texts)))
    vector_of = dict(zip(unique, model.embed(unique) if unique else (), strict=True))
    vectors = [_mean([vector_of[passage] for passage in text]) for text in texts]
    return chunks.append_column("vector", arrow.array(vectors, arrow.list_(arrow.float32())))


def _mean(vectors: list[Any]) -> Any:
    return vectors[0] if len(vectors) == 1 else [sum(numbers) / len(vectors) for numbers in zip(*vectors, strict=True)]


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
