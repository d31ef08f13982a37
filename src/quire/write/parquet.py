"""Parquet: one row a chunk, in the columns of the JSON record. Needs pyarrow, which is an extra.

Rows are written in groups, so that memory does not grow with the number of documents. Before: wire/.
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
from quire.wire.record import VERSION, is_mapping, to_json
from quire.wire.schema import camel
from quire.write.atomic import replacing
from quire.write.given import documents_of, is_list_of_chunks, refusal
from quire.write.trouble import explained

_ROWS = 2048
"""How many rows are in a group."""


Rows: TypeAlias = Iterable[bytes]
"""The rows of a document, encoded."""


def write_parquet(target: Path | str, documents: Iterable[Chunks]) -> int:
    """Write the chunks of ``documents`` to a Parquet file; the result is how many.

    ``metadata`` is a column of JSON. A lone surrogate, which Parquet's text cannot hold, becomes U+FFFD.
    """
    return _write(Path(target), chain.from_iterable(map(_made, map(_checked, documents_of(documents)))))


def encoded(chunks: Chunks) -> Rows:
    """The rows of a document; they can be made in another process than the one that writes them."""
    return (batch.serialize().to_pybytes() for batch in _made(chunks))


def write_encoded(target: Path, documents: Iterable[Rows]) -> None:
    """Write the rows of documents to a Parquet file."""
    arrow, _ = _pyarrow()
    parts = chain.from_iterable(documents)
    _write(target, (arrow.ipc.read_record_batch(arrow.py_buffer(part), _schema(arrow)) for part in parts))


def check_installed() -> None:
    """QuireError where pyarrow is missing."""
    _pyarrow()


def _write(file: Path, batches: Iterable[Any]) -> int:
    arrow, parquet = _pyarrow()
    schema = _schema(arrow)
    count = 0
    with explained(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as stream, parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
            for group in _groups(arrow, schema, batches):
                writer.write_table(group)
                count += group.num_rows
    return count


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise QuireError("Parquet files need pyarrow", "install it: pip install pyarrow") from error


def _groups(arrow: Any, schema: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Tables of as many rows as a group has, but for the last one."""
    held: list[Any] = []
    number = 0
    for batch in batches:
        held.append(batch)
        number += batch.num_rows
        while number >= _ROWS:
            table = arrow.Table.from_batches(held, schema=schema)
            yield table.slice(0, _ROWS).combine_chunks()
            held = table.slice(_ROWS).to_batches()
            number -= _ROWS
    if number:
        yield arrow.Table.from_batches(held, schema=schema).combine_chunks()


def _checked(document: Chunks) -> Chunks:
    if not is_list_of_chunks(document):
        raise refusal(document)
    return document


def _made(chunks: Chunks) -> Iterator[Any]:
    """The rows of a document, no more than a group at once."""
    arrow, _ = _pyarrow()
    made = (_row(chunk) for chunk in chunks)
    while some := list(islice(made, _ROWS)):
        yield arrow.RecordBatch.from_pylist(some, schema=_schema(arrow))


def _row(chunk: Chunk) -> dict[str, Any]:
    record = chunk.to_dict()
    record["metadata"] = to_json(record["metadata"]).decode()
    return {name: _encodable(value) for name, value in record.items()}


def _encodable(value: Any) -> Any:
    """``value`` with U+FFFD for what UTF-8 cannot hold."""
    if isinstance(value, str):
        return repaired(value)
    return [_encodable(each) for each in value] if isinstance(value, list) else value


@cache
def _schema(arrow: Any) -> Any:
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
