"""JSON lines: one record a line, to a file that is replaced whole or not at all, or to a stream. Before: wire/."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from quire.record import Chunks
from quire.wire.forms import Form, check_form, records
from quire.wire.record import to_json
from quire.write.atomic import replacing
from quire.write.given import documents_of, is_list_of_chunks, refusal
from quire.write.trouble import explained


def write_jsonl(target: Path | str | BinaryIO, documents: Iterable[Chunks], *, form: Form = "chunk") -> int:
    """Write the records of ``documents`` to a file or a stream; the result is how many.

    A file is put in place at the end: on an error, or when the run is stopped, what was there before stays.
    """
    check_form(form)
    some = documents_of(documents)
    if not isinstance(target, Path | str):
        return _write(target, some, form)
    with _opened(Path(target)) as stream:
        return _write(stream, some, form)


def write_encoded(target: Path, documents: Iterable[Iterable[bytes]]) -> None:
    """Write the encoded records of documents to a file."""
    with _opened(target) as stream:
        stream.writelines(record + b"\n" for each in documents for record in each)


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    with explained(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as stream:
            yield stream


def _write(stream: BinaryIO, documents: Iterable[Chunks], form: Form) -> int:
    count = 0
    for chunks in documents:
        if not (isinstance(chunks, Chunks) if form == "node" else is_list_of_chunks(chunks)):
            raise refusal(chunks)
        for record in records(chunks, form):
            stream.write(to_json(record) + b"\n")
            count += 1
    return count
