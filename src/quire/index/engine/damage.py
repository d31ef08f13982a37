"""Detects damage to the engine's files by the checksum at the end of each.

Files that passed are remembered with size and times, and checked again only if these change. Damage that changes no
time, as by a failing disk, is found by a full check (``quire status``), or when the engine cannot read a file.
"""

import errno
import os
from binascii import crc32
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import msgspec

from quire.errors import IndexDamagedError, QuireError, is_panic
from quire.model.patterns import pattern

Stamps = dict[str, tuple[int, int, int]]  # size, mtime and ctime of files by name

CHECKED = "index.checked"  # remembers the files that passed
META = "meta.json"  # the engine's description of the last commit; a folder with this file is an index
_SUFFIXES = ("idx", "pos", "term", "store", "fast", "fieldnorm")
_MAGIC = 1337
_AT_ONCE = 1 << 20  # how many bytes of a file are read at once
_TAIL = 8  # the length of the footer and the magic number, four bytes each


class DamageError(Exception):
    """A damaged file, in a few words; the caller adds the folder's name."""


def check(generation: Path, *, is_full: bool = False) -> Stamps:
    """Check the files of the last commit that have not passed yet, or all of them, and remember them."""
    passed: Stamps = {}  # the names of files are unique, also among generations
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):  # a lost or torn memory does no harm
        passed = msgspec.msgpack.decode((generation.parent / CHECKED).read_bytes(), type=Stamps)
    stamps: Stamps = {}
    for name in _file_names(generation):
        with _named(name):
            status = (generation / name).stat()
            stamps[name] = status.st_size, status.st_mtime_ns, status.st_ctime_ns
            if is_full or stamps[name] != passed.get(name):
                _check_sum(generation / name)
    if stamps != passed:
        with suppress(OSError):
            (generation.parent / CHECKED).write_bytes(msgspec.msgpack.encode(stamps))
    return stamps


def _file_names(generation: Path) -> Iterator[str]:
    with _named(META):
        for segment in msgspec.json.decode((generation / META).read_bytes())["segments"]:
            name, deletes = segment["segment_id"].replace("-", ""), segment.get("deletes")
            yield from (f"{name}.{suffix}" for suffix in _SUFFIXES)
            if deletes is not None:
                yield f"{name}.{deletes['opstamp']}.del"


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Report a file that is missing, cannot be read, or is no JSON of the engine."""
    try:
        yield
    except FileNotFoundError as error:
        raise DamageError(f"{name} is missing") from error
    except OSError as error:
        raise DamageError(f"{name} cannot be read: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError, msgspec.DecodeError) as error:
        raise DamageError(f"{name} has invalid content") from error


def _check_sum(file: Path) -> None:
    """Compare the checksum of a file's content with the one that it ends with."""
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - _TAIL, 0))
        tail = stream.read()
        end = size - _TAIL - int.from_bytes(tail[-8:-4], "little")
        if end < 0 or int.from_bytes(tail[-4:], "little") != _MAGIC:
            raise DamageError(f"{file.name} has no valid footer")
        stream.seek(0)
        checksum = 0
        for start in range(0, end, _AT_ONCE):
            checksum = crc32(stream.read(min(_AT_ONCE, end - start)), checksum)
        footer = stream.read()[:-_TAIL]
    if checksum != msgspec.json.decode(footer)["crc"]:
        raise DamageError(f"{file.name} has changed since it was written")


# Errors of the engine, which quotes the system in two ways.

_SYSTEM_ERROR = pattern(r"(?:\(os error |\bOs \{ code: )([0-9]{1,5})\b")
MAX_SHOWN = 200


def text_and_code(error: BaseException) -> tuple[str, int | None]:
    """The engine's message on one line, and the error code of the system in it."""
    text = " ".join(str(error).split())
    number = _SYSTEM_ERROR.search(text)
    return text, int(number[1]) if number else None


_ENGINE_FILE = pattern(r'filepath: "(?:[^"]*[/\\])?([^"/\\]+)"')  # the engine names files by their whole path


class engine_reads(AbstractContextManager[None]):  # noqa: N801  used as a function; a generator costs four times as much, and a search has twenty
    """Turn every error while the engine's files are read into an ``IndexDamagedError``; all are to be checked again."""

    def __init__(self, generation: Path) -> None:
        self._generation = generation

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, QuireError | MemoryError):
            return
        if not isinstance(error, Exception) and not is_panic(error):
            return
        text, code = text_and_code(error)
        file = _ENGINE_FILE.search(text)
        what = f"{file[1]} cannot be read: {os.strerror(code)}" if code is not None and file else text[:MAX_SHOWN]
        with suppress(OSError):
            (self._generation.parent / CHECKED).unlink()
        needs_rights = code in (errno.EACCES, errno.EPERM)
        advice = "correct its rights, or run: quire index" if needs_rights else "run: quire index --rebuild"
        raise IndexDamagedError(str(self._generation.parent), f"the index is damaged ({what})", advice) from error
