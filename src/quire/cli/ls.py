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
from quire.index.file_records import TOKENIZER, storable
from quire.search.hit import Hit


class Row(NamedTuple):
    """A line of the list: what ``--json`` prints, with ``tokens``, and what the table shows."""

    record: dict[str, Any]
    name: str
    details: str
    file: str = ""


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
    rows: list[Row] = []
    with open_index(
        paths, preferred_tree=tree, index_folder=index_folder, update=not no_update, create=bool(paths)
    ) as opened:
        if target is None:
            rows = _trees(opened)
        elif opened.selection:
            rows = _rows(opened, target)
    if as_json:
        write_json_array(row.record for row in rows)
    else:
        style = Paint(sys.stdout).path
        print_token_table([TokenRow(row.name, row.record["tokens"], row.details, style, file=row.file) for row in rows])
    return 0 if rows else NOTHING_FOUND


def _rows(opened: OpenIndex, target: Target) -> list[Row]:
    """The documents of a tree or folder, or the headings of a document or section; none after a message."""
    name = (target.file + target.rest).removesuffix(":")
    tree, _, path = name.partition(":")
    if tree in opened.folders:  # TREE or TREE:FOLDER
        folders = [(tree, path)]
    elif target.is_folder:
        name, folders = display_path(target.file), [locate(target.file, opened.folders) or ("", "")]
    else:
        folders = [(each, name) for each in opened.folders]
    found = {tree: _documents(opened, tree, storable(path.rstrip("/"))) for tree, path in folders}
    if (tree in opened.folders or not target.is_file) and any(found.values()):
        return [row for tree, rows in found.items() if rows and not opened.is_missing(tree, name) for row in rows]
    if target.is_folder or name in opened.folders:
        show_empty(name)
        return []
    try:
        top = opened.index.get(node_name(opened, target))
    except NotFoundError as error:
        opened.show_not_found(error)
        return []
    return [] if opened.is_missing(top.tree, name) else _headings(opened, top)


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


def _documents(opened: OpenIndex, tree: str, folder: str) -> list[Row]:
    rows = []
    for each in documents_in(opened.index, tree, folder):
        if each.path == folder:
            continue  # a document and not a folder
        file = opened.file(each.tree, each.path)
        names = {"id": each.id, "path": each.path, "file": storable(file), "title": each.title}
        rows.append(Row({**names, "nodes": each.nodes, "tokens": each.tokens}, file, each.title, file))
    return rows


def _headings(opened: OpenIndex, top: Hit) -> list[Row]:
    """The headings with the numbers of ``quire outline``, which counts headings without text by themselves."""
    from quire.cli.outline import node_rows  # noqa: PLC0415  loads the parser and the tokenizers

    nodes = opened.index.outline(f"{top.tree}:{top.path}")
    counted = node_rows("".join(node.text for node in nodes), top.path, TOKENIZER)
    first = next(node for node in nodes if node.id == top.id)
    rows = []
    for node, row in list(zip(nodes, counted, strict=True))[first.position : first.last + 1]:
        own = {"id": node.id, "title": node.title, "depth": node.depth, "slug": node.slug}
        lines = {"startLine": row.start_line, "endLine": row.end_line}
        indent = "  " * (len(node.ancestors) - len(first.ancestors))
        file = opened.file(node.tree, node.path) if node.depth == 0 else ""
        title = file or node.title or "(no title)"
        details = lines_of(row.start_line, row.end_line) + (f"  #{node.slug}" if node.slug else "")
        rows.append(Row({**own, "tokens": row.total, "ownTokens": row.own, **lines}, indent + title, details, file))
    return rows
