"""What the engine says when files are not what they should be -> errors that name the folder.

Used by ``store``, which reads, and ``writer``.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quire.errors import IndexDamagedError, StoreError, is_panic

_SYSTEM_ERROR = re.compile(r"(?:\(os error |\bOs \{ code: )([0-9]{1,5})\b")
"""The two ways in which the engine quotes the system."""
_FILE = re.compile(r'filepath: "(?:[^"]*[/\\])?([^"/\\]+)"')
"""How it names a file, of which the last part is enough."""
_RIGHTS = (errno.EACCES, errno.EPERM)
_SHOWN = 200


@contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """Turn what the engine says of files that it cannot read into an error that names the index."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError | OSError | LookupError) and not is_panic(error):
            raise
        raise IndexDamagedError(str(folder.parent), *_unreadable(_joined(error))) from error


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn what the engine says when it cannot write into an error that names the index and what to do."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError | OSError) and not is_panic(error):
            raise
        problem, advice = _unwritten(_joined(error))
        raise StoreError(str(folder.parent), problem, f"{advice}; what it held before stays") from error


def _unreadable(said: str) -> tuple[str, str]:
    """Why the index cannot be read and what to do, by what the engine says."""
    code, file = _code(said), _FILE.search(said)
    what = f"{file[1]} cannot be read: {os.strerror(code)}" if code is not None and file else said[:_SHOWN]
    advice = "correct its rights, or run: quire index" if code in _RIGHTS else "run: quire index"
    return f"the index is damaged ({what})", advice


def _code(said: str) -> int | None:
    number = _SYSTEM_ERROR.search(said)
    return int(number[1]) if number else None


def _unwritten(said: str) -> tuple[str, str]:
    """Why nothing could be written and what to do, by what the engine says."""
    from quire.write.atomic_file import remedy  # noqa: PLC0415  most uses write nothing

    code = _code(said)
    what = f"cannot be written: {os.strerror(code)}" if code is not None else f"cannot be written ({said[:_SHOWN]})"
    if "writer was killed" in said:  # which loses what the system said to its thread
        return "cannot be written: there is no room, or files may not get so large", "make room and run again"
    return what, remedy(code)


def _joined(error: BaseException) -> str:
    return " ".join(str(error).split())
