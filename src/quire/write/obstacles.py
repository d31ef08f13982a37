"""What is in the way on the disk: places that cannot be written to, or lead elsewhere. Looks, and changes nothing.

names.py says where files go. Used by json_files.py, journal.py and ``quire migrate``.
"""

from __future__ import annotations

import errno
from pathlib import Path

from quire.write.names import JOURNAL, LOCK, README, STAGE, STATE, Place

_KEPT = (STAGE, LOCK, README, JOURNAL)


def is_too_long(file: Path) -> bool:
    """Whether the system takes no path as long as this one."""
    try:
        file.lstat()
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def obstacle(out: Path, place: Place) -> str | None:
    """Why the folder of ``place`` cannot be used, if so: it must not lead out of ``out``."""
    folder = out
    for part in place.folder.split("/") if place.folder else []:
        folder /= part
        if folder.is_symlink():
            return f"{folder} is a symbolic link, which may lead out of {out}; remove it"
        if folder.exists() and not folder.is_dir():
            return f"{folder} is not a folder; remove it"
        if folder.exists() and folder.stat().st_dev != out.stat().st_dev:
            return (
                f"{folder} is on another file system than {out}, where no file can be moved to; write to it by itself"
            )
    return None


def obstacle_in_state(out: Path) -> str | None:
    """Why what a run keeps in ``out`` cannot be used, if so; the folder may come from anywhere."""
    state = out / STATE
    if state.exists() and not state.is_dir():
        return f"{state}: is not a folder, but what quire keeps during a run is in one of this name; remove it"
    for name in (STATE, *_KEPT):
        if (out / name).is_symlink():
            return f"{out / name}: is a symbolic link, which may lead out of {out}; remove it"
    for name in _KEPT:
        if (out / name).exists() and (out / name).is_dir() != (name == STAGE):
            return f"{out / name}: is {'not ' if name == STAGE else ''}a folder; remove it"
    return None
