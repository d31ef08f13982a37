"""What the system says when it cannot write, as an error that names the target and says what to do. For all writers."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from quire.errors import QuireError

_RIGHTS = "correct the rights of its folder, or take another one"
_ROOM = "make room and run again"
_NO_FOLDER = "it is no folder; take another one"
_REMEDIES = {
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "raise the limit for the size of files, or make room, and run again",
    errno.ENOTDIR: _NO_FOLDER,
    errno.EEXIST: _NO_FOLDER,
    errno.ENAMETOOLONG: "take a shorter name",
    errno.EBADF: "it is not open for writing; name a file",
}


@contextmanager
def explained(target: Path) -> Iterator[None]:
    """Turn what the system says when it cannot write into an error that names the target."""
    _check_name(target)
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise explanation(error, target) from error


def explanation(error: OSError, target: Path) -> QuireError:
    """What the system says, of the file or folder that it is about, else of the target."""
    place = next(filter(_is_known, (error.filename, error.filename2)), target)
    return QuireError(f"{place}: cannot be written: {error.strerror or error}", remedy(error.errno))


def _check_name(target: Path) -> None:
    """QuireError if no file can have this name; what the system's functions raise for it may be anybody's error."""
    try:
        os.fsencode(target)
    except UnicodeEncodeError as error:
        raise QuireError(
            f"{target}: cannot be written: names are {sys.getfilesystemencoding()} on this system; take another name"
        ) from error
    if "\0" in str(target):
        raise QuireError(f"{str(target)!r}: cannot be written: no name can hold a NUL character; take another name")


def remedy(code: int | None) -> str:
    """What to do about an error of the system while writing."""
    return _REMEDIES.get(code or 0, "make room or correct its rights, or take another place")


def _is_known(place: object) -> bool:
    """Whether users know a place by its name: what quire hides from them, and makes on the way, they do not."""
    return isinstance(place, str) and not any(part[0] == "." and "quire" in part for part in PurePath(place).parts)
