"""One JSON file a chunk: ``{out}/{folder of the source}/{contentType}_{docName}__ch{n}.json``. Before: wire/.

A run writes new files to a stage, and puts them all in place at its end: killed before that, everything is as it was.
names.py says where files go, obstacles.py what is in the way, there.py what earlier runs wrote; swap.py puts files in
place in one step, journal.py where that cannot be done.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from quire.errors import QuireError
from quire.record import Chunks
from quire.wire.record import encode
from quire.write import journal, swap
from quire.write.atomic import replacing
from quire.write.changes import Change, by_root, staged_name
from quire.write.given import documents_of, refusal
from quire.write.lock import OnWait, held
from quire.write.names import JOURNAL, LOCK, README, STAGE, STATE, Place, place_of, twin_key
from quire.write.obstacles import is_too_long, obstacle, obstacle_in_state
from quire.write.there import There
from quire.write.trouble import explained, explanation

PATIENCE = 600.0
"""How many seconds to wait for another run that writes to the same folder."""

_INDENT = 2
_SAYS = """\
The folder above is quire's, for chunk files. When documents change, it replaces the folder (or folders in it) as a
whole, in one step, so that no document is ever half old and half new. Other files in it are kept.

Delete this file to have chunk files replaced one by one instead.
"""


class Encoded(NamedTuple):
    """The files of a document, before they have their names."""

    path: str | None
    """The document's path."""
    content_type: str
    files: Mapping[int, bytes]
    """What they hold, by the numbers of the chunks."""


@dataclass(frozen=True)
class Refused:
    """A document that was not written."""

    path: str
    """Its path; ``<text>`` for text without one."""
    reason: str
    """Why, and what to do."""


@dataclass(frozen=True)
class Written:
    """What a run has come to."""

    documents: int = 0
    """How many documents are in the folder as they were given."""
    chunks: int = 0
    """How many chunks they have."""
    unchanged: int = 0
    """How many of the documents were there already, to the byte."""
    refused: tuple[Refused, ...] = ()
    """The documents that were not written."""


def encoded(chunks: Chunks) -> Encoded:
    """The files of a document; they can be made in another process than the one that writes them."""
    files = {chunk.chunk_number: encode(chunk, indent=_INDENT) + b"\n" for chunk in chunks}
    return Encoded(chunks.document.path, chunks.options.content_type, files)


def write_files(
    out: Path | str, documents: Iterable[Chunks], *, patience: float = PATIENCE, on_wait: OnWait | None = None
) -> Written:
    """Write the chunks of ``documents`` to files in ``out``: all at the end, each document as a whole.

    A document that cannot be written is refused, and the others are written. On an error before the end nothing is
    changed.
    """
    some = documents_of(documents)
    with FileWriter(out, patience=patience, on_wait=on_wait) as writer:
        for chunks in some:
            writer.add(chunks)
    return writer.written


def recover(out: Path | str, *, patience: float = PATIENCE, on_wait: OnWait | None = None) -> int:
    """Complete what a killed run has begun in ``out``; the result is how many documents that were.

    Every run does this first. Only where folders cannot change places is there ever anything to complete.
    """
    folder = _real(out)
    with explained(Path(out)):
        _refuse_obstacle(Path(out))
        if not (folder / STATE).is_dir():
            return 0
        with held(folder / LOCK, str(out), patience=patience, on_wait=on_wait):
            return _tidied(folder)


