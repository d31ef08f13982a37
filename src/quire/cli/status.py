"""``quire status``: the state of the index: its trees and size, and what is outdated, damaged or unreadable."""

import os
import sys
from collections.abc import Iterator

import msgspec
from msgspec import structs

from quire.cli import output
from quire.cli.command_options import JSON, PATHS, quire_command
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.open_workspace import INDEX, command_hint, index_flag
from quire.cli.output import MOST_SHOWN, Paint, count_of, echo
from quire.errors import NotFoundError
from quire.index.file_records import VERSION, storable
from quire.model.options import AUTO_SLUGS, DEFAULT_SLUGS
from quire.search.index_api import Status, TreeInfo
from quire.workspace.selected_trees import display_path, missing_tree, path_text
from quire.workspace.workspace import Workspace


@quire_command("quire status docs", "quire status docs --json")
def command(*, paths: tuple[str, ...] = PATHS, as_json: bool = JSON, index_folder: str | None = INDEX) -> int:
    """Says where the index is, checks every byte of it and looks at every tree. Without PATH, it is the index of the
    trees of quire.toml, else of the current folder. Read-only; `quire index` updates the index. The exit code is 1 if
    something is outdated, damaged, missing or cannot be read.
    """
    with Workspace.open(paths, index=index_folder, on_message=output.message) as workspace:
        try:
            status = _status(workspace)
        except NotFoundError:
            makes = f"{command_hint('index', workspace)} makes one"
            output.message(f"{display_path(workspace.index_folder)}: there is no index yet; {makes}")
            if not as_json:
                return NOTHING_FOUND
            status = Status(version=VERSION, size=0, rebuild="there is no index yet")
        changed = dict(_changed_trees(status, workspace))
        is_fine = not (status.damaged or status.rebuild or status.outdated or status.failed or changed)
        if as_json:
            failed = tuple(structs.replace(finding, path=storable(finding.path)) for finding in status.failed)
            folders = {name: storable(path_text(tree.folder)) for name, tree in status.trees.items()}
            trees = {name: structs.replace(tree, folder=folders[name]) for name, tree in status.trees.items()}
            record = msgspec.to_builtins(structs.replace(status, failed=failed, trees=trees))
            reasons = {name: storable(reason) for name, reason in changed.items()}
            output.write_json({"index": storable(path_text(workspace.index_folder)), **record, "changedTrees": reasons})
        else:
            _show(status, changed, workspace)
            if is_fine:
                echo("up to date")
    return 0 if is_fine else NOTHING_FOUND


def _status(workspace: Workspace) -> Status:
    """The state of the index; documents of missing trees do not count as removed, for the trees are listed."""
    status = workspace.index.status()
    missing = {f"{name}:": str(tree.folder) for name, tree in status.trees.items() if not tree.folder.exists()}
    return structs.replace(
        status,
        damaged=status.damaged and f"{status.damaged}{index_flag(workspace)}",  # it ends with a command
        outdated=tuple(name for name in status.outdated if not name.startswith(tuple(missing))),
        failed=tuple(finding for finding in status.failed if finding.path not in missing.values()),
    )


def _changed_trees(status: Status, workspace: Workspace) -> Iterator[tuple[str, str]]:
    updates = command_hint("index", workspace)
    for name, tree in workspace.trees.items():
        path, indexed = display_path(tree.folder), status.trees.get(name)
        options = workspace.settings.tree_options(name)
        if name in workspace.missing:
            yield name, missing_tree(name, tree, workspace.settings.file)
        elif indexed is None:
            if status.trees or not (status.damaged or status.rebuild):  # else the index cannot be read
                yield name, f"{path} is not in the index yet; {updates} reads it"
        elif os.path.realpath(indexed.folder) != os.path.realpath(tree.folder):
            yield name, f"the index has {display_path(indexed.folder)} instead of {path}; {updates} reads it"
        elif workspace.kind == "configured":
            new = (tree.language, options.slugs, options.dialect or "")
            if (indexed.language, indexed.slugs, indexed.dialect) != new:
                yield name, f"its language, slugs or dialect were changed; {updates} applies that"


def _show(status: Status, changed: dict[str, str], workspace: Workspace) -> None:
    paint = Paint(sys.stdout)
    segments = [count_of(status.segments, "segment")] if status.segments else []
    number = f"{status.size / 1e6:,.1f} MB" if status.size >= 1e6 else f"{status.size / 1000:,.1f} KB"
    size = ", ".join([number, *segments, f"version {status.version}"])
    echo(f"{paint.path(display_path(workspace.index_folder))}  {paint.faint(status.engine or size)}")
    for name, tree in status.trees.items():
        _show_tree(name, tree, paint)
    if left_out := workspace.left_out():
        echo(left_out)
    if status.vectors:
        without = f"; {count_of(status.without_vectors, 'section')} without" if status.without_vectors else ""
        echo(f"  vectors  {paint.faint(status.vectors + without)}")
    warnings = [f"outdated: tree {name}: {reason}" for name, reason in changed.items()]
    warnings += [f"outdated: {status.rebuild}; the next update rebuilds it"] if status.rebuild else []
    warnings += [f"damaged: {status.damaged}"] if status.damaged else []
    for warning in warnings:
        echo(paint.warning(warning))
    if documents := status.outdated:
        updates = command_hint("index", workspace)
        echo(paint.warning(f"outdated: {count_of(len(documents), 'document')}; {updates} reads them"))
        more = [paint.faint(f"… and {len(documents) - MOST_SHOWN:,} more")] if len(documents) > MOST_SHOWN else []
        for line in (*map(output.visible, documents[:MOST_SHOWN]), *more):
            echo(f"  {line}")
    if status.failed:
        echo(paint.warning(f"cannot be read: {count_of(len(status.failed), 'file')}"))
        for finding in status.failed:
            output.show_finding(structs.replace(finding, path=display_path(finding.path)))


def _show_tree(name: str, tree: TreeInfo, paint: Paint) -> None:
    so_far = f"{tree.files:,} of " if tree.files < tree.expected_files else ""
    counts = ((tree.expected_files, "document"), (tree.nodes, "section"), (tree.tokens, "token"))
    links, resolved = tree.internal_links, tree.resolved_links
    share = [f"{resolved / links:.0%} of {count_of(links, 'internal link')} resolved"] if links else []
    numbers = paint.number(so_far + ", ".join([*(count_of(*count) for count in counts), *share]))
    rules = {DEFAULT_SLUGS: "", AUTO_SLUGS: f"  slugs: {tree.slug_rule} (auto)"}
    slugs = rules.get(tree.slugs, f"  slugs: {tree.slugs}")
    echo(f"  {paint.title(name)}  {numbers}  {paint.faint(f'{tree.language}  {display_path(tree.folder)}{slugs}')}")
