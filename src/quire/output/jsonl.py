"""JSON lines: one record per line, to a stream, to a file that is replaced as a whole or not at all, and back."""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

from quire.errors import InputError
from quire.model.chunk_record import Chunk
from quire.model.validation import check
from quire.output.atomic_file import new_file
from quire.output.chunk_json import decode, json_values, to_json
from quire.output.record_forms import Documents, Form, each_document, records


def write_jsonl(target: Path | str | BinaryIO, documents: Documents, *, form: Form = "chunk") -> int:
    """Write the records of documents to a stream, or to a file that is replaced at the end; return their number."""
    check("form", form, Form)
    count = 0
    with new_file(Path(target)) if isinstance(target, Path | str) else nullcontext(target) as stream:
        for record in (record for chunks in each_document(documents) for record in records(chunks, form)):
            stream.write(to_json(record) + b"\n")
            count += 1
    return count


def read_jsonl(file: Path | str) -> list[Chunk]:
    """The chunks of a file that ``write_jsonl`` or ``quire chunk -o FILE.jsonl`` made."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise InputError(str(file), f"cannot be read: {error.strerror}") from error
    return [decode(record, name=f"{file}, line {line}") for line, record in json_values(data, name=str(file))]


def write_encoded(target: Path, documents: Iterable[Iterable[bytes]]) -> None:
    """Write the encoded records of documents to a file."""
    with new_file(target) as stream:
        stream.writelines(record + b"\n" for records in documents for record in records)
