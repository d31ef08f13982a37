"""``quire status``: how the index is: its trees, its size, what is outdated, damaged or cannot be read."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import Any

import click

from quire.cli.commands import NOTHING_FOUND
from quire.cli.indexes import index_option, no_index, settings_for
from quire.cli.output import MOST_SHOWN, Paint, count_of, echo, show_findings, write_json
from quire.cli.places import reachable
from quire.cli.refusals import advised
from quire.errors import NotFoundError
from quire.indexed import Index, Status


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, to standard output.")
@index_option
def command(*, as_json: bool, index_folder: str | None) -> int:
    """Show how the index is.

    Checks every byte of it and looks at every tree, but changes nothing. The exit code is 1 if something is outdated,
    damaged or cannot be read.
    """
    settings = settings_for(index_folder)
    with Index.open(settings.index, settings=settings.search) as index:
        try:
            status = index.status()
        except NotFoundError:
            raise no_index(settings) from None
    if as_json:
        write_json(_record(status, str(settings.index)))
    else:
        _show(status, reachable(settings.index))
    return NOTHING_FOUND if status.outdated or status.damaged or status.failed else 0


def _record(status: Status, folder: str) -> dict[str, Any]:
    trees = {name: {**asdict(tree), "folder": str(tree.folder)} for name, tree in status.trees.items()}
    failed = tuple(map(advised, status.failed))
    return {"index": folder, **asdict(replace(status, trees={}, failed=failed)), "trees": trees}


def _show(status: Status, folder: str) -> None:
    paint = Paint(sys.stdout)
    size = f"{_bytes(status.size)}, {count_of(status.segments, 'segment')}, version {status.version}"
    echo(f"{paint.place(folder)}  {paint.faint(size)}")
    for name, tree in status.trees.items():
        counted = ((tree.files, "document"), (tree.nodes, "section"), (tree.tokens, "token"))
        numbers = ", ".join(count_of(*each) for each in counted)
        place = paint.faint(f"{tree.language}  {reachable(tree.folder)}")
        echo(f"  {paint.title(name)}  {paint.number(numbers)}  {place}")
    if status.damaged:
        echo(paint.warning(f"damaged: {status.damaged}"))
    if status.outdated:
        echo(paint.warning(f"outdated: {count_of(len(status.outdated), 'document')}; `quire index` reads them"))
        for each in status.outdated[:MOST_SHOWN]:
            echo(f"  {paint.plain(each)}")
        if len(status.outdated) > MOST_SHOWN:
            echo(paint.faint(f"  … and {len(status.outdated) - MOST_SHOWN:,} more"))
    if status.failed:
        echo(paint.warning(f"cannot be read: {count_of(len(status.failed), 'file')}"))
        sys.stdout.flush()
        show_findings([replace(advised(each), path=reachable(each.path)) for each in status.failed])
    if not (status.damaged or status.outdated or status.failed):
        echo("up to date")


def _bytes(size: int) -> str:
    units = {"GB": 10**9, "MB": 10**6, "KB": 10**3}
    return next((f"{size / each:.1f} {unit}" for unit, each in units.items() if size >= each), f"{size} bytes")
