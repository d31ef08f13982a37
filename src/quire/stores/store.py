"""What all stores share: their rows and tables, and the address of one.

A row is a chunk, or a passage of a chunk that is longer than the model's window.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid5

from quire.embed.embedder import Embedder, passages
from quire.errors import StoreError, invalid_value
from quire.index.engine.damage import text_and_code
from quire.offsets import repaired
from quire.record import Chunk
from quire.wire.forms import front_matter, front_matter_tags
from quire.write.atomic_file import os_errors_as_quire_errors, remedy
from quire.write.lock import held

KINDS = ("lancedb", "pgvector", "chroma", "qdrant")
DEFAULT_NAME = "quire"
NEXT, LOG = "__next", "__quire"
"""The endings of a generation that is not complete yet, and of the log of documents."""

_SOURCE = re.compile(r", \S+\.rs:[0-9:]+")
"""Where an error of LanceDB was raised."""
_NAME = re.compile("[a-zA-Z][a-zA-Z0-9_]{2,47}")
_RULE = "write lancedb:DIR, pgvector:URL, chroma:DIR|URL or qdrant:DIR|URL, with #NAME for another table than quire"

LAYOUT = 2
"""The version of the rows; with another one, rows are made anew, with the vectors that there are."""

COLUMNS: Mapping[str, type] = MappingProxyType(
    {
        **dict.fromkeys(
            ("id", "document", "document_hash", "content_hash", "chunk_id", "content_type", "source_path", "file_title",
             "section_title", "section_slug", "anchor", "url", "breadcrumb", "front_matter", "text"), str
        ),
        **dict.fromkeys(("chunk_number", "passage", "start_line", "end_line", "char_start", "char_end", "tokens"), int),
        **dict.fromkeys(("header_path", "tags"), list),
    }
)  # fmt: skip
"""The columns of a row besides its vector; those of the type list contain texts."""

_OF_POSITION = ("start_line", "end_line", "char_start", "char_end")
_OF_CHUNK = (
    "content_hash", "content_type", "source_path", "file_title", "anchor", "url", "section_title", "section_slug",
    "chunk_number", "header_path",
)  # fmt: skip
"""The columns that are fields of the chunk."""
_NAMESPACE = UUID("6f6a1c3e-0f2b-5d0e-9a55-6a1b7c0d4e21")


@dataclass(frozen=True, slots=True)
class Row:
    """A row; ``columns`` has the texts, numbers and lists by name."""

    columns: Mapping[str, Any]
    tokens: int = 0
    """The tokens that embedding it costs."""
    vector: Any = None

    @property
    def id(self) -> str:
        """The stable id of the chunk, with the number of a later passage."""
        return str(self.columns["id"])

    @property
    def key(self) -> tuple[str, int]:
        """What the vector depends on, besides the model."""
        return self.columns["content_hash"], self.columns["passage"]

    def with_vector(self, vector: Any) -> Row:
        """The same row with its vector."""
        return Row(self.columns, self.tokens, vector)


class Store(Protocol):
    """The tables of one database. mirror.py keeps rows and a log in them."""

    target: str
    """Its name in messages, without a password."""
    errors: tuple[type[Exception], ...]
    """The exceptions of its package."""

    def mark(self, name: str) -> str | None:
        """The mark of a table; None if there is no table, empty if quire did not make it."""

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        """Make an empty table with vectors of ``size`` numbers, or 0 for none; replace one of that name."""

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        """Add rows; unless they are new, replace those with the same ids."""

    def find(self, name: str, columns: Sequence[str], column: str, values: Sequence[str]) -> Iterable[tuple[Any, ...]]:
        """Some columns of the rows that have one of these values in ``column``; the last one may be ``vector``."""

    def delete(self, name: str, column: str, values: Sequence[str], except_column: str, kept: Sequence[str]) -> None:
        """Delete the rows with one of these values, or all if ``column`` is empty, except those with a kept value."""

    def publish(self, name: str, following: str) -> None:
        """Give the table ``following``, if there is one, the name of another one, which is removed."""

    def drop(self, name: str) -> None:
        """Remove a table, if there is one, even if it cannot be read."""

    def close(self) -> None:
        """Release everything."""


class EmptyStore:
    """Stands in for a store that does not exist yet, in a dry run."""

    errors: tuple[type[Exception], ...] = ()

    def __init__(self, target: str) -> None:
        self.target = target

    def mark(self, name: str) -> str | None:
        """There are no tables."""
        return None


@contextmanager
def opened(target: str, *, dry_run: bool, rebuild: bool = False) -> Iterator[tuple[Any, str]]:
    """The store and the table that ``target`` names, empty if ``rebuild``. A folder that is written to is locked."""
    kind, place, name = parse_target(target)
    label = shown(f"{kind}:{place}#{name}")
    folder = None if kind == "pgvector" or "://" in place else Path(place)
    with ExitStack() as stack:
        if dry_run and (rebuild or (folder and not folder.is_dir())):
            yield EmptyStore(label), name
            return
        module = import_module(f"quire.stores.{kind}")
        if folder and not dry_run:
            with os_errors_as_quire_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(held(folder / ".quire-sync.lock", label, patience=0))
        try:
            store = module.connect(place, name, label)
            stack.callback(store.close)
            _check_tables(store, name, rebuild=rebuild)
        except module.ERRORS as error:
            raise failed(label, place, error) from None
        yield store, name


def _check_tables(store: Store, name: str, *, rebuild: bool) -> None:
    """Refuse tables that quire did not make; ``rebuild`` removes its own, even if they cannot be read."""
    tables = name, name + NEXT, name + LOG
    for table in tables:
        mark = None
        with suppress(*(store.errors if rebuild else ())):
            mark = store.mark(table)
        if mark == "":
            problem = f"{table} exists and was not made by quire"
            raise StoreError(store.target, problem, "choose another table: add #NAME to the target")
    for table in tables if rebuild else ():
        store.drop(table)


def parse_target(target: str) -> tuple[str, str, str]:
    """Kind, place and table; an OptionError if ``target`` is not possible."""
    kind, _, rest = target.partition(":")
    place, _, name = rest.partition("#")
    name = name or DEFAULT_NAME
    if kind not in KINDS or not place:
        raise invalid_value("to", shown(target), _RULE)
    if not _NAME.fullmatch(name) or "__" in name:
        raise invalid_value("to", shown(target), "a table's name has 3 to 48 letters, digits and single underscores")
    return kind, place, name


def shown(target: str) -> str:
    """A target without user and password."""
    kind, colon, rest = target.partition(":")
    try:
        parts = urlsplit(rest)
    except ValueError:
        return f"{kind}{colon}…"
    if not parts.netloc:
        return kind if "password" in rest else target
    host = parts.netloc.rpartition("@")[2]
    return f"{kind}{colon}{urlunsplit((parts.scheme, host, parts.path, '', parts.fragment))}"


def failed(label: str, place: str, error: Exception) -> StoreError:
    """The error for an exception of a store's package, on one line and without the password."""
    text, code = text_and_code(error)
    if code is not None:
        return StoreError(label, f"cannot be written: {os.strerror(code)}", remedy(code))
    said = _SOURCE.sub("", text)[:300] or type(error).__name__
    secret = urlsplit(place).password if "@" in place else None
    if secret:
        said = said.replace(secret, "…")
    damage = "if a full disk has damaged it, quire sync --rebuild makes its tables anew"
    return StoreError(label, said, f"check the target, and that the store is running and writable; {damage}")


