"""Detects damage to the engine's files, by their checksums or when the engine fails to read them.

Each segment file ends with the CRC32 of its content. Checking it reads the whole file, so files that passed are
remembered with size and time, and checked again only if these change. Damage that changes neither, as by a failing
disk, is found by a full check (``quire status``), or when the engine meets it.
"""

from __future__ import annotations

import errno
import os
import re
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from quire.errors import IndexDamagedError, is_panic

Stamps = dict[str, tuple[int, int]]  # the size and mtime of files by name

META = "meta.json"  # the engine's description of the last commit; a folder with this file is an index
_SUFFIXES = ("idx", "pos", "term", "store", "fast", "fieldnorm")
_MAGIC = 1337
_TAIL = 8  # the length of the footer and the magic number, four bytes each


class DamageError(Exception):
    """A damaged file, in a few words; the caller adds the folder's name."""


def check(generation: Path, memory: Path | None = None) -> Stamps:
    """Check all files of the last commit, except those that ``memory`` remembers; return their stamps."""
    known = _remembered(memory, generation) if memory is not None else {}
    stamps = _stamps(generation)
    for name, stamp in stamps.items():
        if known.get(name) != stamp:
            with _named(name):
                _check_file(generation / name)
    return stamps


def remember(memory: Path, generation: Path) -> None:
    """Remember all files of a commit that this process has just made. A lost or torn memory does no harm."""
    memory.write_bytes(msgspec.msgpack.encode((generation.name, _stamps(generation))))


def _remembered(memory: Path, generation: Path) -> Stamps:
    try:
        name, stamps = msgspec.msgpack.decode(memory.read_bytes(), type=tuple[str, dict[str, tuple[int, int]]])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return stamps if name == generation.name else {}


def _stamps(generation: Path) -> Stamps:
    found: Stamps = {}
    for name in _file_names(generation):
        with _named(name):
            status = (generation / name).stat()
        found[name] = (status.st_size, status.st_mtime_ns)
    return found


def _file_names(generation: Path) -> Iterator[str]:
    with _named(META):
        segments = msgspec.json.decode((generation / META).read_bytes())["segments"]
        deletes = {segment["segment_id"]: segment.get("deletes") for segment in segments}
        for segment_id, deleted in deletes.items():
            name = segment_id.replace("-", "")
            yield from (f"{name}.{suffix}" for suffix in _SUFFIXES)
            if deleted is not None:
                yield f"{name}.{deleted['opstamp']}.del"


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


def _check_file(file: Path) -> None:
    data = memoryview(file.read_bytes())
    end = len(data) - _TAIL - int.from_bytes(data[-8:-4], "little")
    if end < 0 or int.from_bytes(data[-4:], "little") != _MAGIC:
        raise DamageError(f"{file.name} has no valid footer")
    if crc32(data[:end]) != msgspec.json.decode(bytes(data[end:-_TAIL]))["crc"]:
        raise DamageError(f"{file.name} has changed since it was written")


# Errors of the engine. It quotes the system in two ways, and names files by their whole path.

_SYSTEM_ERROR = re.compile(r"(?:\(os error |\bOs \{ code: )([0-9]{1,5})\b")
_FILE = re.compile(r'filepath: "(?:[^"]*[/\\])?([^"/\\]+)"')
MAX_SHOWN = 200


@contextmanager
def engine_reads(generation: Path) -> Iterator[None]:
    """Turn the engine's errors about unreadable files into an ``IndexDamagedError``."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError | OSError | LookupError) and not is_panic(error):
            raise
        text, code = text_and_code(error)
        file = _FILE.search(text)
        what = f"{file[1]} cannot be read: {os.strerror(code)}" if code is not None and file else text[:MAX_SHOWN]
        needs_rights = code in (errno.EACCES, errno.EPERM)
        advice = "correct its rights, or run: quire index" if needs_rights else "run: quire index"
        raise IndexDamagedError(str(generation.parent), f"the index is damaged ({what})", advice) from error


def text_and_code(error: BaseException) -> tuple[str, int | None]:
    """The engine's message on one line, and the error code of the system in it."""
    text = " ".join(str(error).split())
    number = _SYSTEM_ERROR.search(text)
    return text, int(number[1]) if number else None
