"""``quire ls``: what is in the index: the trees, the documents of a tree, the headings of a document."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from quire.cli.arguments import not_empty
from quire.cli.commands import NOTHING_FOUND
from quire.cli.get import Target, document, existing, target
from quire.cli.index_options import index_option, no_update_option
from quire.cli.indexes import Opened, documents_in, opened
from quire.cli.output import Paint, count_of, echo, fitted, lines_of, write_json_array
from quire.cli.places import located, reachable
from quire.cli.refusals import say_empty
from quire.cli.shown import width
from quire.errors import NotFoundError
from quire.index.file_records import storable
from quire.search.hit import Hit

_WIDTH = 72
"""The widest that a name may be, in columns."""
_NO_TITLE = "(no title)"


class Row(NamedTuple):
    """One line of the list."""

    record: dict[str, Any]
    """What ``--json`` prints."""
    name: str
    """What it is called."""
    tokens: int
    more: str
    """What stands at the end of the line."""


@click.command()
@click.argument("what", required=False, metavar="[TREE|PATH|ID]", callback=not_empty)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, and nothing else, to standard output.")
@index_option
@no_update_option
def command(*, what: str | None, as_json: bool, index_folder: str | None, no_update: bool) -> int:
    """List what is in the index.

    Without an argument, the trees. Of a tree or a folder, the documents; of a document, its headings with tokens and
    lines; of a section, those below it. What is the name of a tree and of a folder is the tree; ./NAME is the folder.
    The exit code is 1 if nothing is found.
    """
    asked = target(what) if what is not None else None
    paths = [asked.file] if asked and asked.exists else []
    tree = (what or "").removesuffix(":")
    update = not no_update
    with opened(paths, tree_first=tree, index_folder=index_folder, update=update, begin=bool(paths)) as place:
        if asked is None:
            rows = _trees(place)
        elif tree in place.folders:
            rows = _all_of(place, tree)
        else:
            rows = [] if place.is_empty else _named(place, asked)
    if as_json:
        write_json_array(row.record for row in rows)
    else:
        _show(rows)
    return 0 if rows else NOTHING_FOUND


def _all_of(place: Opened, tree: str) -> list[Row]:
    """The documents of a tree; none, and why, where it has none or is gone."""
    if place.is_left_out(tree, tree):
        return []
    rows = _documents(place, tree, "")
    if not rows:
        say_empty(tree)
    return rows


def _named(place: Opened, asked: Target) -> list[Row]:
    """The documents of a folder, or the headings of a document or a section; none, and why, where there is no such."""
    if asked.is_folder:
        tree, part = located(asked.file, place.folders) or ("", "")
        rows = _documents(place, tree, part)
        if not rows:
            say_empty(reachable(asked.file))
        return rows
    own = document(place, asked.file) if asked.is_file else asked.file
    name = own + asked.rest
    try:
        top = place.index.get(name)
    except NotFoundError:
        below = _below(place, name)
        if below is not None:
            return below
        try:
            top = place.index.get(existing(place, name, own, asked.file))
        except NotFoundError as error:
            place.say(error)
            return []
    return [] if place.is_left_out(top.tree, name) else _headings(place, top)


def _below(place: Opened, name: str) -> list[Row] | None:
    """The documents in a folder of a tree, ``docs:guides``, or of any tree, ``guides``; None if there is none."""
    tree, mark, part = name.partition(":")
    folders = [(tree, part)] if mark and tree in place.folders else [(each, name) for each in place.folders]
    found = {tree: rows for tree, part in folders if (rows := _documents(place, tree, storable(part.rstrip("/"))))}
    kept = [row for tree, rows in found.items() if not place.is_left_out(tree, name) for row in rows]
    return kept if found else None


def _trees(place: Opened) -> list[Row]:
    rows = []
    for name, tree in place.index.trees().items():
        if name in place.gone:
            continue
        numbers = {"files": tree.files, "nodes": tree.nodes, "tokens": tree.tokens}
        record = {"name": name, "folder": storable(str(tree.folder)), "language": tree.language, **numbers}
        more = f"{count_of(tree.files, 'document')}, {count_of(tree.nodes, 'section')}  {reachable(tree.folder)}"
        rows.append(Row(record, name, tree.tokens, more))
    return rows


def _documents(place: Opened, tree: str, part: str) -> list[Row]:
    rows = []
    for each in documents_in(place.index, tree, part):
        file = place.path(each.tree, each.path)
        numbers = {"title": each.title, "nodes": each.nodes, "tokens": each.tokens}
        rows.append(
            Row({"id": each.id, "path": each.path, "file": storable(file), **numbers}, file, each.tokens, each.title)
        )
    return rows


def _headings(place: Opened, top: Hit) -> list[Row]:
    """The headings as `quire outline` counts them: to a node belong the headings without text behind it as well."""
    from quire.cli.outline import outline  # noqa: PLC0415  for headings only
    from quire.index.file_records import TOKENIZER  # noqa: PLC0415
    from quire.pipeline import parse  # noqa: PLC0415
    from quire.size import resolve  # noqa: PLC0415

    nodes = place.index.outline(f"{top.tree}:{top.path}")
    document = parse("".join(node.text for node in nodes), path=top.path)
    counted = [row for row in outline(document, resolve(None, TOKENIZER)) if row.section.is_node]
    first = next(node for node in nodes if node.id == top.id)
    rows = []
    for node, row in list(zip(nodes, counted, strict=True))[first.position : first.last + 1]:
        record = {
            "id": node.id,
            "title": node.title,
            "depth": node.depth,
            "slug": node.slug,
            "tokens": row.total,
            "ownTokens": row.own,
            "startLine": row.start_line,
            "endLine": row.end_line,
        }
        level = len(node.ancestors) - len(first.ancestors)
        title = place.path(node.tree, node.path) if node.depth == 0 else node.title or _NO_TITLE
        more = lines_of(row.start_line, row.end_line) + (f"  #{node.slug}" if node.slug else "")
        rows.append(Row(record, "  " * level + title, row.total, more))
    return rows


def _show(rows: Sequence[Row]) -> None:
    paint = Paint(sys.stdout)
    names = [fitted(row.name, _WIDTH) for row in rows]
    room = min(max(map(width, names), default=0), _WIDTH)
    digits = max((len(f"{row.tokens:,}") for row in rows), default=0)
    for row, name in zip(rows, names, strict=True):
        count = f"{paint.number(f'{row.tokens:>{digits},}')} {paint.faint('token ' if row.tokens == 1 else 'tokens')}"
        more = f"  {paint.faint(fitted(row.more, _WIDTH))}" if row.more else ""
        echo(f"{paint.place(name)}{' ' * (room - width(name))}  {count}{more}")
