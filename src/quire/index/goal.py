"""What there is against what is wanted: the trees of an index, how it is made, what there is to do. For ``update``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from quire import __version__
from quire.errors import IndexDamagedError, OptionError
from quire.index.engine import analysis, schema
from quire.index.engine.store import Snapshot
from quire.index.files import LANGUAGE, TOKENIZER, FileTable, Settings, Tree, languages_of
from quire.index.folder import Folder, Stamp
from quire.index.opening import opened, trees_left
from quire.index.plan import Place, Plan, plan
from quire.index.room import refuse_file, refuse_hidden, refuse_others
from quire.options import is_id_part
from quire.read.source import unread


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What an update is to look at."""

    trees: Mapping[str, str] | None
    """Folders by name; None for those that the index knows."""
    languages: Mapping[str, str]
    """The languages of trees that are not in the one they were in, or not in English."""
    include: Mapping[str, tuple[str, ...]] = {}
    """Patterns for the documents to take, by tree; a tree that is not there keeps its own."""
    exclude: Mapping[str, tuple[str, ...]] = {}
    """Patterns for the documents to leave out, in the same way."""
    rebuild: bool = False
    """Whether to make the index anew, whatever there is."""


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """What there is, and what is to become of it."""

    snapshot: Snapshot | None
    """The last commit, if it can be built upon."""
    stamp: Stamp
    """Tells whether it still is the last."""
    rebuilt: str | None
    """Why it cannot be built upon."""
    settings: Settings
    """What the index is to say of itself."""
    plan: Plan
    """What there is to do."""

    @property
    def known(self) -> FileTable:
        """What is known of the files."""
        return self.snapshot.files() if self.snapshot is not None else {}

    @property
    def is_reached(self) -> bool:
        """Whether there is nothing to do."""
        return self.snapshot is not None and self.plan.is_empty and self.snapshot.settings == self.settings


def goal_of(folder: Folder, request: Request) -> Goal:
    """What there is against what is wanted."""
    try:
        snapshot, stamp = opened(folder)
        why = None
    except IndexDamagedError as error:
        snapshot, stamp, why = None, folder.stamp(), error.problem
    known = snapshot.settings.trees if snapshot is not None else _trees_of(folder)
    trees = _trees(folder, request, known)
    _refuse_place(folder, request, is_new=snapshot is None)
    languages = languages_of(trees)
    if snapshot is not None:
        why = "it was asked for" if request.rebuild else difference(snapshot.settings, trees)
        languages = snapshot.settings.languages if why is None else languages
        snapshot = snapshot if why is None else None
    settings = Settings(schema.VERSION, __version__, TOKENIZER, languages, trees)
    looked_at = trees if request.trees is None or snapshot is None else request.trees
    places = places_of(folder, {name: trees[name] for name in looked_at})
    made = plan(places, snapshot.files() if snapshot is not None else {})
    return Goal(snapshot=snapshot, stamp=stamp, rebuilt=why, settings=settings, plan=made)


def _refuse_place(folder: Folder, request: Request, *, is_new: bool) -> None:
    """Refuse a folder that is no place for an index, before anything is written to it."""
    refuse_file(folder.path)
    refuse_hidden(folder.path, {name: Path(place) for name, place in (request.trees or {}).items()})
    if is_new:
        refuse_others(folder.path)


def _trees_of(folder: Folder) -> Mapping[str, Tree]:
    """The trees of an index that cannot be opened."""
    try:
        pointer = folder.pointer()
    except IndexDamagedError:
        return trees_left(folder)
    return pointer.trees if pointer is not None else {}


def _trees(folder: Folder, request: Request, known: Mapping[str, Tree]) -> dict[str, Tree]:
    """The trees that the index is to have."""
    trees = dict(known)
    for name, place in (request.trees or {}).items():
        _check_name(name)
        try:
            os.stat(place)  # noqa: PTH116  an empty path does not exist, but Path("") does
        except (OSError, ValueError) as error:
            raise unread(place, error) from error
        before = known.get(name) or Tree(b"", LANGUAGE)
        trees[name] = msgspec.structs.replace(before, folder=_relative(folder, place))
    _refuse_twice({name: trees[name] for name in request.trees or ()})
    for field, option in (("language", "languages"), ("include", "include"), ("exclude", "exclude")):
        for name, value in getattr(request, option).items():
            _check_option(option, name, value, trees)
            trees[name] = msgspec.structs.replace(trees[name], **{field: value})
    if not trees:
        raise OptionError(f"{folder.path}: there is nothing in the index yet", 'name folders, as in {"docs": "docs/"}')
    return trees


def _check_option(option: str, name: str, value: Any, trees: Mapping[str, Tree]) -> None:
    """Refuse an option of a tree that is unknown, and an unknown language."""
    if name not in trees:
        advice = f"there are: {', '.join(sorted(trees))}"
        raise OptionError(f"{option}: no tree is called {name!r}", advice, option=option)
    if option == "languages" and value not in analysis.LANGUAGES:
        raise OptionError(f"unknown language {value!r}", f"choose from: {', '.join(analysis.LANGUAGES)}", option=option)


def _check_name(name: str) -> None:
    if not is_id_part(name):
        raise OptionError(f"a tree cannot be called {name!r}", "use letters, digits, '-', '_' and '.'", option="trees")


def _refuse_twice(trees: Mapping[str, Tree]) -> None:
    """Each document would be found twice."""
    names: dict[bytes, str] = {}
    for name, tree in trees.items():
        other = names.setdefault(tree.folder, name)
        if other != name:
            raise OptionError(
                f"the trees {other!r} and {name!r} are one folder", "leave one of them out", option="trees"
            )


def _relative(folder: Folder, place: str) -> bytes:
    path = Path(os.path.abspath(place))  # noqa: PTH100  resolve() would replace links by what they lead to
    return os.fsencode(path.relative_to(folder.home) if path.is_relative_to(folder.home) else path)


def folder_of(folder: Folder, tree: Tree) -> Path:
    """Where the documents of a tree are."""
    return folder.home / os.fsdecode(tree.folder)


def places_of(folder: Folder, trees: Mapping[str, Tree]) -> list[Place]:
    """Where to look for the documents of some trees."""
    return [
        Place(
            tree=name,
            folder=str(folder_of(folder, tree)),
            language=tree.language,
            include=tree.include,
            exclude=tree.exclude,
        )
        for name, tree in trees.items()
    ]


def difference(old: Settings, trees: Mapping[str, Tree]) -> str | None:
    """Why an index that was made with ``old`` cannot be built upon."""
    if old.quire != __version__:
        return f"it was made by quire {old.quire}"
    if old.tokenizer != TOKENIZER:
        return f"its tokens were counted with {old.tokenizer}"
    for name, tree in trees.items():
        if name in old.trees and tree.language != old.trees[name].language:
            return f"the language of {name} is {tree.language} now"
    added = sorted(set(languages_of(trees)) - set(old.languages))
    return f"there is a new language: {', '.join(added)}" if added else None
