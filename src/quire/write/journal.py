"""Changes in place, file by file, where folders cannot change places (swap.py). A journal makes them certain.

The new files wait complete in the stage; then the journal says what is to become of them; then they are renamed. A run
that is killed in between is completed by the next one, or by ``recover``, from what the journal says. While there is
a journal, a document may be half old and half new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from quire.errors import QuireError
from quire.write.atomic import replacing, sync_folder
from quire.write.changes import Change
from quire.write.names import JOURNAL, STAGE, STATE, Place, component, split_name
from quire.write.obstacles import obstacle


def carry_out(out: Path, changes: Sequence[Change]) -> None:
    """Carry out ``changes``, whose new files are in the stage and on the disk."""
    for folder in {change.place.folder for change in changes}:
        (out / folder).mkdir(parents=True, exist_ok=True)
    with replacing(out / JOURNAL) as stream:
        stream.writelines(json.dumps(change).encode() + b"\n" for change in changes)
    _finish(out, changes)


def complete(out: Path) -> int:
    """Complete what a killed run has begun; the result is the number of documents."""
    journal = out / JOURNAL
    if not journal.exists():
        return 0
    changes = [_change(out, line) for line in journal.read_bytes().splitlines()]
    _finish(out, changes)
    return len(changes)


def _finish(out: Path, changes: Iterable[Change]) -> None:
    """Carry out ``changes`` from wherever they were left."""
    folders: set[Path] = set()
    for change in changes:
        folder = out / change.place.folder
        for staged, name in change.staged:
            source = out / STAGE / staged
            if source.exists():  # else it is where it belongs
                source.replace(folder / name)
        for name in change.gone:
            (folder / name).unlink(missing_ok=True)
        folders.add(folder)
    for folder in folders:
        sync_folder(folder)
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
