"""Where to sync to, and the interface that all stores have.

A store keeps generations apart: rows made with one model and version. The live one has the name that the user gave. A
store also records, for each document of a generation, the hash of what it was made of.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit, urlunsplit

from quire.errors import StoreError, invalid_value
from quire.index.engine.damage import text_and_code
from quire.stores.row import Row
from quire.write.atomic_file import os_errors_as_quire_errors, remedy
from quire.write.lock import held

Item = TypeVar("Item")

KINDS = ("lancedb", "pgvector", "chroma", "qdrant")
DEFAULT_NAME = "quire"
NEXT, DOCUMENTS = "__next", "__quire"
"""The endings of a generation that is not complete yet, and of the records of documents."""

_SOURCE = re.compile(r", \S+\.rs:[0-9:]+")
"""Where an error of LanceDB was raised."""
_NAME = re.compile("[a-zA-Z][a-zA-Z0-9_]{2,47}")
_RULE = "write lancedb:DIR, pgvector:URL, chroma:DIR|URL or qdrant:DIR|URL, with #NAME for another table than quire"


class Known(NamedTuple):
    """What a store already has of a row."""

    id: str
    document_hash: str
    content_hash: str
    passage: int
    vector: Any


class Store(Protocol):
    """A store of vectors. No table is created before the first ``record``."""

    target: str
    """Its name in messages, without a password."""
    errors: tuple[type[Exception], ...]
    """The exceptions of its package."""
    tables: Sequence[str]
    """The names of all its tables."""

    def mark(self, name: str) -> str | None:
        """The generation of a table; None if there is no table. One that quire did not make raises a StoreError."""

    def drop(self, name: str) -> None:
        """Remove a table, if there is one."""

    def generation(self) -> str | None:
        """The live generation."""

    def documents(self, generation: str) -> dict[str, str]:
        """The recorded hash of each document."""

    def record(self, generation: str, documents: Mapping[str, str | None]) -> None:
        """Record the hashes of documents; None forgets one."""

    def known(self, generation: str, hashes: Sequence[str]) -> Iterable[Known]:
        """The rows with one of these content hashes."""

    def write(self, generation: str, new: Sequence[Row], changed: Sequence[Row]) -> None:
        """Add rows and replace others."""

    def delete(self, generation: str, documents: Sequence[str], hashes: Sequence[str]) -> None:
        """Delete the rows of documents, except those with one of these document hashes."""

    def publish(self, generation: str) -> None:
        """Make the generation the live one, and remove all others. Does nothing if it is the only one."""

    def close(self) -> None:
        """Release everything."""


class EmptyStore:
    """Stands in for a store that does not exist yet, in a dry run."""

    errors = ()

    def __init__(self, target: str) -> None:
        self.target = target

    def generation(self) -> str | None:
        """None."""
        return None

    def documents(self, generation: str) -> dict[str, str]:
        """No documents."""
        return {}

    def known(self, generation: str, hashes: Sequence[str]) -> Iterable[Known]:
        """No rows."""
        return ()

    def close(self) -> None:
        """Nothing is held."""


@contextmanager
def opened(target: str, *, dry_run: bool, rebuild: bool = False) -> Iterator[Any]:
    """The store that ``target`` names, empty if ``rebuild``. A folder is locked, unless nothing will be written."""
    kind, place, name = parts(target)
    label = shown(f"{kind}:{place}#{name}")
    folder = None if kind == "pgvector" or "://" in place else Path(place)
    with ExitStack() as stack:
        if dry_run and (rebuild or (folder and not folder.is_dir())):
            yield EmptyStore(label)
            return
        module = import_module(f"quire.stores.{kind}")
        if folder and not dry_run:
            with os_errors_as_quire_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(held(folder / ".quire-sync.lock", label, patience=0))
        try:
            store = module.connect(place, name, label)
            stack.callback(store.close)
            _check_tables(store, rebuild=rebuild)
        except module.ERRORS as error:
            raise failed(label, place, error) from None
        yield store


def own_tables(name: str) -> tuple[str, ...]:
    """The tables of a store: the live one, an unfinished one, and the records of documents."""
    return name, name + NEXT, name + DOCUMENTS


def _check_tables(store: Store, *, rebuild: bool) -> None:
    """Refuse tables that quire did not make; ``rebuild`` removes its own, even if they cannot be read."""
    for each in store.tables:
        with suppress(*(store.errors if rebuild else ())):
            store.mark(each)
    for each in store.tables if rebuild else ():
        store.drop(each)


def parts(target: str) -> tuple[str, str, str]:
    """Kind, place and table; an OptionError if ``target`` is not possible."""
    kind, _, rest = target.partition(":")
    place, _, name = rest.partition("#")
    name = name or DEFAULT_NAME
    if kind not in KINDS or not place:
        raise invalid_value("to", shown(target), _RULE)
    if not _NAME.fullmatch(name) or "__" in name:
        raise invalid_value("to", shown(target), "a table's name has 3 to 48 letters, digits and single underscores")
    return kind, place, name


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of at most ``size`` items."""
    left = iter(items)
    while some := list(islice(left, size)):
        yield some


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


def foreign(label: str, name: str) -> StoreError:
    """The error for a table that quire did not make."""
    return StoreError(
        label, f"{name} exists and was not made by quire", "choose another table: add #NAME to the target"
    )
