"""The git repositories of a project's file that the user agreed to: an empty file for each in the data folder."""

import os
from pathlib import Path

from quire.model.operating_system import digest, user_folder


def has_agreed(file: Path, address: str) -> bool:
    """Whether the user agreed to fetch from an ``address`` that a ``file`` names, or added it there."""
    record = _record(file, address)
    return record is not None and record.exists()


def agree(file: Path, address: str) -> None:
    """Remember that the user agreed."""
    if record := _record(file, address):
        record.parent.mkdir(parents=True, exist_ok=True)
        record.touch()


def _record(file: Path, address: str) -> Path | None:
    folder = user_folder("data")
    return folder and folder / "agreed" / digest([os.path.realpath(file), address])
