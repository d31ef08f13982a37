"""The workspace of a command: opened and brought up to date, with progress and messages."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import Any

from quire.cli.output import Progress, count_of, echo, message
from quire.cli.shared_options import chosen_embedder
from quire.errors import NotFoundError
from quire.index.section_lookup import USE_OUTLINE
from quire.workspace import Workspace, display_path


@contextmanager
def open_workspace(
    paths: Sequence[str], *, index_folder: str | None, trees: Sequence[str] = (), update: bool = True
) -> Iterator[Workspace]:
    """The workspace of ``paths``; the user is told if nothing in it is a document."""
    if not update:
        workspace = Workspace.open(paths, trees=trees, index=index_folder, on_message=message)
        workspace.index.trees()  # an error if there is no index
    else:
        with Progress() as progress:
            workspace = Workspace.open_updated(
                paths, trees=trees, index=index_folder, on_message=message, on_progress=progress.step
            )
    with workspace:
        if workspace.failed:
            files = count_of(len(workspace.failed), "file")
            message(f"{files} could not be read; {command_hint('status', workspace)} lists them")
        if workspace.is_empty:
            show_empty(workspace, paths)
        yield workspace


def update_vectors(workspace: Workspace, embedding: Mapping[str, Any]) -> None:
    """Embed what has no vector yet: with the model of the command line, else with that of the index."""
    with Progress() as progress:
        chosen = chosen_embedder(embedding, workspace.settings.embed) if embedding else None
        workspace.index.embed(chosen, on_progress=progress.step)


def show_empty(workspace: Workspace, paths: Sequence[str] = ()) -> None:
    """Tell the user that there are no documents."""
    folders = [display_path(workspace.folders[name]) for name in workspace.selected_trees]
    message(f"no documents in {', '.join(paths or folders)}; quire looks for Markdown and .txt files")


def resolve(workspace: Workspace, name: str) -> str:
    """The id of a section. If no document has the path but exactly one has the file name, it is that one."""
    try:
        return workspace.resolve(name)
    except NotFoundError as error:
        if len(error.near) != 1:
            raise
        message(f"{error.problem}; showing {error.near[0]}")
        return workspace.resolve(error.near[0])


def show_left_out(workspace: Workspace) -> None:
    """Print how many files and folders no documentation are, by reason."""
    if counts := workspace.left_out():
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))
        hidden = "; hidden = true takes .github, .claude and .cursor" if "hidden" in counts else ""
        echo(f"left out: {reasons}; include in quire.toml brings them back{hidden}")


def show_not_found(error: NotFoundError, workspace: Workspace) -> None:
    """Tell the user what is not in the index."""
    advised = error.advising(f"{command_hint('outline', workspace)} shows what is")
    message(str(advised if error.advice == USE_OUTLINE else error))


def index_flag(workspace: Workspace) -> str:
    """`` --index DIR`` if a command needs it to use this index."""
    return f" --index {quote(display_path(workspace.index_folder))}" if workspace.is_index_named else ""


def command_hint(command: str, workspace: Workspace) -> str:
    """A command to recommend, as it must be typed for this workspace."""
    paths = (
        "" if workspace.kind != "cached" else "".join(f" {quote(display_path(p))}" for p in workspace.folders.values())
    )
    return f"`quire {command}{index_flag(workspace)}{paths}`"
