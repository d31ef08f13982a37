"""The last commit of an index, opened and seen to be whole. Used by ``update`` and ``Index``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from quire.errors import IndexDamagedError, StoreError
from quire.index.engine import damage
from quire.index.engine.store import Snapshot
from quire.index.files import Tree
from quire.index.folder import CHECKED, Folder, Stamp


def opened(folder: Folder) -> tuple[Snapshot | None, Stamp]:
    """The last commit, None where there is none, and the stamp by which a newer one is told.

    Another process may commit meanwhile and remove what was just being opened: then it is tried again.
    """
    while True:
        stamp = folder.stamp()
        try:
            return _opened(folder), stamp
        except (damage.DamageError, IndexDamagedError) as error:
            if folder.stamp() == stamp:
                if isinstance(error, IndexDamagedError):
                    raise
                raise folder.damaged(f"the index is damaged ({error})") from error


def trees_left(folder: Folder) -> Mapping[str, Tree]:
    """The trees of the newest commit that can be read, where it is not known which one counts."""
    for generation in folder.generations():
        with suppress(damage.DamageError, StoreError):
            damage.check(generation, {})
            return Snapshot(generation).settings.trees
    return {}


def _opened(folder: Folder) -> Snapshot | None:
    generation = folder.current()
    if generation is None:
        return None
    damage.check(generation, damage.remembered(folder.path / CHECKED, generation))
    return Snapshot(generation)
