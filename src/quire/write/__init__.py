"""Chunks to files: JSON files, JSON lines, Parquet. Before: wire/ makes the records. After: the file system.

json_files.py   one file a chunk; with names.py, changes.py, swap.py, journal.py
jsonl.py        one line a record
parquet.py      one row a chunk
atomic.py       one file, replaced whole or not at all
lock.py         one run at a time in a folder
"""

from __future__ import annotations

from quire.write.json_files import FileWriter, Refused, Written, recover, write_files
from quire.write.jsonl import write_jsonl
from quire.write.parquet import write_parquet

__all__ = ["FileWriter", "Refused", "Written", "recover", "write_files", "write_jsonl", "write_parquet"]
