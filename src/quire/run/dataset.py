"""Documents to chunks as Arrow batches, for any engine that runs on Arrow; and a dataset of Parquet files of them.

chunk_batch(documents, strategy="flow")  # columns path and text in, one row per chunk out
embed_batch(chunks, "wordllama")         # the same rows with a column vector

A dataset has a file for each part, written by the processes that cut the documents. ``_manifest/`` says which parts are
finished: a part whose documents and options have not changed is not done again. Outputs are folders or URLs.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from quire import __version__, pipeline
from quire.embed.embedder import mean_vectors, resolve
from quire.errors import InputError, QuireError
from quire.model.operating_system import digest
from quire.model.options import DEFAULT_STRATEGY
from quire.output.atomic_file import new_file
from quire.output.parquet import pyarrow, rows_of
from quire.output.parquet import schema as chunk_schema  # noqa: F401  Dask and Spark ask for it
from quire.run.engines import results
from quire.run.parts import Part, PartResult, file_system, read_texts

_FILE = re.compile(r"part-(\d{6,})\.(?:parquet|json)")
_MANIFEST = "_manifest"


def chunk_batch(documents: Any, strategy: str = DEFAULT_STRATEGY, **options: Any) -> Any:
    """Cut the documents of a record batch or table into chunks; return a record batch with one row per chunk.

    ``documents`` has the columns ``path`` and ``text``. Rows are in the order of the documents and, within one, of its
    text; columns are those of ``quire chunk --format parquet``. A document without text gives no row.
    """
    names = documents.schema.names
    if "path" not in names or "text" not in names:
        raise InputError("documents", f"has the columns {', '.join(names)}", "give it the columns path and text")
    pairs = [*zip(documents.column("path").to_pylist(), documents.column("text").to_pylist(), strict=True)]
    for path, text in pairs:
        if text is None:
            raise InputError(str(path), "has no text", "leave it out, or give it an empty text")
    return rows_of(pipeline.chunk(text, strategy, path=path, **options) for path, text in pairs)


def embed_batch(chunks: Any, embedder: object) -> Any:
    """The rows of ``chunk_batch`` with the column ``vector``."""
    arrow, _ = pyarrow()
    vectors = mean_vectors(chunks.column("embedText").to_pylist(), resolve(embedder))
    return chunks.append_column("vector", arrow.array(vectors, arrow.list_(arrow.float32())))


class FinishedPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the manifest says of a finished part."""

    key: str  # what its rows depend on
    size: int  # of its file, in bytes
    documents: int
    rows: int
    tokens: int
    is_old: bool = False  # whether an earlier run had written it


def write_parts(
    parts: Sequence[Part], output: str, *, embedder: object = None, engine: str, workers: int | None = None
) -> Generator[PartResult, None, None]:
    """Write the chunks of each part to a Parquet file; yield what each has as ``FinishedPart``."""
    # With an embedder, rows have the column ``vector``.
    parts = [part._replace(number=number) for number, part in enumerate(parts)]
    with closing(results(parts, partial(_write, embedder, output), engine=engine, workers=workers)) as running:
        yield from running
    files, folder = file_system(output)
    for place in (folder, f"{folder}/{_MANIFEST}"):  # an earlier run may have had more parts
        selector = import_module("pyarrow.fs").FileSelector(place, allow_not_found=True)
        for info in files.get_file_info(selector):
            match = _FILE.fullmatch(info.base_name)
            if match and int(match[1]) >= len(parts):
                files.delete_file(info.path)


def _write(embedder: object, output: str, part: Part) -> PartResult:
    model = None if embedder is None else resolve(embedder)
    made_with = [__version__, part.settings, *([model.name, model.version] if model else [])]
    key = digest([*made_with, part.source, part.version])
    files, folder = file_system(output)
    file, entry_file = f"{folder}/part-{part.number:06}.parquet", f"{folder}/{_MANIFEST}/part-{part.number:06}.json"
    entry: FinishedPart | None = None  # None if it is not finished
    with suppress(OSError, msgspec.DecodeError), files.open_input_stream(entry_file) as stream:
        entry = msgspec.json.decode(stream.read(), type=FinishedPart)
    if part.version and entry and entry.key == key and files.get_file_info(file).size == entry.size:
        return PartResult(msgspec.structs.replace(entry, is_old=True), ())
    if entry:  # it would be wrong if this process died before the next one is written
        files.delete_file(entry_file)
    texts, problems = read_texts(part)
    documents = [chunks for _, _, chunks in part.cut(texts, problems)]
    rows = rows_of(documents)
    rows = embed_batch(rows, model) if model else rows
    arrow, parquet = pyarrow()
    with _opened(files, file, output) as stream:
        parquet.write_table(arrow.Table.from_batches([rows]), stream, compression="zstd")
        size = stream.tell()
    tokens = sum(stats["tokens"] for stats in rows.column("tokenStats").to_pylist())
    written = FinishedPart(key, size, len(documents), rows.num_rows, tokens)
    if part.version and not problems:
        with _opened(files, entry_file, output) as stream:
            stream.write(msgspec.json.encode(written))
    return PartResult(written, problems)


@contextmanager
def _opened(files: Any, file: str, output: str) -> Iterator[Any]:
    """A stream to a file in the output, which is there as a whole or not at all."""
    if files.type_name == "local":
        with new_file(Path(file)) as stream:
            yield stream
        return
    try:
        with files.open_output_stream(file) as stream:  # an object store shows a file when it is complete
            yield stream
    except OSError as error:
        raise QuireError(f"{output}: cannot be written: {error}", "check the address and your permissions") from error
