"""``quire index``: bring the index up to date and show the changes."""

import sys
from typing import Any

import msgspec
from msgspec import structs

from quire.cli import output
from quire.cli.command_options import JSON, PATHS, chosen_embedder, option, quire_command, refuse
from quire.cli.cut_options import Engine
from quire.cli.exit_codes import ERROR, NOTHING_FOUND
from quire.cli.input_documents import Summary
from quire.cli.open_workspace import INDEX, command_hint, show_empty
from quire.errors import QuireError
from quire.index.file_records import storable
from quire.model.trees import tree_name
from quire.model.validation import unknown_name
from quire.run.parts import is_shard, is_url, source_name
from quire.search.index_api import Update
from quire.search.vector_files import current_folder, remove_vectors
from quire.stores import Copied, copy_documents, copy_nodes
from quire.stores.store import parse_target, shown
from quire.workspace import git_trees
from quire.workspace.selected_trees import display_path
from quire.workspace.settings import agree, has_agreed
from quire.workspace.workspace import Workspace

_ALL = "*"


@quire_command("quire index docs", "quire index docs --rebuild --json")
def command(
    *,
    paths: tuple[str, ...] = PATHS,
    rebuild: bool = option("Read every file again, changed or not."),
    fetch: str | None = option(
        "Fetch the trees of git repositories anew first.", "[TREE]", is_flag=False, flag_value=_ALL
    ),
    yes: bool = option("Fetch the repositories that a project's quire.toml names without a question."),
    vectors: bool = option("Embed sections for search by meaning."),
    no_vectors: bool = option("Remove the vectors."),
    store: str | None = option(
        "Copy sections that changed to a store, lancedb:DIR or lancedb:URL, to search there.", "--to", "STORE"
    ),
    engine: Engine | None = option(
        "Read documents on all cores, or with Ray, and write to the store without an index."
    ),
    jobs: int | None = option("Number of processes, with --engine.", "-j", least=1),
    as_json: bool = JSON,
    index_folder: str | None = INDEX,
) -> int:
    """`quire search` does this by itself; this command does it beforehand. PATH is a folder or a file; by default quire
    updates all trees of quire.toml, else the index of the current folder. With --vectors, sections get vectors for
    `quire search --mode hybrid`, and later updates keep them in step. The model is that of [embed] in your own
    quire.toml or of QUIRE_EMBED_ variables, else that of the vectors there are. Before the first fetch of repositories
    that a project's quire.toml names, quire shows their addresses and asks. With --to, sections that
    changed are copied to a store, for `quire search --index STORE` on any machine; without PATH, that is also done for
    the store of [index] in quire.toml. With --engine, workers read the documents and there is no index on this machine;
    PATH may also be a URL (s3://bucket/docs) or shards: .parquet or .jsonl files with the columns path and text. The
    exit code is 1 if a file could not be read, or if there are no documents, and 2 if a tree could not be fetched, or
    with --engine if a document could not be read; its sections stay.
    """
    refuse(vectors and no_vectors, "--vectors and --no-vectors exclude each other; choose one")
    refuse(jobs and not engine, "--jobs needs --engine")
    if engine:
        of_index = rebuild or fetch or vectors or no_vectors or index_folder
        refuse(of_index, "--engine makes no index; name PATH and --to")
        return _copy(paths, store, engine, jobs, as_json=as_json)
    say = output.message
    with Workspace.open(paths, index=index_folder, from_store=False, on_message=say) as workspace:
        store = store or ("" if paths else workspace.settings.store)
        if store:
            parse_target(store)  # an error before anything is indexed
        is_fetched = not fetch or _fetch(workspace, fetch, is_agreed=yes)
        done = workspace.update(rebuild=rebuild, on_progress=output.Progress().step)
        embedded = None
        if no_vectors:
            remove_vectors(workspace.index_folder)
        elif not workspace.is_empty and (vectors or current_folder(workspace.index_folder)):
            chosen = chosen_embedder({}, workspace.settings.embed) if vectors else None
            embedded = workspace.index.embed(chosen, on_progress=output.Progress().step)
        copied = copy_nodes(workspace.index, store, output.Progress().step) if store else None
        if workspace.is_empty and not done.failed:
            show_empty(workspace, paths)
        more = {"embedded": embedded and embedded.embedded, "copied": copied and msgspec.to_builtins(copied)}
        if as_json:
            failed = tuple(structs.replace(finding, path=storable(finding.path)) for finding in done.failed)
            record = msgspec.to_builtins(structs.replace(done, failed=failed))
            del record["seconds"]
            output.write_json(record | {name: value for name, value in more.items() if value is not None})
        else:
            _show(done, workspace)
            if embedded and embedded.documents:
                output.echo(f"{output.count_of(embedded.embedded, 'text')} embedded")
            if copied:
                _show_copied(copied, store or "")
        is_fine = not done.failed and not workspace.is_empty
        return ERROR if not is_fetched else 0 if is_fine else NOTHING_FOUND


