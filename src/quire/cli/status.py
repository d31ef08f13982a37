"""``quire status``: the state of the index: its trees and size, and what is outdated, damaged or unreadable."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click
import msgspec

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.open_index import no_index, settings_for
from quire.cli.output import MOST_SHOWN, Paint, count_of, echo, message, show_finding, visible, write_json
from quire.cli.shared_options import index_option, json_option
from quire.cli.tree_paths import command_hint, display_path, file_of_tree, index_flag, missing_tree
from quire.errors import NotFoundError
from quire.index.file_records import VERSION, storable
from quire.indexed import Index, Status, TreeInfo
from quire.options import AUTO_SLUGS, DEFAULT_SLUGS
from quire.settings import Settings


@click.command()
@json_option
@index_option
def command(*, as_json: bool, index_folder: str | None) -> int:
    """Show the state of the index.

    Checks every byte of the index and looks at every tree, of the index and of quire.toml. It changes nothing; `quire
    index` does. The exit code is 1 if something is outdated, damaged, missing or cannot be read.
    """
    settings = settings_for(index_folder)
    status = _status(settings)
    if status is None:
        message(str(no_index(settings)))
        if not as_json:
            return NOTHING_FOUND
        status = Status(version=VERSION, size=0, rebuild="there is no index yet")
    changed = dict(_changed_trees(status, settings))
    unnamed = [name for name in status.trees if settings.trees and name not in settings.trees]
    is_fine = not (status.damaged or status.rebuild or status.outdated or status.failed or changed)
    if as_json:
        write_json(_record(status, changed, unnamed, str(settings.index)))
    else:
        _show(status, changed, unnamed, settings)
        if is_fine:
            echo("up to date")
    return 0 if is_fine else NOTHING_FOUND


def _status(settings: Settings) -> Status | None:
    """The state of the index; None if there is no index, or if its last tree was removed.

    Documents of missing trees do not count as removed: the trees themselves are listed.
    """
    try:
        with Index.open(settings.index, settings=settings.search) as index:
            status = index.status()
    except NotFoundError:
        return None
    if not (status.trees or settings.trees or status.damaged or status.rebuild):
        return None
    missing = {f"{name}:": str(tree.folder) for name, tree in status.trees.items() if not tree.folder.exists()}
    return msgspec.structs.replace(
        status,
        damaged=status.damaged and f"{status.damaged}{index_flag(settings)}",  # it ends with a command
        outdated=tuple(each for each in status.outdated if not each.startswith(tuple(missing))),
        failed=tuple(each for each in status.failed if each.path not in missing.values()),
    )


def _changed_trees(status: Status, settings: Settings) -> Iterator[tuple[str, str]]:
    """Trees that are missing, or that differ between the configuration and the index, with the reason."""
    updates = command_hint("index", settings)
    folders = {**{name: tree.folder for name, tree in status.trees.items()}, **settings.folders}
    for name, folder in folders.items():
        if not folder.exists():
            yield name, missing_tree(name, folder, settings)
    for name, tree in settings.trees.items():
        path, known = display_path(tree.path), status.trees.get(name)
        if known is None and tree.path.exists():
            if status.trees or not (status.damaged or status.rebuild):  # else the index cannot be read
                yield name, f"{path} is not in the index yet; {updates} reads it"
        elif known and os.path.realpath(known.folder) != os.path.realpath(tree.path):
            yield name, f"the index has {display_path(known.folder)} instead of {path}; {updates} reads it"
        elif known and known.language != tree.language:
            yield name, f"its language is {tree.language} now; {updates} rebuilds the index"
        elif known and (known.slugs, known.dialect) != _slugs_and_dialect(settings, name):
            yield name, f"its slugs or its dialect were changed; {updates} applies that"


def _slugs_and_dialect(settings: Settings, tree: str) -> tuple[str, str]:
    options = settings.tree_options(tree)
    return options.slugs, options.dialect or ""


def _record(status: Status, changed: dict[str, str], unnamed: list[str], folder: str) -> dict[str, Any]:
    failed = tuple(replace(each, path=storable(each.path)) for each in status.failed)
    record = msgspec.to_builtins(msgspec.structs.replace(status, trees={}, failed=failed))
    return {
        "index": storable(folder),
        "betterSlugs": record.pop("better_slugs"),
        "withoutVectors": record.pop("without_vectors"),
        **record,
        "trees": {name: _tree_record(tree) for name, tree in status.trees.items()},
        "changedTrees": {name: storable(reason) for name, reason in changed.items()},
        "unnamedTrees": unnamed,
    }


def _tree_record(tree: TreeInfo) -> dict[str, Any]:
    record = {**msgspec.structs.asdict(tree), "folder": storable(str(tree.folder))}
    return {re.sub("_([a-z])", lambda found: found[1].upper(), name): value for name, value in record.items()}


def _show(status: Status, changed: dict[str, str], unnamed: list[str], settings: Settings) -> None:
    paint = Paint(sys.stdout)
    segments = [count_of(status.segments, "segment")] if status.segments else []
    size = ", ".join([_bytes(status.size), *segments, f"version {status.version}"])
    echo(f"{paint.path(display_path(settings.index))}  {paint.faint(size)}")
    for name, tree in status.trees.items():
        counts = ((tree.files, "document"), (tree.nodes, "section"), (tree.tokens, "token"))
        links, resolved = tree.internal_links, tree.resolved_links
        share = [f"{resolved / links:.0%} of {count_of(links, 'internal link')} resolved"] if links else []
        numbers = paint.number(", ".join([*(count_of(*each) for each in counts), *share]))
        slugs = {DEFAULT_SLUGS: "", AUTO_SLUGS: f"  slugs: {tree.slug_rule} (auto)"}.get(
            tree.slugs, f"  slugs: {tree.slugs}"
        )
        about = f"{tree.language}  {display_path(tree.folder)}{slugs}"
        echo(f"  {paint.title(name)}  {numbers}  {paint.faint(about)}")
        if name in status.better_slugs:
            better, rebuilds = status.better_slugs[name], command_hint("index --rebuild", settings)
            echo(f"tree {name}: with the slugs {better}, more links lead to a section; {rebuilds} takes them")
    if status.vectors:
        without = f"; {count_of(status.without_vectors, 'section')} without" if status.without_vectors else ""
        echo(f"  vectors  {paint.faint(status.vectors + without)}")
    for name in unnamed:
        file = file_of_tree(next(iter(settings.trees)), settings)
        forgets = f"{command_hint(f'index --remove {name}', settings)} removes it"
        echo(visible(f"tree {name}: {file} does not name it; {forgets}"))
    for name, reason in changed.items():
        echo(paint.warning(f"outdated: tree {name}: {reason}"))
    if status.rebuild:
        echo(paint.warning(f"outdated: {status.rebuild}; the next update rebuilds it"))
    if status.damaged:
        echo(paint.warning(f"damaged: {status.damaged}"))
    _show_documents(status, settings, paint)


def _show_documents(status: Status, settings: Settings, paint: Paint) -> None:
    if status.outdated:
        documents = count_of(len(status.outdated), "document")
        echo(paint.warning(f"outdated: {documents}; {command_hint('index', settings)} reads them"))
        for each in status.outdated[:MOST_SHOWN]:
            echo(f"  {visible(each)}")
        if len(status.outdated) > MOST_SHOWN:
            echo(paint.faint(f"  … and {len(status.outdated) - MOST_SHOWN:,} more"))
    if status.failed:
        echo(paint.warning(f"cannot be read: {count_of(len(status.failed), 'file')}"))
        sys.stdout.flush()
        for failed in status.failed:
            show_finding(replace(failed, path=display_path(failed.path)))


def _bytes(size: int) -> str:
    units = {"GB": 10**9, "MB": 10**6, "KB": 10**3}
    return next((f"{size / each:.1f} {unit}" for unit, each in units.items() if size >= each), f"{size} bytes")
