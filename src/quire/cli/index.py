"""``quire index``: bring the index up to date and show the changes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.open_index import documents_in, folders_of, settings_for, show_empty, update_index
from quire.cli.output import Paint, Progress, count_of, echo, show_findings, visible, write_json
from quire.cli.shared_options import index_option, json_option, paths_argument
from quire.cli.tree_paths import command_hint, display_path, select, trees_of
from quire.index.file_records import storable
from quire.indexed import Index, Update
from quire.settings import Settings
from quire.vectors.vector_files import current_folder, remove_vectors


@click.command()
@paths_argument
@click.option("--rebuild", is_flag=True, help="Read every file again, changed or not.")
@click.option("--remove", multiple=True, metavar="TREE", help="Remove a tree from the index. Repeatable.")
@click.option("--vectors", metavar="NAME", help="Embed sections for search by meaning: wordllama or minilm.")
@click.option("--no-vectors", is_flag=True, help="Remove the vectors.")
@json_option
@index_option
def command(
    *,
    paths: tuple[str, ...],
    rebuild: bool,
    remove: tuple[str, ...],
    vectors: str | None,
    no_vectors: bool,
    as_json: bool,
    index_folder: str | None,
) -> int:
    """Bring the index up to date.

    `quire search` does this by itself; this command does it beforehand. PATH is a folder or a file; by default quire
    updates all trees of quire.toml, else those of the index, else the current folder. With --vectors, sections get
    vectors for `quire search --mode hybrid`, and later updates keep them in step. The exit code is 1 if a file
    could not be read, or if there are no documents.
    """
    if remove and (paths or rebuild or vectors):
        raise click.UsageError("--remove only removes trees; leave out PATH, --rebuild and --vectors")
    if vectors and no_vectors:
        raise click.UsageError("--vectors and --no-vectors exclude each other; choose one")
    settings = settings_for(index_folder)
    with Index.open(settings.index, settings=settings.search) as index:
        known = folders_of(index, settings, repair=not remove)
        if remove:
            return _remove(index, tuple(dict.fromkeys(remove)), known, as_json=as_json)
        selection, done = update_index(index, select(paths, (), settings, known), settings, known, rebuild=rebuild)
        indexed = index.trees() if folders_of(index, settings) else {}  # trees may have replaced others
        done = msgspec.structs.replace(done, nodes=sum(tree.nodes for tree in indexed.values()))
        is_empty = not any(documents_in(index, each.tree, each.path) for each in selection)
        embedded = None
        if no_vectors:
            remove_vectors(settings.index)
        elif indexed and (vectors or current_folder(settings.index)):
            with Progress() as progress:
                embedded = index.embed(vectors, on_progress=progress.step)
    if is_empty and not done.failed:
        for folder in trees_of(selection).values():
            show_empty(display_path(folder))
    if as_json:
        failed = msgspec.to_builtins([replace(each, path=storable(each.path)) for each in done.failed])
        names = ("added", "changed", "removed", "touched", "unchanged", "nodes", "rebuilt")
        record = {**{name: getattr(done, name) for name in names}, "failed": failed}
        write_json(record | ({"embedded": embedded.embedded} if embedded else {}))
    else:
        _show(done, settings)
        if embedded and embedded.documents:
            echo(f"{count_of(embedded.embedded, 'text')} embedded")
    return NOTHING_FOUND if done.failed or is_empty else 0


def _remove(index: Index, names: tuple[str, ...], known: Mapping[str, Path], *, as_json: bool) -> int:
    for name in names:
        if name not in known:
            raise click.UsageError(f"--remove {name}: no such tree; the trees are {', '.join(known) or 'none yet'}")
    for name in names:
        index.remove(name)
    if as_json:
        write_json({"removedTrees": names})
    else:
        echo(f"{', '.join(names)}: removed")
    return 0


def _show(done: Update, settings: Settings) -> None:
    path = display_path(settings.index)
    if done.seconds:  # there was something to read
        if done.rebuilt:
            echo(visible(f"{path}: rebuilt, because {done.rebuilt}"))
        changes = f"{done.added:,} added, {done.changed:,} changed, {done.removed:,} removed"
        unchanged = f"{done.unchanged + done.touched:,} unchanged"
        echo(f"{Paint(sys.stdout).path(path)}: {changes}, {unchanged}, {count_of(done.nodes, 'section')} in all")
    sys.stdout.flush()
    failed = [replace(each, path=display_path(each.path)) for each in done.failed]
    show_findings(failed, hint=f"{command_hint('status', settings)} lists all")
