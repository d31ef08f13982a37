"""``quire ls``: list the trees of the index, the documents of a tree, or the headings of a document."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import click

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.get import Target, node_name
from quire.cli.open_index import OpenIndex, documents_in, open_index, show_empty
from quire.cli.output import Paint, TokenRow, count_of, lines_of, print_token_table, write_json_array
from quire.cli.shared_options import index_option, json_option, no_update_option, not_empty
from quire.cli.tree_paths import display_path, exists, locate
from quire.errors import NotFoundError
from quire.index.paths import storable
from quire.search.records import Hit


class Row(NamedTuple):
    """A line of the list."""

    record: dict[str, Any]
    """What ``--json`` prints; with ``tokens``."""
    name: str
    details: str


@click.command()
@click.argument("what", required=False, metavar="[TREE|PATH|ID]", callback=not_empty)
@json_option
@index_option
@no_update_option
def command(*, what: str | None, as_json: bool, index_folder: str | None, no_update: bool) -> int:
    """List trees, documents or headings in the index.

    Without an argument, the trees. For a tree or a folder, its documents; for a document, its headings with tokens and
    lines; for a section, those below it. A name of both a tree and a folder means the tree; ./NAME is the folder. The
    exit code is 1 if nothing is found.
    """
    target = Target.parse(what) if what is not None else None
    paths = [target.file] if target and exists(target.file) else []
    tree = (what or "").removesuffix(":")
    with open_index(
        paths, preferred_tree=tree, index_folder=index_folder, update=not no_update, create=bool(paths)
    ) as opened:
        if target is None:
            rows = _trees(opened)
        elif tree in opened.folders:
            rows = [] if opened.is_missing(tree, tree) else _documents_or_note(opened, tree, "", tree)
        else:
            rows = [] if opened.is_empty else _rows_of(opened, target)
    if as_json:
        write_json_array(row.record for row in rows)
    else:
        style = Paint(sys.stdout).path
        print_token_table([TokenRow(row.name, row.record["tokens"], row.details, style) for row in rows])
    return 0 if rows else NOTHING_FOUND


def _rows_of(opened: OpenIndex, target: Target) -> list[Row]:
    """The documents of a folder, or the headings of a document or section; none after a message."""
    if target.is_folder:
        tree, path = locate(target.file, opened.folders) or ("", "")
        return _documents_or_note(opened, tree, path, display_path(target.file))
    name = target.file + target.rest
    try:
        if not target.is_file and (rows := _folder_in_tree(opened, name)) is not None:
            return rows
        top = opened.index.get(node_name(opened, target))
    except NotFoundError as error:
        opened.show_not_found(error)
        return []
    return [] if opened.is_missing(top.tree, name) else _headings(opened, top)


def _folder_in_tree(opened: OpenIndex, name: str) -> list[Row] | None:
    """The documents in a folder of a tree, ``docs:guides``, or of any tree, ``guides``; None if it is no folder."""
    tree, colon, path = name.partition(":")
    folders = [(tree, path)] if colon and tree in opened.folders else [(each, name) for each in opened.folders]
    rows = []
    is_folder = False
    for tree, folder in folders:
        path = storable(folder.rstrip("/"))
        found = [row for row in _documents(opened, tree, path) if row.record["path"] != path]
        is_folder = is_folder or bool(found)
        rows += found if found and not opened.is_missing(tree, name) else []
    return rows if is_folder else None


def _trees(opened: OpenIndex) -> list[Row]:
    rows = []
    for name, tree in opened.index.trees().items():
        if name in opened.missing:
            continue
        numbers = {"files": tree.files, "nodes": tree.nodes, "tokens": tree.tokens}
        record = {"name": name, "folder": storable(str(tree.folder)), "language": tree.language, **numbers}
        counts = f"{count_of(tree.files, 'document')}, {count_of(tree.nodes, 'section')}"
        rows.append(Row(record, name, f"{counts}  {display_path(tree.folder)}"))
    return rows


def _documents(opened: OpenIndex, tree: str, path: str) -> list[Row]:
    rows = []
    for each in documents_in(opened.index, tree, path):
        file = opened.file(each.tree, each.path)
        names = {"id": each.id, "path": each.path, "file": storable(file), "title": each.title}
        rows.append(Row({**names, "nodes": each.nodes, "tokens": each.tokens}, file, each.title))
    return rows


def _documents_or_note(opened: OpenIndex, tree: str, path: str, name: str) -> list[Row]:
    rows = _documents(opened, tree, path)
    if not rows:
        show_empty(name)
    return rows


def _headings(opened: OpenIndex, top: Hit) -> list[Row]:
    nodes = opened.index.outline(f"{top.tree}:{top.path}")
    first = next(node for node in nodes if node.id == top.id)
    rows = []
    for node in nodes[first.position : first.last + 1]:
        record = {
            "id": node.id,
            "title": node.title,
            "depth": node.depth,
            "slug": node.slug,
            "tokens": node.full_tokens,
            "ownTokens": node.tokens,
            "startLine": node.line,
            "endLine": node.full_last_line,
        }
        indent = "  " * (len(node.ancestors) - len(first.ancestors))
        title = opened.file(node.tree, node.path) if node.depth == 0 else node.title or "(no title)"
        details = lines_of(node.line, node.full_last_line) + (f"  #{node.slug}" if node.slug else "")
        rows.append(Row(record, indent + title, details))
    return rows
