"""The workspace of a command: opened and brought up to date, with progress and messages."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from quire.cli.command_options import combined, option
from quire.cli.output import Progress, count_of, message
from quire.errors import NotFoundError, QuireError
from quire.index.section_lookup import LIST_DOCUMENTS
from quire.search.hit import Hit
from quire.search.search_settings import Mode
from quire.workspace.selected_trees import cached, display_path, exists, file_of
from quire.workspace.settings import load
from quire.workspace.workspace import Workspace

_INDEX = "The index, or a store of `quire index --to`. [default: .quire beside quire.toml, else in the cache folder]"
INDEX = option(_INDEX, "--index", "DIR")
_NO_UPDATE = option("Answer from the index as it is.")
MODE = option("How to search; the other modes need `quire index --vectors`.", default="words", show_default=True)


class IndexOptions:
    """``--index`` and ``--no-update``."""

    def __init__(self, *, folder: str | None = INDEX, no_update: bool = _NO_UPDATE) -> None:
        self.folder, self.no_update = folder, no_update

    @contextmanager
    def open(self, paths: Sequence[str] = (), trees: Sequence[str] = (), mode: Mode = "words") -> Iterator[Workspace]:
        """The workspace of ``paths``, with vectors for ``mode``; the user is told if nothing in it is a document."""
        if self.no_update:
            workspace = Workspace.open(paths, trees=trees, index=self.folder, on_message=message)
            try:
                workspace.index.trees()
            except NotFoundError as error:  # there is no index, whatever was asked for
                raise QuireError(error.problem, error.advice) from error
        else:
            options: Any = {"trees": trees, "index": self.folder, "on_message": message}
            workspace = Workspace.open_updated(paths, on_progress=Progress().step, **options)
        with workspace:
            if workspace.failed:
                files = count_of(len(workspace.failed), "file")
                message(f"{files} could not be read; {command_hint('status', workspace)} shows why")
            if workspace.is_empty:
                show_empty(workspace, paths)
            elif mode != "words" and not self.no_update:
                workspace.index.embed(on_progress=Progress().step)
            yield workspace

    @contextmanager
    def open_named(self, name: str) -> Iterator[Workspace]:
        """The workspace of a file, section or tree: that of its path, the configured one, or one searched lately."""
        path = name if exists(name) else file_of(name)
        is_pattern = not name or {*name} & {*"*?["}
        if not (path or is_pattern or self.folder or (settings := load(Path.cwd())).file or settings.index):
            for choice in cached():
                with Workspace(settings, choice, message) as workspace:
                    if workspace.finds(name):
                        if not self.no_update:
                            workspace.refresh()
                        yield workspace
                        return
            if not self.no_update:
                advice = "name a file, or search its folder first: `quire search QUERY FOLDER`"
                raise NotFoundError(f"{name}: no such file, and not in the index of a folder searched before", advice)
        with self.open([path] if path else []) as workspace:
            yield workspace


INDEX_OPTIONS = combined(IndexOptions)


def show_empty(workspace: Workspace, paths: Sequence[str] = ()) -> None:
    """Tell the user that there are no documents."""
    folders = [display_path(workspace.folders[name]) for name in workspace.selected_trees]
    message(f"no documents in {', '.join(paths or folders)}; quire looks for Markdown and .txt files")


def get_section(workspace: Workspace, name: str, **options: Any) -> Hit:
    """A section. If no document has the path but exactly one has the file name, it is that one."""
    try:
        return workspace.get(name, **options)
    except NotFoundError as error:
        if len(error.near) != 1:
            raise advising(error, workspace) from None
        message(f"{error.problem}; showing {error.near[0]}")
        return workspace.get(error.near[0], **options)


def advising(error: NotFoundError, workspace: Workspace) -> NotFoundError:
    """The error with a command that lists the documents."""
    advised = error.advising(f"{command_hint('outline', workspace)} shows what is")
    return advised if error.advice == LIST_DOCUMENTS else error


def index_flag(workspace: Workspace) -> str:
    """`` --index DIR`` if a command needs it to use this index."""
    return f" --index {quote(display_path(workspace.index_folder))}" if workspace.is_index_named else ""


def command_hint(command: str, workspace: Workspace) -> str:
    """A command to recommend, as it must be typed for this workspace."""
    folders = workspace.folders.values() if workspace.kind == "cached" else ()
    paths = "".join(f" {quote(display_path(folder))}" for folder in folders)
    return f"`quire {command}{index_flag(workspace)}{paths}`"
