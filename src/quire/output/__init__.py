"""Chunks to records and files. Names are resolved on first use: the index needs only ``atomic_file`` and ``lock``."""

from quire import lazy_names

__all__, __getattr__ = lazy_names(
    __name__,
    {
        "chunk_json": "VERSION decode encode schema to_json",
        "json_files": "FileWriter write_files",
        "jsonl": "read_jsonl write_jsonl",
        "legacy": "migrate",
        "parquet": "write_parquet",
        "record_forms": "compact flat nodes",
    },
)
