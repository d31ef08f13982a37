"""Chunks to files: JSON files, JSON lines, Parquet. Before: wire/ makes the records. After: the file system.

json_files.py   one file a chunk; with names.py, obstacles.py, there.py, changes.py, swap.py, journal.py
jsonl.py        one line a record
parquet.py      one row a chunk
given.py        what callers give, checked
atomic.py       one file, replaced whole or not at all
lock.py         one run at a time in a folder
trouble.py      what the system says when it cannot write, explained

The names are resolved when first used: the index takes only the last three, and they need none of the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quire.write.json_files import FileWriter, Refused, Written, recover, write_files
    from quire.write.jsonl import write_jsonl
    from quire.write.parquet import write_parquet

__all__ = ["FileWriter", "Refused", "Written", "recover", "write_files", "write_jsonl", "write_parquet"]

_HOME = {"write_jsonl": "jsonl", "write_parquet": "parquet"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'quire.write' has no attribute {name!r}")
    return getattr(import_module(f"quire.write.{_HOME.get(name, 'json_files')}"), name)