def rows(chunks: Sequence[Chunk], document: str, document_hash: str, embedder: Embedder) -> Iterator[Row]:
    """The rows of a document's chunks."""
    if not chunks:
        return
    shared: dict[str, Any] = {"document": document, "document_hash": document_hash}
    shared |= {"front_matter": front_matter(chunks[0]), "tags": front_matter_tags(chunks[0].metadata)}
    for chunk in chunks:
        columns = shared | {name: getattr(chunk, name) for name in _OF_CHUNK}
        columns |= {name: getattr(chunk.source_position, name) for name in _OF_POSITION}
        columns |= {"chunk_id": chunk.id, "breadcrumb": chunk.header_breadcrumb, "tokens": chunk.token_stats.tokens}
        for passage, text in enumerate(passages(chunk.embed_text, embedder)):
            id_ = f"{chunk.stable_id}:{passage}" if passage else chunk.stable_id
            values = columns | {"id": id_, "passage": passage, "text": text}
            tokens = 0 if passage else chunk.token_stats.embed_tokens
            yield Row({name: _storable(value) for name, value in values.items()}, tokens)


def _storable(value: Any) -> Any:
    """``value`` without None, and without lone surrogates and NUL, which some stores refuse."""
    if isinstance(value, tuple):
        return [_storable(text) for text in value]
    if isinstance(value, str):
        value = value if value.isascii() else repaired(value)
        return value.replace("\0", "\ufffd")
    return "" if value is None else value


def uuid_of(name: str) -> str:
    """The id for stores that take UUIDs only."""
    return str(uuid5(_NAMESPACE, name))
