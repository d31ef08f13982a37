"""The workspace of a command: opened and brought up to date, with progress and messages."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from quire.cli.command_options import chosen_embedder, combined, not_empty, option
from quire.cli.output import Progress, count_of, echo, left_out_counts, message
from quire.errors import NotFoundError, UndecodableError
from quire.index.section_lookup import USE_OUTLINE
from quire.read.source import CONVERT, read_file
from quire.search.search_settings import Mode
from quire.workspace import Workspace, display_path

INDEX = option(
    "The index. [default: .quire beside quire.toml, else in the cache folder]",
    "--index",
    metavar="DIR",
    callback=not_empty,
)


MODE = option("How to search; the other modes need `quire index --vectors`.", default="words", show_default=True)


class IndexOptions:
    """``--index`` and ``--no-update``."""

    def __init__(
        self, *, folder: str | None = INDEX, no_update: bool = option("Answer from the index as it is.")
    ) -> None:
        self.folder = folder
        self.no_update = no_update

    @contextmanager
    def open(
        self,
        paths: Sequence[str] = (),
        trees: Sequence[str] = (),
        mode: Mode = "words",
        embedding: Mapping[str, Any] | None = None,
    ) -> Iterator[Workspace]:
        """The workspace of ``paths``, with vectors for ``mode``; the user is told if nothing in it is a document."""
        if self.no_update:
            workspace = Workspace.open(paths, trees=trees, index=self.folder, on_message=message)
            workspace.index.trees()  # an error if there is no index
        else:
            with Progress() as progress:
                workspace = Workspace.open_updated(
                    paths, trees=trees, index=self.folder, on_message=message, on_progress=progress.step
                )
        with workspace:
            if workspace.failed:
                files = count_of(len(workspace.failed), "file")
                message(f"{files} could not be read; {command_hint('status', workspace)} shows why")
            if workspace.is_empty:
                show_empty(workspace, paths)
            elif mode != "words" and (embedding or not self.no_update):
                chosen = chosen_embedder(embedding, workspace.settings.embed) if embedding else None
                with Progress() as progress:
                    workspace.index.embed(chosen, on_progress=progress.step)
            yield workspace


INDEX_OPTIONS = combined(IndexOptions)


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


def read_unindexed(file: str) -> str:
    """The text of a file that is read as UTF-8, whatever its tree says."""
    try:
        return read_file(Path(file), file)[0]
    except UndecodableError as error:
        raise error.advising(CONVERT) from error


def show_left_out(workspace: Workspace) -> None:
    """Print how many files and folders were left out, by reason."""
    if counts := workspace.left_out():
        hidden = "; hidden = true adds .github, .claude and .cursor" if "hidden" in counts else ""
        echo(f"{left_out_counts(counts)}; to read them, set include in quire.toml{hidden}")


def show_not_found(error: NotFoundError, workspace: Workspace) -> None:
    """Tell the user what is not in the index."""
    advised = error.advising(f"{command_hint('outline', workspace)} shows what is")
    message(str(advised if error.advice == USE_OUTLINE else error))


def index_flag(workspace: Workspace) -> str:
    """`` --index DIR`` if a command needs it to use this index."""
    return f" --index {quote(display_path(workspace.index_folder))}" if workspace.is_index_named else ""


def command_hint(command: str, workspace: Workspace) -> str:
    """A command to recommend, as it must be typed for this workspace."""
    folders = workspace.folders.values() if workspace.kind == "cached" else ()
    paths = "".join(f" {quote(display_path(folder))}" for folder in folders)
    return f"`quire {command}{index_flag(workspace)}{paths}`"
