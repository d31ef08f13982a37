"""What all stores share: their tables, and the address of one."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit, urlunsplit

from quire import DISTRIBUTION
from quire.errors import MissingExtraError, QuireError, StoreError, invalid_value
from quire.index.engine.damage import text_and_code
from quire.output.atomic_file import REMEDY, os_errors_as_quire_errors
from quire.output.lock import held
from quire.stores.chunk_rows import Row

Item = TypeVar("Item")
Values = Iterable[tuple[Any, ...]]  # some columns of some rows

GROUP = "quire.stores"  # the entry points that name the modules of stores, of quire and of other packages
DEFAULT_NAME = "quire"
SUMMARY = ""  # the term whose row has the summary of some trees
NEXT, LOG = "__next", "__quire"  # the endings of a generation that is not complete yet, and of the log of documents

_SOURCE = re.compile(r", \S+\.rs:[0-9:]+")  # where an error of LanceDB was raised
_NAME = re.compile("[a-zA-Z][a-zA-Z0-9_]{2,47}")


class Store(Protocol):
    """The tables of one database. sync_state.py keeps rows and a log in them.

    The module of a store has ``connect(place, name, label)``, which returns one, and ``ERRORS``, the exceptions of its
    package. It may set ``IS_FOLDER``: then a place that is no URL is a folder, which quire makes and locks.
    """

    def mark(self, name: str) -> str | None:
        """The mark of a table; None if there is no table, empty if quire did not make it."""

    def create(self, name: str, mark: str, columns: Mapping[str, type], size: int) -> None:
        """Make an empty table with vectors of ``size`` numbers, or 0 for none. There is none of that name."""

    def write(self, name: str, rows: Sequence[Row], *, is_new: bool) -> None:
        """Add rows; unless they are new, replace those with the same ids."""

    def find(self, name: str, columns: Sequence[str], column: str = "", values: Sequence[str] = ()) -> Values:
        """Some columns, the last may be ``vector``, of the rows with one of these values in ``column``, or of all."""

    def delete(self, name: str, ids: Sequence[str]) -> None:
        """Delete the rows with these ids."""

    def publish(self, name: str, following: str) -> None:
        """Give the table ``following``, if there is one, the name of another one, which is removed."""

    def drop(self, name: str) -> None:
        """Remove a table, if there is one, even if it cannot be read."""

    def close(self) -> None:
        """Release everything."""


@contextmanager
def opened(target: str, *, dry_run: bool, rebuild: bool = False) -> Iterator[tuple[Any, str]]:
    """The store and the table that ``target`` names, empty if ``rebuild``. A folder that is written to is locked."""
    kind, place, name, label = parse_target(target)
    is_path = "://" not in place and "=" not in place  # no URL, no settings of a connection
    if dry_run and (rebuild or (is_path and not Path(place).exists())):
        yield SimpleNamespace(mark=lambda name: None), name  # a store that does not exist yet has no tables
        return
    module = store_module(kind, label)
    with ExitStack() as stack:
        if getattr(module, "IS_FOLDER", False) and "://" not in place and not dry_run:
            folder = Path(place)
            with os_errors_as_quire_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(held(folder / ".quire-sync.lock", label, patience=0))
        with converted_errors(module, label, place):
            store = module.connect(place, name, label)
            stack.callback(store.close)
            for table in (name, name + NEXT, name + LOG):
                with suppress(*(module.ERRORS if rebuild else ())):  # one that cannot be read is quire's own
                    if store.mark(table) == "":
                        problem = f"{table} exists and was not made by quire"
                        raise StoreError(label, problem, "choose another table: add #NAME to the target")
            for table in (name, name + NEXT, name + LOG) if rebuild else ():
                store.drop(table)
            yield store, name


@contextmanager
def converted_errors(module: Any, label: str, place: str) -> Iterator[None]:
    """An exception of a store's package as a StoreError, on one line and without the password."""
    try:
        yield
    except QuireError:
        raise
    except module.ERRORS as error:
        text, code = text_and_code(error)
        secret = urlsplit(place).password if "@" in place else None
        said = _SOURCE.sub("", text)[:300] or type(error).__name__
        problem = said.replace(secret, "…") if secret else said
        damage = "if a full disk has damaged it, quire sync --rebuild makes its tables anew"
        advice = f"check the target, and that the store is running and writable; {damage}"
        if code is not None:
            problem, advice = f"cannot be written: {os.strerror(code)}", REMEDY
        elif "concurrent transaction" in text:
            problem, advice = "another command has written to it meanwhile", "run again, which writes the rest"
        raise StoreError(label, problem, advice) from (None if "@" in place else error)


def store_module(kind: str, label: str) -> Any:
    """The module of a store."""
    entry = entry_points(group=GROUP)[kind]
    try:
        return entry.load()
    except ImportError as error:
        if entry.module.startswith("quire."):
            raise MissingExtraError(kind, error.name) from error
        raise StoreError(label, f"{entry.module} cannot be imported: {error}", "install it again") from error


def parse_target(target: str) -> tuple[str, str, str, str]:
    """Kind, place, table, and the name in messages; an OptionError if ``target`` is not possible."""
    kind, _, rest = target.partition(":")
    place, _, name = rest.partition("#")
    name = name or DEFAULT_NAME
    names = sorted(entry_points(group=GROUP).names)
    if not place or kind not in names:
        known = ", ".join(names) or f"none: install {DISTRIBUTION} again"
        rule = "write STORE:PLACE, as in lancedb:vectors, and #NAME for a table other than quire"
        raise invalid_value("to", shown(target), f"{rule}; stores: {known}")
    if not _NAME.fullmatch(name) or "__" in name:
        raise invalid_value("to", shown(target), "a table's name has 3 to 48 letters, digits and single underscores")
    return kind, place, name, shown(f"{kind}:{place}#{name}")


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


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of at most ``size`` items."""
    remaining = iter(items)
    while some := list(islice(remaining, size)):
        yield some


def in_list(column: str, values: Iterable[str]) -> str:
    """``column IN ('a', 'b')``, in SQL."""
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    return f"{column} IN ({listed})" if listed else "FALSE"
