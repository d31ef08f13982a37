"""Chunks to records and files. Names are resolved on first use: the index needs only ``atomic_file`` and ``lock``.

chunk_json.py, record_forms.py, legacy.py    JSON of a chunk (its names: model/record.py), other forms, the old format
json_files.py, jsonl.py, parquet.py          one file per chunk, or one for all; llms_txt.py a list of pages
atomic_file.py, atomic_folder.py, lock.py    files and folders that are replaced as a whole, by one run at a time
"""

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