def _copy(paths: tuple[str, ...], store: str | None, engine: str, jobs: int | None, *, as_json: bool) -> int:
    """Write sections to a store without an index; return the exit code."""
    remote = [path for path in paths if is_url(path) or is_shard(path)]
    folders, options = dict[str, Any](), dict[str, Any]()
    local = [path for path in paths if path not in remote]
    if local or not paths:
        with Workspace.open(local, from_store=False, on_message=output.message) as workspace:
            folders, options = workspace.update_options()
            store = store or ("" if paths else workspace.settings.store)
    refuse(not store, "--engine writes to a store; name it with --to")
    for path in remote:
        folders[tree_name(source_name(path), folders)] = path
    trees, summary = {name: str(folder) for name, folder in folders.items()}, Summary()
    run: dict[str, Any] = {"engine": engine, "workers": jobs, "on_progress": output.Progress().step}
    copied = copy_documents(trees, store or "", on_problem=summary.skip, **run, **options)
    summary.show(only_errors=True)
    if as_json:
        failed = [{"path": skipped.path, "reason": skipped.reason} for skipped in summary.skipped]
        output.write_json({"copied": msgspec.to_builtins(copied), "failed": failed})
    else:
        _show_copied(copied, store or "")
    return ERROR if summary.has_errors else 0


def _show_copied(copied: Copied, store: str) -> None:
    if not output.Choices.is_quiet:
        changes = f"{copied.written:,} copied, {copied.removed:,} removed, {copied.unchanged:,} unchanged"
        output.echo(output.visible(f"{shown(store)}: {changes}"))


def _fetch(workspace: Workspace, wanted: str, *, is_agreed: bool) -> bool:
    """Fetch all trees of repositories, or the ``wanted`` one, and ask the first time; whether all were fetched."""
    settings, file = workspace.settings, workspace.settings.file
    trees = [tree for name, tree in workspace.trees.items() if name not in settings.always and wanted in (_ALL, name)]
    if file and settings.is_foreign:
        addresses = [tree.git for tree in trees if tree.git and not has_agreed(file, tree.git)]
        if addresses and not is_agreed:
            names = f"{display_path(file)} names repositories: {', '.join(dict.fromkeys(addresses))}"
            if not output.can_ask():
                raise QuireError(f"{names}; nobody has agreed to fetch them yet", "check them, and add --yes")
            if not output.confirm(f"{names}\nFetch them?"):
                raise QuireError("nothing was fetched", "without --fetch, quire uses the other trees")
        for address in addresses:
            agree(file, address)
    repositories = {name: tree for name, tree in workspace.trees.items() if tree.git}
    if wanted not in (_ALL, *repositories):
        raise unknown_name(wanted, repositories, what="git tree")
    failed = 0
    for name in repositories if wanted == _ALL else [wanted]:
        try:
            output.note(f"{name}: fetched {repositories[name].git} at {git_trees.fetch(repositories[name])[:12]}")
        except QuireError as error:
            output.message(f"{name}: {error}")
            failed += 1
    return not failed


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
