"""Parquet: one row per chunk, with the fields of the JSON record or of the flat one. Needs pyarrow, an extra."""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from msgspec.structs import fields

from quire.errors import QuireError
from quire.model.chunk_record import Chunk, Chunks
from quire.model.offsets import repaired
from quire.output.atomic_file import new_file
from quire.output.chunk_json import VERSION, is_record, to_json
from quire.output.record_forms import FLAT, Documents, Form, each_document, records

_ROWS = 2048  # the minimum of rows in a group, so that memory does not grow with the number of documents


def write_parquet(target: Path | str, documents: Documents, *, is_flat: bool = False) -> int:
    """Write the chunks of ``documents`` to a Parquet file; return their number.

    ``metadata`` is a column of JSON; with ``is_flat`` all columns are texts and numbers.
    """
    rows = (encoded(chunks, is_flat=is_flat) for chunks in each_document(documents))
    return write_encoded(Path(target), rows, is_flat=is_flat)


def encoded(chunks: Chunks, *, is_flat: bool = False) -> bytes:
    """The rows of a document; another process may make them."""
    return bytes(rows_of([chunks], is_flat=is_flat).serialize())


def write_encoded(target: Path, documents: Iterable[bytes], *, is_flat: bool = False) -> int:
    """Write the encoded rows of documents to a Parquet file; return their number."""
    arrow, parquet = pyarrow()
    columns = schema(is_flat=is_flat)
    batches = (arrow.ipc.read_record_batch(arrow.py_buffer(data), columns) for data in documents)
    count = 0
    with new_file(target) as stream, parquet.ParquetWriter(stream, columns, compression="zstd") as writer:
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
    group: list[Any] = []
    for batch in filter(len, batches):
        group.append(batch)
        if sum(part.num_rows for part in group) >= _ROWS:
            yield group
            group = []
    if group:
        yield group


def rows_of(documents: Iterable[Chunks], *, is_flat: bool = False) -> Any:
    """The chunks of documents as a record batch."""
    arrow, _ = pyarrow()
    form: Form = "flat" if is_flat else "chunk"
    rows = [_encodable(record) for chunks in documents for record in records(chunks, form)]
    return arrow.RecordBatch.from_pylist(rows, schema=schema(is_flat=is_flat))


def _encodable(value: Any) -> Any:
    """``value`` with U+FFFD for lone surrogates, which Parquet cannot store, and metadata as JSON."""
    if isinstance(value, str):
        return repaired(value)
    if isinstance(value, dict):
        return {key: to_json(item).decode() if key == "metadata" else _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list) else value


@cache
def schema(*, is_flat: bool = False) -> Any:
    """The columns of a chunk record, or of a flat one."""
    arrow, _ = pyarrow()
    version = {"quire.model.chunk_record": VERSION}
    if is_flat:
        kinds = {str: arrow.string(), int: arrow.int64()}
        return arrow.schema([(name, kinds[kind]) for name, kind in FLAT.items()], metadata=version)
    return arrow.schema([*_columns(arrow, Chunk), ("contentHash", arrow.string())], metadata=version)


def _columns(arrow: Any, record: Any) -> list[tuple[str, Any]]:
    hints = get_type_hints(record)
    return [(field.encode_name, _type(arrow, hints[field.name])) for field in fields(record)]


def _type(arrow: Any, hint: Any) -> Any:
    if is_record(hint):
        return arrow.struct(_columns(arrow, hint))
    if get_origin(hint) is tuple:
        return arrow.list_(_type(arrow, get_args(hint)[0]))
    return arrow.int64() if hint in (int, int | None) else arrow.string()  # a mapping is JSON
