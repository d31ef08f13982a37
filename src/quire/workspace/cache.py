"""Indexes of folders without a quire.toml. They are in the user's cache folder, one for each set of named paths.

    ~/.cache/quire/docs-1f0a3c5b7d9e2468/.quire/    the index of a folder called docs
                                         paths      the paths, one per line; its time is that of the last use

An index that was not used for 30 days is removed when another one is made.
"""

import os
import time
from binascii import crc32
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from quire.operating_system import remove_folder, temporary_folder, user_folder
from quire.settings.quire_toml import tree_name
from quire.write.atomic_file import replacing

_PATHS = "paths"
_DAYS = 30


def cache_root() -> Path:
    """The folder of all cached indexes."""
    return user_folder("cache") or temporary_folder() / "quire"


def cache_folder(paths: Sequence[str]) -> Path:
    """The folder that has the index of some absolute paths."""
    names = sorted(map(os.path.realpath, paths))
    data = "\0".join(names).encode("utf-8", "surrogateescape")
    digest = f"{crc32(data):08x}{crc32(data[::-1]):08x}"  # hashlib would load OpenSSL
    return cache_root() / f"{tree_name(os.path.basename(names[0]))[:40]}-{digest}"  # noqa: PTH119


def note_use(folder: Path, paths: Sequence[str]) -> None:
    """Remember that a cached index is used now, and what it is of."""
    file = folder / _PATHS
    with suppress(OSError):  # a cache that cannot be written is reported by the update
        if file.exists():
            os.utime(file)
            return
        _remove_unused()
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(file) as stream:
            stream.write("\n".join(paths).encode("utf-8", "surrogateescape"))


def cached_paths() -> Iterator[tuple[Path, list[str]]]:
    """The cached indexes with their paths, the one that was used last first."""
    entries = [(file.stat().st_mtime, file) for file in cache_root().glob(f"*/{_PATHS}") if file.is_file()]
    for _, file in sorted(entries, reverse=True):
        yield file.parent, file.read_bytes().decode("utf-8", "surrogateescape").split("\n")


def _remove_unused() -> None:
    oldest = time.time() - _DAYS * 86_400
    for file in cache_root().glob(f"*/{_PATHS}"):
        if file.stat().st_mtime < oldest:
            remove_folder(file.parent)
