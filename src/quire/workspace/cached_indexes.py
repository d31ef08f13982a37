"""The indexes of folders without a quire.toml, in the user's cache folder.

~/.cache/quire/docs-1f0a…/.quire/    the cached index of a folder called docs
paths      the paths, one per line; its time is that of the last use
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from quire.model.operating_system import digest, remove_folder, temporary_folder, user_folder
from quire.model.trees import tree_name
from quire.output.atomic_file import replacing

_PATHS = "paths"
_DAYS = 30  # an index that was not used for so long is removed


def _cache_root() -> Path:
    return user_folder("cache") or temporary_folder() / "quire"


def cache_folder(paths: Sequence[str]) -> Path:
    """The folder in the user's cache that has the index of some absolute paths."""
    names = sorted(map(os.path.realpath, paths))
    return _cache_root() / f"{tree_name(os.path.basename(names[0]))[:40]}-{digest(names)}"  # noqa: PTH119


def cached_indexes() -> Iterator[tuple[Path, list[str]]]:
    """The folder and the paths of each cached index, the one that was used last first."""
    files = [file for file in _cache_root().glob(f"*/{_PATHS}") if file.is_file()]
    for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
        yield file.parent, file.read_bytes().decode("utf-8", "surrogateescape").split("\n")


def note_use(folder: Path, paths: Sequence[str]) -> None:
    """Remember that a cached index is used now, and what it is of. Removes those that were not used for long."""
    file = folder / _PATHS
    with suppress(OSError):  # a cache that cannot be written is reported by the update
        if file.exists():
            os.utime(file)
            return
        for other in _cache_root().glob(f"*/{_PATHS}"):
            if other.stat().st_mtime < time.time() - _DAYS * 86_400:
                remove_folder(other.parent)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(file) as stream:
            stream.write("\n".join(paths).encode("utf-8", "surrogateescape"))
