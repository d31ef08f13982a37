"""What a run is going to change: the files of one document, from the stage to their places. Pure.

json_files.py collects changes; swap.py or journal.py carries them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quire.write.names import Place


class Change(NamedTuple):
    """New files for one document."""

    place: Place
    """Where they go."""
    number: int
    """The document's number in the stage."""
    chunks: tuple[int, ...]
    """The numbers of the chunks it has now."""
    old: tuple[str, ...]
    """The names of the files it has had."""

    @property
    def staged(self) -> list[tuple[str, str]]:
        """Each new file: its name in the stage, and its name."""
        return [(staged_name(self.number, index), self.place.file(index)) for index in self.chunks]

    @property
    def files(self) -> set[str]:
        """All files of the document, old and new, from the output folder on."""
        before = f"{self.place.folder}/" if self.place.folder else ""
        return {before + name for name in (*self.old, *(name for _, name in self.staged))}

    @property
    def gone(self) -> list[str]:
        """The old files that no new one replaces."""
        new = {self.place.file(index) for index in self.chunks}
        return [name for name in self.old if name not in new]


def staged_name(document: int, chunk: int) -> str:
    """A file's name in the stage; none that anybody takes for output."""
    return f"{document}.{chunk}"


def by_root(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    """The changes by the folder that holds them: the fewest folders of which none is inside another."""
    root: str | None = None
    held: list[Change] = []
    for change in sorted(changes, key=lambda change: _parts(change.place.folder)):
        if root is None or not is_below(change.place.folder, root):
            if root is not None:
                yield root, held
            root, held = change.place.folder, []
        held.append(change)
    if root is not None:
        yield root, held


def is_below(folder: str, root: str) -> bool:
    """Whether ``folder`` is ``root`` or inside it."""
    return not root or folder == root or folder.startswith(f"{root}/")


def _parts(folder: str) -> list[str]:
    return folder.split("/") if folder else []
