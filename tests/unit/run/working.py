"""What processes are given to do in test_run_local.py; a module of its own, because they import it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn


class UnsendableError(Exception):
    """Cannot be made again from what it holds."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


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


def all_killed_by(items: Sequence[object]) -> list[tuple[object, int]]:
    """As ``killed_by``, of all items of a batch; and how many there were."""
    return [(killed_by(item), len(items)) for item in items]


def refuse_all(items: Sequence[int]) -> list[int]:
    return [refuse(item) for item in items]


def refuse(item: int) -> int:
    if item == 7:
        raise ValueError("seven is refused")
    if item == 8:
        raise UnsendableError(4, 4)
    return item


def leave() -> NoReturn:
    os._exit(3)


def break_if(flag: Path) -> None:
    """Fails to get ready the first time."""
    if not flag.exists():
        flag.touch()
        os._exit(3)
