"""``quire index``: bring the index up to date, and say what has changed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import click

from quire.cli.arguments import not_empty
from quire.cli.commands import NOTHING_FOUND
from quire.cli.indexes import (
    PATIENCE,
    absorb,
    folders_of,
    index_option,
    left_out,
    run_update,
    settings_for,
)
from quire.cli.output import Paint, count_of, echo, show_findings, write_json
from quire.cli.places import choose, reachable
from quire.cli.refusals import advised, refuse_beforehand
from quire.index.update import Update
from quire.indexed import Index


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
    read.
    """
    if remove and (paths or rebuild):
        raise click.UsageError("--remove forgets trees; leave out PATH and --rebuild")
    settings = settings_for(index_folder, paths)
    with Index.open(settings.index, settings=settings.search) as index:
        known = folders_of(index, settings, repair=not remove)
        if remove:
            return _remove(index, remove, known, as_json=as_json)
        chosen = choose(paths, (), settings, known)
        refuse_beforehand(chosen, settings)
        done = run_update(index, chosen, settings, wait=PATIENCE, rebuild=rebuild)
        added = left_out(index, chosen, settings)
        if added.places:
            refuse_beforehand(added, settings)
            done = _together(done, run_update(index, added, settings, wait=PATIENCE))
        absorb(index, chosen.with_instead(added), settings, known)
    if as_json:
        write_json(_record(done))
    else:
        _show(done, reachable(settings.index))
    return NOTHING_FOUND if done.failed else 0


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


def _together(first: Update, second: Update) -> Update:
    """What two updates have done, one after the other, in different trees."""
    names = ("added", "changed", "removed", "touched", "unchanged", "failed")
    return replace(
        second, rebuilt=first.rebuilt, **{name: getattr(first, name) + getattr(second, name) for name in names}
    )


def _record(done: Update) -> dict[str, object]:
    numbers = ("added", "changed", "removed", "touched", "unchanged", "nodes", "rebuilt")
    return {
        **{name: getattr(done, name) for name in numbers},
        "failed": [asdict(advised(each)) for each in done.failed],
    }


def _show(done: Update, index: str) -> None:
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
    sys.stdout.flush()
    show_findings([replace(advised(each), path=reachable(each.path)) for each in done.failed])
