"""``quire status``: how the index is: its trees, its size, what is outdated, damaged or cannot be read.

``Index.status`` knows the index and its documents; the trees that a file names are held against it here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import click

from quire.cli.advice import advice, index_given, no_index
from quire.cli.commands import NOTHING_FOUND
from quire.cli.index_options import index_option
from quire.cli.indexes import settings_for
from quire.cli.output import MOST_SHOWN, Paint, count_of, echo, note, show_finding, write_json
from quire.cli.places import is_gone, naming, reachable
from quire.cli.shown import visible
from quire.errors import NotFoundError
from quire.index.file_records import VERSION, storable
from quire.indexed import Index, Status
from quire.settings import Settings

_NO_INDEX = "there is no index yet"


class Named(NamedTuple):
    """The trees that a file names, against those of the index."""

    changed: dict[str, str]
    """Why a tree is not in the index as it is named, or not there, by its name."""
    unnamed: dict[str, str]
    """The trees of the index that the file does not name, with what that means."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, to standard output.")
@index_option
def command(*, as_json: bool, index_folder: str | None) -> int:
    """Show how the index is.

    Checks every byte of it and looks at every tree, of the index and of quire.toml. It mends nothing: `quire index`
    does. The exit code is 1 if something is outdated, damaged, not there or cannot be read.
    """
    settings = settings_for(index_folder)
    with Index.open(settings.index, settings=settings.search) as index:
        status = _status(index, settings)
        if status is None:
            note(f"quire: {visible(str(no_index(settings)))}")
            if not as_json:
                return NOTHING_FOUND
            status = Status(version=VERSION, size=0, rebuild=_NO_INDEX)
    named = Named(dict(_changed(status, settings)), dict(_unnamed(status, settings)))
    if as_json:
        write_json(_record(status, named, str(settings.index)))
    else:
        _show(status, named, settings)
    return 0 if _is_fine(status, named) else NOTHING_FOUND


def _status(index: Index, settings: Settings) -> Status | None:
    """How the index is; None if there is none, or nothing in it, as all commands have it: its last tree was removed."""
    try:
        status = index.status()
    except NotFoundError:
        return None
    has_something = status.trees or settings.trees or status.damaged or status.rebuild
    return _without_gone(_advised(status, settings)) if has_something else None


def _advised(status: Status, settings: Settings) -> Status:
    """With advice that leads to this index; what is said of damage ends with a command."""
    return replace(status, damaged=f"{status.damaged}{index_given(settings)}") if status.damaged else status


def _without_gone(status: Status) -> Status:
    """Without the documents of trees that are gone, which no command takes for removed: the trees are named instead."""
    gone = {f"{name}:": str(tree.folder) for name, tree in status.trees.items() if not tree.folder.exists()}
    return replace(
        status,
        outdated=tuple(each for each in status.outdated if not each.startswith(tuple(gone))),
        failed=tuple(each for each in status.failed if each.path not in gone.values()),
    )


def _is_fine(status: Status, named: Named) -> bool:
    return not (status.damaged or status.rebuild or status.outdated or status.failed or named.changed)


def _changed(status: Status, settings: Settings) -> Iterator[tuple[str, str]]:
    """Trees that are gone, or not in the index as a file names them.

    Of an index that cannot be read there is nothing to say.
    """
    for name, tree in settings.trees.items():
        place, known = reachable(tree.path), status.trees.get(name)
        if not tree.path.exists():
            yield name, f"{place}: {is_gone(name, settings)}"
        elif known is None:
            if status.trees or not (status.damaged or status.rebuild):
                yield name, f"{place} is not in the index yet; {advice('index', settings)} reads it"
        elif os.path.realpath(known.folder) != os.path.realpath(tree.path):
            reads = f"{advice('index', settings)} reads it"
            yield name, f"{reachable(known.folder)} is in the index, and not {place}; {reads}"
        elif known.language != tree.language:
            yield name, f"its language is {tree.language} now; {advice('index', settings)} makes the index anew"
    for name, known in status.trees.items():
        if name not in settings.trees and not known.folder.exists():
            forgets = f"{advice(f'index --remove {name}', settings)} forgets it"
            yield name, f"{reachable(known.folder)}: it is gone and left out; {forgets}"


def _unnamed(status: Status, settings: Settings) -> Iterator[tuple[str, str]]:
    """Trees that are searched only if they are asked for, because a file names others."""
    file = next((naming(name, settings) for name in settings.trees), "")
    for name in status.trees:
        if file and name not in settings.trees:
            yield name, f"{file} does not name it; {advice(f'index --remove {name}', settings)} forgets it"


def _record(status: Status, named: Named, folder: str) -> dict[str, Any]:
    trees = {name: {**asdict(tree), "folder": storable(str(tree.folder))} for name, tree in status.trees.items()}
    failed = tuple(replace(each, path=storable(each.path)) for each in status.failed)
    changed = {name: storable(why) for name, why in named.changed.items()}
    more = {"changedTrees": changed, "unnamedTrees": list(named.unnamed)}
    return {"index": storable(folder), **asdict(replace(status, trees={}, failed=failed)), "trees": trees, **more}


def _show(status: Status, named: Named, settings: Settings) -> None:
    paint = Paint(sys.stdout)
    segments = [count_of(status.segments, "segment")] if status.segments else []  # else nobody knows
    size = ", ".join([_bytes(status.size), *segments, f"version {status.version}"])
    echo(f"{paint.place(reachable(settings.index))}  {paint.faint(size)}")
    for name, tree in status.trees.items():
        counted = ((tree.files, "document"), (tree.nodes, "section"), (tree.tokens, "token"))
        numbers = ", ".join(count_of(*each) for each in counted)
        place = paint.faint(f"{tree.language}  {reachable(tree.folder)}")
        echo(f"  {paint.title(name)}  {paint.number(numbers)}  {place}")
    _show_named(named, paint)
    if status.rebuild:
        echo(paint.warning(f"outdated: {status.rebuild}; the next update makes it anew"))
    if status.damaged:
        echo(paint.warning(f"damaged: {status.damaged}"))
    if status.outdated:
        reads = f"{advice('index', settings)} reads them"
        echo(paint.warning(f"outdated: {count_of(len(status.outdated), 'document')}; {reads}"))
        for each in status.outdated[:MOST_SHOWN]:
            echo(f"  {paint.plain(each)}")
        if len(status.outdated) > MOST_SHOWN:
            echo(paint.faint(f"  … and {len(status.outdated) - MOST_SHOWN:,} more"))
    if status.failed:
        echo(paint.warning(f"cannot be read: {count_of(len(status.failed), 'file')}"))
        sys.stdout.flush()
        for failed in status.failed:
            show_finding(replace(failed, path=reachable(failed.path)))
    if _is_fine(status, named):
        echo("up to date")


def _show_named(named: Named, paint: Paint) -> None:
    for name, why in named.unnamed.items():
        echo(paint.plain(f"tree {name}: {why}"))
    for name, why in named.changed.items():
        echo(paint.warning(f"outdated: tree {name}: {why}"))


def _bytes(size: int) -> str:
    units = {"GB": 10**9, "MB": 10**6, "KB": 10**3}
    return next((f"{size / each:.1f} {unit}" for unit, each in units.items() if size >= each), f"{size} bytes")
