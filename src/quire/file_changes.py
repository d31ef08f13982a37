"""Whether the documents of some folders have changed, by the times and sizes of files: nothing is opened.

This is much cheaper than ``Index.update``, which compares every file with its record in the index. It may report a
change where there is none, never the other way round.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from quire.read.discover import Walk

_TICK_NS, _COARSE_TICK_NS = 20_000_000, 2_100_000_000
"""Two changes within this time may leave equal times, on current and on old file systems."""

FileTimes: TypeAlias = Sequence[tuple[int, int, int]]


class FileChanges:
    """Remembers the times of documents, folders and ignore files."""

    def __init__(
        self,
        folders: Mapping[str, Path],
        include: Mapping[str, Sequence[str]] | None = None,
        exclude: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """``include`` and ``exclude`` are patterns for the documents of a folder, by its name."""
        self._folders = dict(folders)
        self._include, self._exclude = include or {}, exclude or {}
        self._paths: list[str] = []
        self._times: FileTimes | None = None
        self._seen: FileTimes | None = None
        self._seen_at = 0

    def is_unchanged(self) -> bool:
        """Whether nothing has changed since ``look``, if that was followed by ``keep``."""
        return self._times is not None and _times(self._paths) == self._times

    def look(self) -> None:
        """Find the files and note their times. Call this before an update, so that later changes are noticed."""
        self._times, self._paths, self._seen_at = None, [], time.time_ns()
        for name, folder in self._folders.items():
            found = Walk(str(folder), self._include.get(name, ()), self._exclude.get(name, ()))
            self._paths += [*found.watched, *found.files]
        self._paths += map(str, self._folders.values())
        self._seen = _times(self._paths)

    def keep(self) -> None:
        """Rely on the last look, unless a file was so new that a later change may leave its times as they are."""
        newest = max((max(modified, changed) for modified, changed, _ in self._seen or ()), default=0)
        tick = _TICK_NS if newest % 1_000_000 else _COARSE_TICK_NS
        self._times = self._seen if newest < self._seen_at - tick else None


def _times(paths: Iterable[str]) -> FileTimes | None:
    """The times and sizes of files and folders; None if one is missing."""
    stat = os.stat
    try:
        found = map(stat, paths)
        return [(each.st_mtime_ns, each.st_ctime_ns, each.st_size) for each in found]
    except (OSError, ValueError):
        return None
