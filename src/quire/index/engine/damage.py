"""Whether the engine's files are what was written. Used by ``opening``, ``update`` and ``Index.status``.

Each file of a segment ends with the CRC32 of what is before. Checking it reads the whole file, so it is done once: what
was seen whole is remembered with its size and time, and looked at again when one of these has changed. What changes
under the same size and time, a failing disk, is found by a check of everything.
"""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

Seen = dict[str, tuple[int, int]]
"""Files that were seen whole, by name: size and time of the last change."""

META = "meta.json"
"""The engine's own description of the last commit: where it stands, there is an index."""
_PARTS = ("idx", "pos", "term", "store", "fast", "fieldnorm")
_MAGIC = 1337
_TAIL = 8
"""The length of the footer and the magic number, four bytes each."""
_LONGEST_FOOTER = 4_096
_AT_ONCE = 1 << 20


class DamageError(Exception):
    """What is wrong, in a few words; whoever knows the folder's name makes a sentence of it."""


class _Deletes(msgspec.Struct):
    opstamp: int


class _Segment(msgspec.Struct):
    segment_id: str
    deletes: _Deletes | None = None


class _Meta(msgspec.Struct):
    """The engine's own description of a commit, as far as it names files."""

    segments: list[_Segment]


class _Footer(msgspec.Struct):
    """The end of each of its files."""

    crc: int


def check(generation: Path, seen: Mapping[str, tuple[int, int]] | None = None) -> Seen:
    """Look at all files of the last commit, those in ``seen`` only from outside, and say what was seen."""
    found: Seen = {}
    for name in _names(generation):
        file = generation / name
        try:
            status = file.stat()
            known = (status.st_size, status.st_mtime_ns)
            if seen is None or seen.get(name) != known:
                _check_file(file, status.st_size)
        except FileNotFoundError as error:
            raise DamageError(f"{name} is missing") from error
        except OSError as error:
            raise DamageError(f"{name} cannot be read: {error.strerror or error}") from error
        found[name] = known
    return found


def outside(generation: Path) -> Seen:
    """The files of the last commit as they are from outside, for the process that has just written them."""
    found: Seen = {}
    for name in _names(generation):
        status = (generation / name).stat()
        found[name] = (status.st_size, status.st_mtime_ns)
    return found


def remembered(file: Path, generation: Path) -> Seen:
    """What ``remember`` wrote of a generation; nothing if there is none to be read."""
    try:
        name, seen = msgspec.msgpack.decode(file.read_bytes(), type=tuple[str, dict[str, tuple[int, int]]])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return seen if name == generation.name else {}


def memory_of(generation: Path, seen: Seen) -> bytes:
    """What ``remembered`` reads."""
    return msgspec.msgpack.encode((generation.name, seen))


def _names(generation: Path) -> Iterator[str]:
    """The files that the last commit consists of."""
    try:
        meta = msgspec.json.decode((generation / META).read_bytes(), type=_Meta)
    except FileNotFoundError as error:
        raise DamageError(f"{META} is missing") from error
    except OSError as error:
        raise DamageError(f"{META} cannot be read: {error.strerror or error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamageError(f"{META} holds something else") from error
    for segment in meta.segments:
        name = segment.segment_id.replace("-", "")
        yield from (f"{name}.{part}" for part in _PARTS)
        if segment.deletes is not None:
            yield f"{name}.{segment.deletes.opstamp}.del"


def _check_file(file: Path, size: int) -> None:
    with file.open("rb") as stream:
        stream.seek(-min(size, _TAIL), os.SEEK_END)
        tail = stream.read(_TAIL)
        length = int.from_bytes(tail[:4], "little")
        if len(tail) < _TAIL or int.from_bytes(tail[4:], "little") != _MAGIC or length > min(_LONGEST_FOOTER, size):
            raise DamageError(f"{file.name} does not end as it should")
        stream.seek(size - _TAIL - length)
        expected = _crc_in(stream.read(length), file.name)
        stream.seek(0)
        left, crc = size - _TAIL - length, 0
        while left > 0:
            block = stream.read(min(_AT_ONCE, left))
            if not block:
                raise DamageError(f"{file.name} is cut off")
            crc, left = crc32(block, crc), left - len(block)
    if crc != expected:
        raise DamageError(f"{file.name} has changed since it was written")


def _crc_in(footer: bytes, name: str) -> int:
    try:
        return msgspec.json.decode(footer, type=_Footer).crc
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamageError(f"{name} does not end as it should") from error
