"""Chunks to files: JSON files, JSON lines, Parquet.

json_files.py      one file per chunk; files of earlier runs, and obstacles
file_names.py      the names of chunk files
atomic_folder.py   all new files put in place in one step
jsonl.py           one line per record
parquet.py         one row per chunk
atomic_file.py     one file replaced as a whole; errors of the system os_errors_as_quire_errors
lock.py            one run at a time

Names are resolved on first use: the index needs only the last two modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quire.write.json_files import FileWriter, Refused, Written, write_files
    from quire.write.jsonl import write_jsonl
    from quire.write.parquet import write_parquet

__all__ = ["FileWriter", "Refused", "Written", "write_files", "write_jsonl", "write_parquet"]

_MODULES = {"write_jsonl": "jsonl", "write_parquet": "parquet"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'quire.write' has no attribute {name!r}")
    return getattr(import_module(f"quire.write.{_MODULES.get(name, 'json_files')}"), name)
