"""``quire index``: bring the index up to date, and say what has changed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import click

from quire.cli.advice import advice
from quire.cli.arguments import not_empty
from quire.cli.commands import NOTHING_FOUND
from quire.cli.index_options import index_option
from quire.cli.indexes import PATIENCE, brought_up_to_date, documents_in, folders_of, run_update, settings_for
from quire.cli.output import Paint, count_of, echo, show_findings, write_json
from quire.cli.places import Chosen, choose, reachable
from quire.cli.refusals import refuse_beforehand, say_empty, unreadable, without_empty
from quire.errors import InputError, UndecodableError
from quire.index.file_records import storable
from quire.indexed import Index, Update
from quire.model import Finding
from quire.settings import Settings


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH...]", callback=not_empty)
@click.option("--rebuild", is_flag=True, help="Read everything again, whether it has changed or not.")
@click.option("--remove", multiple=True, metavar="TREE", help="Forget a tree; may be given several times.")
@click.option("--json", "as_json", is_flag=True, help="Print what has changed as one JSON object, and nothing else.")
@index_option
def command(
    *, paths: tuple[str, ...], rebuild: bool, remove: tuple[str, ...], as_json: bool, index_folder: str | None
) -> int:
    """Bring the index up to date.

    `quire search` does this by itself; here it can be done beforehand. PATH is a folder or a file; without it, all
    trees of quire.toml, else those of the index, else the current folder. The exit code is 1 if a file could not be
    read, or there are no documents.
    """
    if remove and (paths or rebuild):
        raise click.UsageError("--remove forgets trees; leave out PATH and --rebuild")
    settings = settings_for(index_folder)
    with Index.open(settings.index, settings=settings.search) as index:
        known = folders_of(index, settings, repair=not remove)
        if remove:
            return _remove(index, tuple(dict.fromkeys(remove)), known, as_json=as_json)
        read = partial(_read, index, settings)
        chosen = choose(paths, (), settings, known)
        first = partial(read, rebuild=rebuild)
        found, done = brought_up_to_date(index, chosen, settings, known, read=first, again=read)
        done = replace(done, nodes=_nodes(index, settings))
        is_empty = not any(documents_in(index, place.tree, place.part) for place in found.places)
        is_gone = bool(found.trees) and not any(folder.exists() for folder in found.trees.values())
    if is_empty and not done.failed:  # a new tree without a document is told, and not among these
        for folder in found.trees.values():
            say_empty(reachable(folder))
    if as_json:
        write_json(_record(done))
    else:
        _show(done, settings)
    return NOTHING_FOUND if done.failed or is_empty or is_gone else 0


def _read(index: Index, settings: Settings, chosen: Chosen, *, rebuild: bool = False) -> tuple[Chosen, Update]:
    """What can be read of ``chosen``, and what was done; what cannot is among what failed."""
    failed = unreadable(chosen)
    chosen = without_empty(chosen.without(failed))
    if chosen.places:
        refuse_beforehand(chosen, settings)
        done = run_update(index, chosen, settings, wait=PATIENCE, rebuild=rebuild)
    else:
        done = Update()
    return chosen, replace(done, failed=(*done.failed, *map(_finding, failed.values())))


def _nodes(index: Index, settings: Settings) -> int:
    """How many sections there are in all, when trees that another took in are gone."""
    return sum(tree.nodes for tree in index.trees().values()) if folders_of(index, settings) else 0


def _finding(error: InputError) -> Finding:
    """An error as an update tells it of a file in a folder: the line as such, and not in the message."""
    code, line = ("undecodable", error.line) if isinstance(error, UndecodableError) else ("unreadable", 0)
    return Finding(code=code, path=str(Path(error.path).absolute()), line=line, message=error.message)


def _remove(index: Index, names: tuple[str, ...], known: Mapping[str, Path], *, as_json: bool) -> int:
    for name in names:
        if name not in known:
            raise click.UsageError(f"--remove {name}: no such tree; the trees are {', '.join(known) or 'none yet'}")
    for name in names:
        index.remove(name)
    if as_json:
        write_json({"removedTrees": names})
    else:
        echo(f"{', '.join(names)}: forgotten")
    return 0


def _record(done: Update) -> dict[str, object]:
    numbers = ("added", "changed", "removed", "touched", "unchanged", "nodes", "rebuilt")
    return {
        **{name: getattr(done, name) for name in numbers},
        "failed": [asdict(replace(each, path=storable(each.path))) for each in done.failed],
    }


def _show(done: Update, settings: Settings) -> None:
    """What was done, if anything could be read; and what cannot be."""
    if done.seconds:
        _show_changes(done, reachable(settings.index))
    sys.stdout.flush()
    all_of_them = f"{advice('status', settings)} names all"
    show_findings([replace(each, path=reachable(each.path)) for each in done.failed], more=all_of_them)


def _show_changes(done: Update, index: str) -> None:
    paint = Paint(sys.stdout)
    if done.rebuilt:
        echo(paint.plain(f"{index}: made anew, because {done.rebuilt}"))
    parts = [
        f"{done.added:,} added",
        f"{done.changed:,} changed",
        f"{done.removed:,} removed",
        f"{done.unchanged + done.touched:,} unchanged",
    ]
    echo(f"{paint.place(index)}: {', '.join(parts)}, {count_of(done.nodes, 'section')} in all")
