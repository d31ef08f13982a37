"""``quire similar``: find sections that are similar to one."""

from __future__ import annotations

import sys

import click

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.get import Target, node_name
from quire.cli.hit_output import Printer, hit_record
from quire.cli.open_index import open_index
from quire.cli.output import note, write_json_array
from quire.cli.shared_options import index_option, json_option, no_update_option
from quire.errors import NotFoundError


@click.command()
@click.argument("target", metavar="ID|PATH#SLUG|FILE")
@click.option("-n", "--limit", type=click.IntRange(1), default=10, metavar="N", help="The most results. [default: 10]")
@click.option("--max-tokens", type=click.IntRange(0), metavar="N", help="The most tokens of all results; 0: no limit.")
@click.option("--list", "as_list", is_flag=True, help="One line per result: path, breadcrumb, tokens, score.")
@json_option
@index_option
@no_update_option
def command(
    *,
    target: str,
    limit: int,
    max_tokens: int | None,
    as_list: bool,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """Find sections that are similar to one, or to a whole file, in other documents.

    quire searches for the words that are frequent in it and rare elsewhere. A file outside all trees is read for this
    call only. The exit code is 1 if nothing is found.
    """
    wanted = Target.parse(target)
    paths = [wanted.file] if wanted.is_file else []
    with open_index(paths, index_folder=index_folder, update=not no_update, create=bool(paths)) as opened:
        try:
            name = node_name(opened, wanted)
        except NotFoundError as error:
            opened.show_not_found(error)
            return NOTHING_FOUND
        hits = opened.index.similar(name, limit=limit, max_tokens=max_tokens)
        files = [opened.file(hit.tree, hit.path) for hit in hits]
        opened.forget_new_trees()
    if as_json:
        write_json_array(hit_record(hit, file) for hit, file in zip(hits, files, strict=True))
    else:
        Printer(sys.stdout, form="list" if as_list else "text").show(hits, files)
    if not hits:
        note("nothing found")
    return 0 if hits else NOTHING_FOUND
