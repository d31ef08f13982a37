"""``quire watch``: keep the index up to date while documents change."""

from __future__ import annotations

import sys
import time

import click

from quire.cli.open_index import folders_of, settings_for, update_index
from quire.cli.output import echo, message, show_findings
from quire.cli.shared_options import index_option, paths_argument
from quire.cli.tree_paths import select
from quire.errors import BusyError, QuireError, StoreError
from quire.indexed import Index, Update


@click.command()
@paths_argument
@click.option(
    "--interval", type=click.FloatRange(0.05, 3600), default=1.0, metavar="SECONDS", help="How often. [default: 1]"
)
@index_option
def command(*, paths: tuple[str, ...], interval: float, index_folder: str | None) -> int:
    """Keep the index up to date.

    Looks for changes at an interval and prints a line for each update, until it is interrupted. `quire search` and
    `quire mcp` look for changes themselves; watching makes their first answer after many changes faster.
    """
    settings = settings_for(index_folder)
    with Index.open(settings.index, settings=settings.search) as index:
        known = folders_of(index, settings, repair=True)
        selection = select(paths, (), settings, known)
        while True:
            try:
                _, done = update_index(index, selection, settings, known)
                known = folders_of(index, settings)
                _show(done)
            except (BusyError, StoreError) as error:
                message(f"{error}; trying again")
            except QuireError as error:  # a folder is missing; it may come back
                message(str(error))
            time.sleep(interval)


def _show(done: Update) -> None:
    if done.added or done.changed or done.removed:
        echo(
            f"{done.added:,} added, {done.changed:,} changed, {done.removed:,} removed, {done.nodes:,} sections in all"
        )
        sys.stdout.flush()
        show_findings(done.failed)
