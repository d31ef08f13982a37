"""Parquet: one row a chunk, in the columns of the JSON record. Needs pyarrow, which ``quire[parquet]`` installs.

Rows are written in groups, so that memory does not grow with the number of documents. Before: wire/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from quire.errors import QuireError
from quire.record import Chunk, Chunks, SourcePosition, TokenStats
from quire.wire.record import VERSION, is_mapping, to_json
from quire.wire.schema import camel
from quire.write.atomic import explained, replacing

_ROWS = 2048
"""How many rows are in a group."""


def write_parquet(target: Path | str, documents: Iterable[Chunks]) -> int:
    """Write the chunks of ``documents`` to a Parquet file; the result is how many.

    ``metadata`` is a column of JSON. A lone surrogate, which Parquet's text cannot hold, becomes U+FFFD.
    """
    arrow, parquet = _pyarrow()
    schema = _schema(arrow)
    file = Path(target)
    count = 0
    with explained(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as stream, parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
            for rows in _groups(chain.from_iterable(documents)):
                writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
                count += len(rows)
    return count


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise QuireError("Parquet files need pyarrow; install it with: pip install 'quire[parquet]'") from error


def _groups(chunks: Iterable[Chunk]) -> Iterator[list[dict[str, Any]]]:
    rows = (_row(chunk) for chunk in chunks)
    while group := list(islice(rows, _ROWS)):
        yield group


def _row(chunk: Chunk) -> dict[str, Any]:
    record = chunk.to_dict()
    record["metadata"] = to_json(record["metadata"]).decode()
    return {name: _encodable(value) for name, value in record.items()}


def _encodable(value: Any) -> Any:
    """``value`` with U+FFFD for what UTF-8 cannot hold."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [_encodable(each) for each in value] if isinstance(value, list) else value


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
