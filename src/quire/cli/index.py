"""``quire index``: bring the index up to date and show the changes."""

import sys
from typing import Any

import click
import msgspec
from msgspec import structs

from quire.cli import output
from quire.cli.command_group import ERROR, NOTHING_FOUND
from quire.cli.command_options import JSON, PATHS, chosen_embedder, not_empty, option, quire_command
from quire.cli.open_workspace import INDEX, command_hint, show_empty
from quire.errors import QuireError
from quire.index.file_records import storable
from quire.search.index_api import Update
from quire.search.vector_files import current_folder, remove_vectors
from quire.stores.node_rows import Copied, copy_nodes
from quire.stores.store import parse_target, shown
from quire.workspace.git_trees import fetch_trees
from quire.workspace.selection import display_path
from quire.workspace.settings import agree, has_agreed
from quire.workspace.workspace import Workspace

_ALL = "*"


def _checked_target(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse what is no store before anything is indexed."""
    if value:
        parse_target(value)
    return not_empty(ctx, param, value)  # type: ignore[no-any-return]


@quire_command("quire index docs", "quire index docs --rebuild --json")
def command(
    *,
    paths: tuple[str, ...] = PATHS,
    rebuild: bool = option("Read every file again, changed or not."),
    fetch: str | None = option(
        "Fetch the trees of git repositories anew first.", is_flag=False, flag_value=_ALL, metavar="[TREE]"
    ),
    yes: bool = option("Fetch the repositories that a project's quire.toml names without a question."),
    remove: tuple[str, ...] = option("Remove a tree from the index. Repeatable.", metavar="TREE"),
    vectors: bool = option("Embed sections for search by meaning."),
    no_vectors: bool = option("Remove the vectors."),
    store: str | None = option(
        "Copy all sections to a store, lancedb:DIR or lancedb:URL, to search there.",
        "--to",
        metavar="STORE",
        callback=_checked_target,
    ),
    as_json: bool = JSON,
    index_folder: str | None = INDEX,
) -> int:
    """Bring the index up to date.

    `quire search` does this by itself; this command does it beforehand. PATH is a folder or a file; by default quire
    updates all trees of quire.toml, else the index of the current folder. With --vectors, sections get vectors for
    `quire search --mode hybrid`, and later updates keep them in step. The model is that of [embed] in your own
    quire.toml or of QUIRE_EMBED_ variables, else that of the vectors there are. Before the first fetch of repositories
    that a project's quire.toml names, quire shows their addresses and asks. With --to, sections that
    changed are copied to a store, for `quire search --index STORE` on any machine. The exit code is 1 if a file could
    not be read, or if there are no documents, and 2 if a tree could not be fetched.
    """
    if remove and (paths or rebuild or vectors):
        raise click.UsageError("--remove only removes trees; leave out PATH, --rebuild and --vectors")
    if vectors and no_vectors:
        raise click.UsageError("--vectors and --no-vectors exclude each other; choose one")
    with Workspace.open(paths, trees=remove, index=index_folder, on_message=output.message) as workspace:
        if remove:
            return _remove(workspace, tuple(dict.fromkeys(remove)), as_json=as_json)
        _ask(workspace, fetch, is_agreed=yes)
        is_fetched = _fetch(workspace, fetch)
        with output.Progress() as progress:
            done = workspace.update(rebuild=rebuild, on_progress=progress.step)
        embedded = None
        if no_vectors:
            remove_vectors(workspace.index_folder)
        elif not workspace.is_empty and (vectors or current_folder(workspace.index_folder)):
            chosen = chosen_embedder({}, workspace.settings.embed) if vectors else None
            with output.Progress() as progress:
                embedded = workspace.index.embed(chosen, on_progress=progress.step)
        copied = _copy(workspace, store) if store else None
        if workspace.is_empty and not done.failed:
            show_empty(workspace, paths)
        if as_json:
            record = _record(done) | ({"embedded": embedded.embedded} if embedded else {})
            output.write_json(record | ({"copied": msgspec.to_builtins(copied)} if copied else {}))
        else:
            _show(done, workspace)
            if embedded and embedded.documents:
                output.echo(f"{output.count_of(embedded.embedded, 'text')} embedded")
            if copied and not output.Choices.is_quiet:
                changes = f"{copied.written:,} copied, {copied.removed:,} removed, {copied.unchanged:,} unchanged"
                output.echo(output.visible(f"{shown(store or '')}: {changes}"))
        is_fine = not done.failed and not workspace.is_empty
        return ERROR if not is_fetched else 0 if is_fine else NOTHING_FOUND


def _ask(workspace: Workspace, wanted: str | None, *, is_agreed: bool) -> None:
    """Ask before the first fetch of repositories that a project's file names, and remember the answer."""
    settings, file = workspace.settings, workspace.settings.file
    if not (file and settings.is_foreign and wanted):
        return
    trees = [tree for name, tree in workspace.trees.items() if name not in settings.always and wanted in (_ALL, name)]
    addresses = [tree.git for tree in trees if tree.git and not has_agreed(file, tree.git)]
    if addresses and not is_agreed:
        names = f"{display_path(file)} names repositories: {', '.join(dict.fromkeys(addresses))}"
        if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
            raise QuireError(f"{names}; nobody has agreed to fetch them yet", "check them, and add --yes")
        if not click.confirm(f"{output.visible(names)}\nFetch them?", err=True):
            raise QuireError("nothing was fetched", "without --fetch, quire uses the other trees")
    for address in addresses:
        agree(file, address)


def _fetch(workspace: Workspace, wanted: str | None) -> bool:
    """Fetch all trees of repositories, or the ``wanted`` one; None for none. Whether all were fetched."""
    is_fetched = True
    for name, commit in fetch_trees(workspace.trees, [wanted] * (wanted != _ALL)) if wanted else ():
        if isinstance(commit, str):
            output.note(f"{name}: fetched {workspace.trees[name].git} at {commit[:12]}")
        else:
            output.message(f"{name}: {commit}")
            is_fetched = False
    return is_fetched


def _copy(workspace: Workspace, target: str) -> Copied:
    with output.Progress() as progress:
        return copy_nodes(workspace.index, target, progress.step)


def _remove(workspace: Workspace, names: tuple[str, ...], *, as_json: bool) -> int:
    for name in names:
        workspace.index.remove(name)
    if as_json:
        output.write_json({"removedTrees": names})
    elif not output.Choices.is_quiet:
        output.echo(f"{', '.join(names)}: removed")
    return 0


def _record(done: Update) -> dict[str, Any]:
    failed = tuple(structs.replace(finding, path=storable(finding.path)) for finding in done.failed)
    record = msgspec.to_builtins(structs.replace(done, failed=failed))
    del record["seconds"]
    return dict(record)


def _show(done: Update, workspace: Workspace) -> None:
    path = output.Paint(sys.stdout).path(display_path(workspace.index_folder))
    changes = f"{done.added:,} added, {done.changed:,} changed, {done.removed:,} removed"
    unchanged = f"{done.unchanged + done.touched:,} unchanged"
    if not output.Choices.is_quiet:
        output.echo(f"{path}: {changes}, {unchanged}, {output.count_of(done.nodes, 'section')} in all")
    if output.Choices.is_verbose and (left_out := workspace.left_out()):
        output.echo(left_out)
    failed = [structs.replace(finding, path=display_path(finding.path)) for finding in done.failed]
    output.show_findings(failed, hint=f"{command_hint('status', workspace)} lists all")
