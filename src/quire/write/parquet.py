"""Parquet: one row per chunk, with the fields of the JSON record as columns. Needs pyarrow, which is an extra.

Rows are written in groups, so that memory does not grow with the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from quire.errors import QuireError
from quire.record import Chunk, Chunks, SourcePosition, TokenStats
from quire.size.surrogates import repaired
from quire.wire.chunk_json import VERSION, camel, is_mapping, to_json
from quire.wire.forms import check_documents, records
from quire.write.atomic_file import new_file

_ROWS = 2048
"""The minimum of rows in a group."""

Rows: TypeAlias = Iterable[bytes]
"""The rows of a document, encoded."""


def write_parquet(target: Path | str, documents: Iterable[Chunks]) -> int:
    """Write the chunks of ``documents`` to a Parquet file; return their number.

    ``metadata`` is a column of JSON. A lone surrogate becomes U+FFFD, because Parquet cannot store it.
    """
    check_documents(documents)
    return _write(Path(target), chain.from_iterable(map(row_batches, documents)))


def encoded(chunks: Chunks) -> Rows:
    """The rows of a document; another process may make them."""
    return (batch.serialize().to_pybytes() for batch in row_batches(chunks))


def write_encoded(target: Path, documents: Iterable[Rows]) -> None:
    """Write the encoded rows of documents to a Parquet file."""
    arrow, _ = pyarrow()
    parts = chain.from_iterable(documents)
    _write(target, (arrow.ipc.read_record_batch(arrow.py_buffer(part), schema(arrow)) for part in parts))


def check_installed() -> None:
    """Raise a QuireError if pyarrow is missing."""
    pyarrow()


def _write(file: Path, batches: Iterable[Any]) -> int:
    arrow, parquet = pyarrow()
    columns = schema(arrow)
    count = 0
    with new_file(file) as stream, parquet.ParquetWriter(stream, columns, compression="zstd") as writer:
        for group in _groups(batches):
            table = arrow.Table.from_batches(group, schema=columns)
            writer.write_table(table)
            count += table.num_rows
    return count


def pyarrow() -> tuple[Any, Any]:
    """The packages ``pyarrow`` and ``pyarrow.parquet``; a QuireError if they are missing."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise QuireError("Parquet files need pyarrow", "install it: pip install pyarrow") from error


def _groups(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Lists of batches with at least as many rows as a group needs, except the last."""
    group: list[Any] = []
    for batch in batches:
        group.append(batch)
        if sum(each.num_rows for each in group) >= _ROWS:
            yield group
            group = []
    if group:
        yield group


def row_batches(chunks: Chunks) -> Iterator[Any]:
    """The rows of a document, at most one group at a time."""
    arrow, _ = pyarrow()
    rows = map(_row, records(chunks))
    while some := list(islice(rows, _ROWS)):
        yield arrow.RecordBatch.from_pylist(some, schema=schema(arrow))


def _row(record: dict[str, Any]) -> dict[str, Any]:
    record["metadata"] = to_json(record["metadata"]).decode()
    return {name: _encodable(value) for name, value in record.items()}


def _encodable(value: Any) -> Any:
    """``value`` with U+FFFD for lone surrogates."""
    if isinstance(value, str):
        return repaired(value)
    return [_encodable(each) for each in value] if isinstance(value, list) else value


@cache
def schema(arrow: Any) -> Any:
    """The columns of a chunk record."""
    hints = get_type_hints(Chunk)
    columns = [(camel(each.name), _type(arrow, hints[each.name])) for each in fields(Chunk)]
    return arrow.schema([*columns, ("contentHash", arrow.string())], metadata={"quire.record": VERSION})


def _type(arrow: Any, hint: Any) -> Any:
    if hint in (SourcePosition, TokenStats):
        inner = get_type_hints(hint)
        return arrow.struct([(camel(each.name), _type(arrow, inner[each.name])) for each in fields(hint)])
    if get_origin(hint) is tuple:
        return arrow.list_(_type(arrow, get_args(hint)[0]))
    return arrow.string() if hint in (str, str | None) or is_mapping(hint) else arrow.int64()
