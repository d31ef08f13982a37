"""``quire index``: bring the index up to date and show the changes."""

import sys
from collections.abc import Mapping
from typing import Any

import click
import msgspec
from msgspec import structs

from quire.cli import output
from quire.cli.command_group import ERROR, NOTHING_FOUND
from quire.cli.command_options import EMBEDDING, JSON, PATHS, chosen_embedder, option, quire_command
from quire.cli.open_workspace import INDEX, command_hint, show_empty, show_left_out
from quire.embed_settings import DEFAULT_EMBEDDER
from quire.index.file_records import storable
from quire.index_api import Update
from quire.vectors.vector_files import current_folder, remove_vectors
from quire.workspace import Workspace, display_path
from quire.workspace.git_trees import fetch_trees

_ALL = "*"


@quire_command("quire index docs", "quire index docs --rebuild --json")
def command(
    *,
    paths: tuple[str, ...] = PATHS,
    rebuild: bool = option("Read every file again, changed or not."),
    fetch: str | None = option(
        "Fetch the trees of git repositories anew first.", is_flag=False, flag_value=_ALL, metavar="[TREE]"
    ),
    remove: tuple[str, ...] = option("Remove a tree from the index. Repeatable.", metavar="TREE"),
    vectors: bool = option("Embed sections for search by meaning."),
    embedding: Mapping[str, Any] = EMBEDDING,
    no_vectors: bool = option("Remove the vectors."),
    as_json: bool = JSON,
    index_folder: str | None = INDEX,
) -> int:
    """Bring the index up to date.

    `quire search` does this by itself; this command does it beforehand. PATH is a folder or a file; by default quire
    updates all trees of quire.toml, else the index of the current folder. With --vectors or a model, sections get
    vectors for `quire search --mode hybrid`, and later updates keep them in step. The model is wordllama unless another
    one is chosen. The exit code is 1 if a file could not be read, or if there are no documents, and 2 if a tree could
    not be fetched.
    """
    vectors = vectors or bool(embedding)
    if remove and (paths or rebuild or vectors):
        raise click.UsageError("--remove only removes trees; leave out PATH, --rebuild and --vectors")
    if vectors and no_vectors:
        raise click.UsageError("--vectors and --no-vectors exclude each other; choose one")
    with Workspace.open(paths, trees=remove, index=index_folder, on_message=output.message) as workspace:
        if remove:
            return _remove(workspace, tuple(dict.fromkeys(remove)), as_json=as_json)
        is_fetched = _fetch(workspace, fetch)
        with output.Progress() as progress:
            done = workspace.update(rebuild=rebuild, on_progress=progress.step)
        embedded = None
        if no_vectors:
            remove_vectors(workspace.index_folder)
        elif not workspace.is_empty and ((has_vectors := current_folder(workspace.index_folder)) or vectors):
            chosen = chosen_embedder(embedding, workspace.settings.embed) if vectors else None
            with output.Progress() as progress:
                embedder = chosen or (None if has_vectors else DEFAULT_EMBEDDER)
                embedded = workspace.index.embed(embedder, on_progress=progress.step)
        if workspace.is_empty and not done.failed:
            show_empty(workspace, paths)
        if as_json:
            output.write_json(_record(done) | ({"embedded": embedded.embedded} if embedded else {}))
        else:
            _show(done, workspace)
            if embedded and embedded.documents:
                output.echo(f"{output.count_of(embedded.embedded, 'text')} embedded")
        is_fine = not done.failed and not workspace.is_empty
        return ERROR if not is_fetched else 0 if is_fine else NOTHING_FOUND


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
    if output.Choices.is_verbose:
        show_left_out(workspace)
    failed = [structs.replace(finding, path=display_path(finding.path)) for finding in done.failed]
    output.show_findings(failed, hint=f"{command_hint('status', workspace)} lists all")
