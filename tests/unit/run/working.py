"""What processes are given to do in test_process_pool.py; a module of its own, because they import it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import NoReturn


def process(item: object) -> tuple[object, int]:
    """The item, and who had it."""
    return item, os.getpid()


def in_step(item: tuple[int, str, str]) -> int:
    """Opens a named pipe, if it is given one, which takes until another process opens its other end."""
    number, pipe, mode = item
    if pipe:
        Path(pipe).open(mode).close()
    return number


def killed_by(item: object) -> object:
    """One item is the death of its process."""
    if item == "killer":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "leaver":
        os._exit(7)
    return item


def killed_once(item: str) -> str:
    """An item is the death of its process, unless the file that it names is there already."""
    if not Path(item).exists():
        Path(item).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def refuse(item: int) -> int:
    if item == 7:
        raise ValueError("seven is refused")
    return item


def leave() -> NoReturn:
    os._exit(3)


def break_if(flag: Path) -> None:
    """Fails to get ready the first time."""
    if not flag.exists():
        flag.touch()
        os._exit(3)


LETHAL_TEXT = "this document ends its process"


def names_of(documents):
    return documents.select(["path"])


def fragile_names_of(documents):
    if LETHAL_TEXT in documents.column("text").to_pylist():
        os._exit(1)
    return names_of(documents)


def failing(documents):
    return documents.cast(documents.schema.remove(0))
