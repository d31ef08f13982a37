"""Chunks to files. Names are resolved on first use: the index needs only ``atomic_file`` and ``lock``."""

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
