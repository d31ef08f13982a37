"""A run into a store that is killed, for test_run_store.py: ``killed_run.py DOCS TARGET LINE``.

Each document is a part. The process ends without any cleanup before the given line of run_sync.py and of the store's
module; with 0 it runs to the end, and prints how many lines these were.
"""

from __future__ import annotations

import sys
from importlib import import_module

from integrations.killed_sync import Lines
from quire.run.arrow import embedder_of
from quire.run.parts import parts_of
from quire.stores import run_sync


def main(docs: str, target: str, line: str) -> None:
    kind = target.partition(":")[0]
    import_module(f"quire.stores.{kind}")  # both would take long if their lines were counted
    embedder_of("wordllama")
    lines = Lines(kind, int(line))
    lines.files.add(run_sync.__file__)
    parts, _ = parts_of(docs, size=1)
    sys.settrace(lines)
    options = {"strategy": "tree", "tokenizer": None}
    for _ in run_sync.sync_parts(parts, target, "wordllama", options, engine="local", workers=1):
        pass
    sys.settrace(None)
    sys.stdout.write(str(lines.count))


if __name__ == "__main__":
    main(*sys.argv[1:])
