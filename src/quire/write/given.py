"""What callers give to the writers, checked. Used by json_files.py, jsonl.py and parquet.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from quire.errors import OptionError
from quire.record import Chunk, Chunks

Document = TypeVar("Document")


def documents_of(documents: Iterable[Document]) -> Iterator[Document]:
    """``documents``, once it is sure that they are not the chunks of a single one, which are a list as well."""
    if isinstance(documents, Chunks):
        raise refusal(documents)
    return iter(documents)


def is_list_of_chunks(document: object) -> bool:
    """Whether it can stand for the chunks of a document where only their records are asked for."""
    return isinstance(document, Chunks) or (
        isinstance(document, list | tuple) and all(isinstance(each, Chunk) for each in document)
    )


def refusal(value: object) -> OptionError:
    """What to say of a value that is not the chunks of a document."""
    return OptionError(
        f"the chunks of documents are needed, what quire.chunk returns for each, as in [chunks], "
        f"not {type(value).__name__}"
    )
