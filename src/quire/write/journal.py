"""Changes in place, file by file, where folders cannot change places (swap.py). A journal makes them certain.

The new files wait complete in the stage; then the journal says what is to become of them; then they are renamed. The
old ones go to the stage, so that a document that cannot be put in place as a whole stays as it was. A run that is
killed in between is completed by the next one, or by ``recover``, from what the journal says. While there is a journal,
a document may be half old and half new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from quire.errors import QuireError
from quire.write.atomic import replacing, sync_folder
from quire.write.changes import Change
from quire.write.names import JOURNAL, STAGE, STATE, Place, component, split_name
from quire.write.obstacles import obstacle


def carry_out(out: Path, changes: Sequence[Change]) -> list[tuple[Change, OSError]]:
    """Carry out ``changes``, whose new files are in the stage and on the disk; the result is those that cannot be."""
    with replacing(out / JOURNAL) as stream:
        stream.writelines(json.dumps(change).encode() + b"\n" for change in changes)
    outcomes = [(change, _put_in_place(out, change)) for change in changes]
    _close(out, (change for change, error in outcomes if error is None))
    return [(change, error) for change, error in outcomes if error is not None]


def complete(out: Path) -> int:
    """Complete what a killed run has begun; the result is the number of documents."""
    journal = out / JOURNAL
    if not journal.exists():
        return 0
    changes = [_change(out, line) for line in journal.read_bytes().splitlines()]
    for change in changes:
        error = _put_in_place(out, change)
        if error is not None:
            raise error
    _close(out, changes)
    return len(changes)


def _put_in_place(out: Path, change: Change) -> OSError | None:
    """Carry out a change from wherever it was left; on an error, which is the result, all is as it was."""
    done: list[tuple[Path, Path]] = []
    try:
        (out / change.place.folder).mkdir(parents=True, exist_ok=True)
        for source, target in _moves(out / STAGE, out / change.place.folder, change):
            source.replace(target)
            done.append((source, target))
    except OSError as error:
        for source, target in reversed(done):
            target.replace(source)
        return error
    return None


def _moves(stage: Path, folder: Path, change: Change) -> Iterator[tuple[Path, Path]]:
    """What is left to move: each old file to the stage, and at once the new one to its place."""
    for staged, name in change.staged:
        if (stage / staged).exists():  # else it is where it belongs
            if name in change.old and _is_file(folder / name):
                yield folder / name, stage / f"{staged}.old"
            yield stage / staged, folder / name
    for number, name in enumerate(change.gone):
        if _is_file(folder / name):
            yield folder / name, stage / f"{change.number}.{number}.gone"


def _is_file(path: Path) -> bool:
    """Whether there is something that quire may replace; what others have put there meanwhile is theirs."""
    return path.is_file() and not path.is_symlink()


def _close(out: Path, changes: Iterable[Change]) -> None:
    for folder in {change.place.folder for change in changes}:
        sync_folder(out / folder)
    (out / JOURNAL).unlink()


def _change(out: Path, line: bytes) -> Change:
    """One line of the journal; the folder may come from anywhere, so nothing in it is trusted."""
    try:
        (folder, stem), number, chunks, old = json.loads(line)
        change = Change(Place(folder, stem), number, tuple(chunks), tuple(old))
        is_sound = _is_sound(change)
    except (TypeError, ValueError, AttributeError) as error:
        raise _damaged(out) from error
    if not is_sound or obstacle(out, change.place):
        raise _damaged(out)
    return change


def _is_sound(change: Change) -> bool:
    """Whether all names are ones that quire gives, so that none leads out of the folder."""
    parts = change.place.folder.split("/") if change.place.folder else []
    names = [*change.old, *(name for _, name in change.staged)]
    return (
        all(type(number) is int for number in (change.number, *change.chunks))
        and all(part and part == component(part) for part in parts)
        and all(split_name(name) is not None and not {"/", "\0"} & set(name) for name in names)
    )


def _damaged(out: Path) -> QuireError:
    return QuireError(
        f"{out / JOURNAL}: is damaged, so what a killed run began cannot be completed; remove {out / STATE}"
    )