class FileWriter:
    """Writes the chunks of documents to files, in a ``with`` block; at its end all of them are put in place.

    It holds a lock on the folder: another run waits, at most ``patience`` seconds, and says so to ``on_wait``.
    """

    def __init__(self, out: Path | str, *, patience: float = PATIENCE, on_wait: OnWait | None = None) -> None:
        self._shown = Path(out)
        self._out = _real(out)
        self._patience = patience
        self._on_wait = on_wait
        self._stack = ExitStack()
        self._changes: list[Change] = []
        self._taken: dict[str, str] = {}
        self._refused: list[Refused] = []
        self._counts = {"documents": 0, "chunks": 0, "unchanged": 0}
        self._there = There(self._out)

    @property
    def written(self) -> Written:
        """What has been done so far."""
        return Written(**self._counts, refused=tuple(self._refused))

    def __enter__(self) -> Self:
        try:
            with explained(self._shown):
                _open(self._out, self._shown, self._stack, self._patience, self._on_wait)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack, explained(self._shown):
            if kind is None:
                self._commit()

    def add(self, chunks: Chunks) -> bool:
        """Take the chunks of a document; False if they are refused, see ``written.refused``."""
        if not isinstance(chunks, Chunks):
            raise refusal(chunks)
        return self.add_encoded(encoded(chunks), chunks.document.source.name)

    def add_encoded(self, document: Encoded, name: str) -> bool:
        """Take the files of a document, which messages call ``name``."""
        place = place_of(document.path, document.content_type)
        with explained(self._shown):
            reason = self._reason_against(place, document)
            if reason is not None:
                self._refused.append(Refused(name, reason))
                return False
            self._taken[_key(place)] = name
            self._stage(place, document.files)
        return True

    def _stage(self, place: Place, files: Mapping[int, bytes]) -> None:
        self._counts["documents"] += 1
        self._counts["chunks"] += len(files)
        old = self._there.files(place)
        if self._is_there(place, old, files):
            self._counts["unchanged"] += 1
            return
        number = len(self._changes)
        for index, data in files.items():
            _write(self._out / STAGE / staged_name(number, index), data)
        self._changes.append(Change(place, number, tuple(files), tuple(old)))

    def _is_there(self, place: Place, old: Sequence[str], files: Mapping[int, bytes]) -> bool:
        """Whether the document's files are these already."""
        folder = self._out / place.folder
        return {*old} == {place.file(index) for index in files} and all(
            (folder / place.file(index)).read_bytes() == data for index, data in files.items()
        )

    def _commit(self) -> None:
        if self._changes:
            swap.sync(self._out / STAGE)  # so that no name ever stands for a file that is not on the disk
        may_swap = (self._out / README).exists()
        for root, changes in by_root(self._changes):
            if not (may_swap and _swapped(self._out, root, changes)):
                for change, error in journal.carry_out(self._out, changes):
                    self._take_back(change, str(explanation(error, self._shown)))

    def _take_back(self, change: Change, reason: str) -> None:
        """Count a document that could not be put in place as refused."""
        self._counts["documents"] -= 1
        self._counts["chunks"] -= len(change.chunks)
        self._refused.append(Refused(self._taken[_key(change.place)], reason))

    def _reason_against(self, place: Place, document: Encoded) -> str | None:
        """Why a document cannot be written, if so."""
        try:
            return self._meets(place) or self._obstacle(place, document)
        except OSError as error:  # its folder cannot be looked into
            return str(explanation(error, self._shown))

    def _meets(self, place: Place) -> str | None:
        other = self._taken.get(_key(place))
        if other is None:
            return None
        return f"its files {place.shown} would meet those of {other}; rename one, or write them to another folder"

    def _obstacle(self, place: Place, document: Encoded) -> str | None:
        if is_too_long(self._out / place.folder / place.file(max(document.files, default=0))):
            return f"the path of its files, {place.shown}, would be longer than this system allows; shorten it"
        return obstacle(self._out, place) or self._there.conflict(place, document.path)


def _real(out: Path | str) -> Path:
    with explained(Path(out)):  # there may be no current folder
        return Path(os.path.realpath(out))


def _open(out: Path, shown: Path, stack: ExitStack, patience: float, on_wait: OnWait | None) -> None:
    """Lock and tidy the folder and make an empty stage; ``stack`` gets what undoes it."""
    if shown.exists() and not shown.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(shown))
    _refuse_obstacle(shown)
    (out / STATE).mkdir(parents=True, exist_ok=True)
    stack.enter_context(held(out / LOCK, str(shown), patience=patience, on_wait=on_wait))
    _tidied(out)
    if _is_fresh(out) and not (out / README).exists():
        with replacing(out / README) as stream:
            stream.write(_SAYS.encode())
    stack.callback(_drop_stage, out)
    (out / STAGE).mkdir()


def _refuse_obstacle(out: Path) -> None:
    reason = obstacle_in_state(out)
    if reason is not None:
        raise QuireError(reason)


def _is_fresh(out: Path) -> bool:
    """Whether nobody has put anything into the folder yet; a ``.gitignore`` or the like aside."""
    return all(each.name == STATE or (each.name.startswith(".") and each.is_file()) for each in out.iterdir())


def _tidied(out: Path) -> int:
    """Complete or remove what killed runs left."""
    completed = journal.complete(out)
    shutil.rmtree(out / STAGE, ignore_errors=True)
    swap.sweep(out)
    return completed


def _swapped(out: Path, root: str, changes: Sequence[Change]) -> bool:
    try:
        swap.swap(out, root, changes, out / STAGE)
    except swap.CannotSwapError:
        return False
    return True


def _drop_stage(out: Path) -> None:
    if not (out / JOURNAL).exists():  # else it is what the next run completes this one from
        shutil.rmtree(out / STAGE, ignore_errors=True)


def _write(file: Path, data: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(data)
        if not hasattr(os, "sync"):  # elsewhere one call does it for all files
            os.fsync(stream.fileno())


def _key(place: Place) -> str:
    return twin_key(f"{place.folder}/{place.stem}")
