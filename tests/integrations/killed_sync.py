"""Syncs that are killed, for test_killed_syncs.py: ``killed_sync.py KIND``, which loads the packages of a store once.

For each line of standard input, ``[DOCS, TARGET, VERSION, LOG, STEP]``, it forks a process that syncs, each document in a
part of its own, and prints its exit code. That process counts the lines of sync_documents.py, sync_state.py and the module of the store as they run, and ends without any
cleanup before line number STEP; with 0 it runs to the end. LOG gets the texts that were embedded, one JSON list per
call, and at the end the number of lines.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from quire import stores
from quire.run.parts import parts_of
from quire.stores import Documents, sync

KILLED = 9


class Model:
    """Writes down what it embeds."""

    name, window, batch = "test", 0, 3

    def __init__(self, version: str, log: Path) -> None:
        self.version = version
        self.log = log

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        with self.log.open("a") as stream:
            stream.write(json.dumps([*texts]) + "\n")
        return [vector(text, self.version) for text in texts]


def vector(text: str, version: str) -> list[float]:
    """Vectors of length 1 that tell texts and versions apart."""
    numbers = [1.0 + sum(map(ord, text[at::4])) % 97 for at in range(4)] + [float(version)]
    length = sum(number * number for number in numbers) ** 0.5
    return [number / length for number in numbers]


class Lines:
    """Counts lines, and kills the process before one of them."""

    def __init__(self, kind: str, step: int) -> None:
        folder = Path(stores.__file__).parent
        self.files = {str(folder / f"{name}.py") for name in ("sync_documents", "sync_state", kind)}
        self.step = step
        self.count = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in self.files or frame.f_code.co_name.startswith("<"):
            return None
        if event == "line":
            self.count += 1
            if self.count == self.step:
                os._exit(KILLED)
        return self


def run(docs: str, target: str, version: str, log: str, step: int) -> None:
    lines = Lines(target.partition(":")[0], step)
    parts, _ = parts_of(docs, size=1)
    sys.settrace(lines)
    model = Model(version, Path(log))
    documents = Documents([part._replace(options={"strategy": "tree"}) for part in parts], root=docs)
    sync(documents, target, embedder=model, delete=True)
    sys.settrace(None)
    with Path(log).open("a") as stream:
        stream.write(f"{lines.count}\n")


def main() -> None:
    import_module(f"quire.stores.{sys.argv[1]}")
    for line in sys.stdin:
        process = os.fork()
        if not process:
            run(*json.loads(line))
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
