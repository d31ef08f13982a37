"""The index that a command works on: opened, brought up to date, and what of it is meant.

Before: ``quire.settings`` and ``places``. After: search, get, ls, index and status, one file each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
import msgspec

from quire.cli.advice import advice, index_given, no_index
from quire.cli.output import Progress, count_of, note
from quire.cli.places import (
    Chosen,
    Place,
    as_printed,
    choose,
    here,
    located,
    new_tree,
    reachable,
)
from quire.cli.refusals import refuse_beforehand, refuse_place, without_empty
from quire.cli.shown import visible
from quire.errors import (
    BusyError,
    IndexDamagedError,
    InputError,
    NotFoundError,
    OptionError,
    StoreError,
)
from quire.index.file_records import FileRecord, storable
from quire.indexed import Index, Update
from quire.search.hit import Hit
from quire.search.path_filter import literal_pattern
from quire.settings import Settings, load

_NOTHING = "/:"
"""A pattern that no document is like."""
PATIENCE = 3600.0
"""Seconds to wait for another process where nothing can be said without waiting."""
Read = Callable[[Chosen], tuple[Chosen, Update]]
"""Updates some trees; gives those that can be read, and what was done."""


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """An index with what the user has set and chosen."""

    index: Index
    settings: Settings
    chosen: Chosen
    folders: Mapping[str, Path]
    """Where the trees of the index are."""
    gone: frozenset[str]
    """Those whose folders are gone. The index keeps what it has of them, for they may be on a drive that is mounted
    again, but nothing is answered from it unless it is asked for as it is."""
    is_empty: bool
    """Whether nothing that was named has a document in it, and there may be no index; that was said."""

    def is_left_out(self, tree: str, name: str) -> bool:
        """Whether the tree of what was asked for by ``name`` is gone; then that is said."""
        if tree in self.gone:
            note(f"quire: {visible(name)}: the folder of its tree is gone; --no-update answers from the index as it is")
        return tree in self.gone

    def file(self, hit: Hit) -> str:
        """Where the document of a hit is, as a path that works from the current folder."""
        return self.path(hit.tree, hit.path)

    def path(self, tree: str, path: str) -> str:
        """Where a document is, as a path that works from the current folder."""
        folder = self.folders[tree]
        return reachable(folder / path if storable(folder.name) != path or folder.is_dir() else folder)

    def say(self, error: NotFoundError) -> None:
        """Say what is not in the index."""
        from quire.index.section_lookup import USE_LS  # noqa: PLC0415  which is what found nothing

        if error.advice == USE_LS:
            error = error.advising(f"quire ls{index_given(self.settings)} shows what is")
        note(f"quire: {visible(str(error))}")

    def filters(self, globs: Sequence[str]) -> list[str] | None:
        """What limits a search to the chosen parts of trees, and to what is like one of ``globs``."""
        parts = self.chosen.parts
        globs = [pattern for glob in globs for pattern in self._patterns(glob)]
        patterns = [f"{tree}:{literal_pattern(part)}" for tree in self.chosen.trees for part in parts.get(tree, [""])]
        if not parts or not globs:
            return patterns if parts else list(globs) or None
        meant = {each.id for each in self.index.documents(path=patterns)}
        both = [each for each in self.index.documents(path=globs) if each.id in meant]
        return [f"{each.tree}:{literal_pattern(each.path)}" for each in both] or [_NOTHING]

    def _patterns(self, glob: str) -> list[str]:
        """What a pattern means: it is as in the tree, or, where nothing there is like it, as it is printed."""
        fitting = {each.tree for each in self.index.documents(path=glob)}
        others = {name: self.folders[name] for name in self.chosen.trees if name not in fitting}
        printed = as_printed(glob, others)
        if not fitting.intersection(self.chosen.trees) and not (printed and self.index.documents(path=printed)):
            note(f"quire: --path {visible(glob)}: no document is like this")
        return [glob, *printed]


def settings_for(index_folder: str | None) -> Settings:
    """What is set for the current folder; the command line has the last word."""
    if index_folder == "":
        raise click.UsageError("--index needs a folder")
    index = Path(os.path.abspath(index_folder)) if index_folder else None  # noqa: PTH100  links stay as named
    settings = load(here(), index=index)
    refuse_place(settings.index, settings.folders)
    return settings


@contextmanager
def opened(
    paths: Sequence[str],
    *,
    index_folder: str | None,
    trees: Sequence[str] = (),
    tree_first: str = "",
    update: bool = True,
    begin: bool = True,
) -> Iterator[Opened]:
    """The index, brought up to date in what ``paths`` and ``trees`` mean; ``begin`` says whether to make a new one.

    If there is a tree called ``tree_first``, that is meant, whatever ``paths`` are.
    """
    settings = settings_for(index_folder)
    with Index.open(settings.index, settings=settings.search) as index:
        known = folders_of(index, settings, repair=update)
        if not known and not settings.trees and not begin:
            raise no_index(settings)
        if tree_first in {**known, **settings.trees}:
            paths, trees = (), (tree_first,)
        chosen = choose(paths, trees, settings, known, read=update)
        if update:
            read = partial(_read, index, settings)
            chosen, _ = brought_up_to_date(index, chosen, settings, known, read=read, again=read)
        else:
            _refuse_unknown(index, chosen, settings, known)
        folders = folders_of(index, settings)
        gone = frozenset(name for name, folder in folders.items() if update and not folder.exists())
        is_empty = not chosen.places
        chosen = Chosen(tuple(place for place in chosen.places if place.tree not in gone))
        yield Opened(index=index, settings=settings, chosen=chosen, folders=folders, gone=gone, is_empty=is_empty)


def folders_of(index: Index, settings: Settings, *, repair: bool = False) -> dict[str, Path]:
    """Where the trees of the index are; none if there is no index yet. A damaged one is made anew if so wished."""
    try:
        return {name: tree.folder for name, tree in index.trees().items()}
    except NotFoundError:
        return {}
    except IndexDamagedError as error:
        if not repair:
            raise error.advising(f"{error.advice}{index_given(settings)}") from error
        note(f"quire: {visible(f'{reachable(settings.index)}: {error.problem}')}; it is made anew")
    try:
        run_update(index, None, settings, wait=PATIENCE)
    except OptionError:
        return {}  # not even its trees can be told
    return folders_of(index, settings)


def brought_up_to_date(
    index: Index, chosen: Chosen, settings: Settings, known: Mapping[str, Path], *, read: Read, again: Read
) -> tuple[Chosen, Update]:
    """What can be read of ``chosen``, updated by ``read``; and what was done.

    Parts that the walk through their tree leaves out were named, so they are wanted: each becomes a tree, for which
    ``again`` is called. No document is to be found twice: trees that were ``known`` before and are in a new one now are
    forgotten, unless a file names them.
    """
    chosen, done = read(chosen)
    added = _left_out(index, chosen, settings)
    if added.places:
        kept, more = again(added)
        chosen, done = chosen.instead(added, kept), _together(done, more)
    _absorb(index, chosen, settings, known)
    return chosen, done


def _together(first: Update, second: Update) -> Update:
    """What two updates have done, one after the other, in different trees."""
    names = ("added", "changed", "removed", "touched", "unchanged")
    failed = {each.path: each for each in (*second.failed, *first.failed)}  # a file may have failed in both
    numbers = {name: getattr(first, name) + getattr(second, name) for name in names}
    return replace(first, failed=tuple(failed.values()), **numbers)


def _read(index: Index, settings: Settings, chosen: Chosen) -> tuple[Chosen, Update]:
    """Update the chosen trees; where that is not possible now, say so and go on with what there is."""
    chosen = without_empty(chosen)
    if not chosen.places:
        return chosen, Update()
    refuse_beforehand(chosen, settings)
    try:
        done = run_update(index, chosen, settings, wait=0.0)
    except (BusyError, StoreError) as error:
        if set(chosen.trees) & set(folders_of(index, settings)):
            note(f"quire: {visible(f'{error.path}: {error.problem}')}; this is from before")
            return chosen, Update()
        if isinstance(error, StoreError):
            elsewhere = "keep it elsewhere with --index"
            raise error.advising(f"{error.advice}, or {elsewhere}" if error.advice else elsewhere) from error
        done = run_update(index, chosen, settings, wait=PATIENCE)  # there is nothing to answer from yet
    if done.failed:
        named = f"{visible(advice('status', settings))} names them"
        note(f"quire: {count_of(len(done.failed), 'file')} could not be read; {named}")
    return chosen, done


def run_update(
    index: Index, chosen: Chosen | None, settings: Settings, *, wait: float, rebuild: bool = False
) -> Update:
    """Update the chosen trees, or all that the index knows; progress is shown on a terminal."""
    trees = None if chosen is None else _there(chosen, settings)
    configured = {name: tree for name, tree in settings.trees.items() if trees and name in trees}
    progress: list[Progress] = []

    def on_progress(done: int, total: int, path: str) -> None:
        if not progress:
            progress.append(Progress(total))
        progress[0].step(done, path)

    try:
        return index.update(
            trees,
            languages={name: tree.language for name, tree in configured.items()},
            include={name: tree.include for name, tree in configured.items()},
            exclude={name: tree.exclude for name, tree in configured.items()},
            wait=wait,
            rebuild=rebuild,
            on_progress=on_progress,
            on_wait=_say_wait,
        )
    finally:
        if progress:
            progress[0].end()


def _there(chosen: Chosen, settings: Settings) -> dict[str, Path]:
    """The trees whose folders are still there."""
    there = {name: folder for name, folder in chosen.trees.items() if folder.exists()}
    for name, folder in chosen.trees.items():
        if name not in there:
            gone = visible(reachable(folder))
            forgets = visible(advice(f"index --remove {name}", settings))
            note(f"quire: tree {name}: {gone} is gone and left out; {forgets} forgets it")
    return there


def _say_wait(sentence: str) -> None:
    note(f"quire: {visible(sentence)}")


def _left_out(index: Index, chosen: Chosen, settings: Settings) -> Chosen:
    """Parts that the walk through their tree left out, each as a tree."""
    known = {**settings.folders, **folders_of(index, settings)}
    places: list[Place] = []
    for place in chosen.places:
        if place.part and not documents_in(index, place.tree, place.part):
            places.append(new_tree(place.given, known))
            known[places[-1].tree] = places[-1].folder
    return Chosen(tuple(places))


def _absorb(index: Index, chosen: Chosen, settings: Settings, before: Mapping[str, Path]) -> None:
    """Forget trees that nobody configured and whose documents are all in a new tree too."""
    new = {name: folder for name, folder in chosen.trees.items() if name not in before}
    for name, folder in before.items():
        found = located(folder, new) if name not in settings.trees and name not in chosen.trees else None
        if found is None:
            continue
        tree, part = found
        own = {each.path for each in index.documents(tree)}
        lead = f"{part}/" if part else ""
        if own >= ({part} if folder.is_file() else {lead + each.path for each in index.documents(name)}):
            with suppress(BusyError, StoreError):  # it stays, and may be removed by hand
                index.remove(name)


def documents_in(index: Index, tree: str, part: str) -> list[FileRecord]:
    """The documents of a tree, of a folder in it, or the one document that ``part`` is."""
    found = index.documents(tree)
    return [each for each in found if not part or each.path == part or each.path.startswith(f"{part}/")]


def _refuse_unknown(index: Index, chosen: Chosen, settings: Settings, known: Mapping[str, Path]) -> None:
    """Refuse what is not in the index, so that nothing found does not mean nothing searched."""
    for place in chosen.places:
        if place.tree in known and (not place.part or documents_in(index, place.tree, place.part)):
            continue  # a tree may have no documents, and is in the index all the same
        if not known:
            raise no_index(settings)
        raise InputError(place.given or place.tree, "not in the index", "leave out --no-update")
