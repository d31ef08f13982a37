"""``quire get``: print sections by id, or by file and heading or line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.command_options import JSON, argument, option, quire_command
from quire.cli.hit_output import Printer
from quire.cli.open_workspace import INDEX_OPTIONS, IndexOptions, resolve, show_not_found
from quire.cli.output import count_of, message
from quire.errors import NotFoundError
from quire.search.hit import Hit
from quire.search.token_budget import hit_tokens
from quire.workspace import Workspace
from quire.workspace.selection import exists, is_file, split_name


@quire_command("quire get docs/search.md:10", "quire get docs/search.md#how-it-is-ranked --no-children")
def command(
    *,
    names: tuple[str, ...] = argument("ID|PATH#SLUG|PATH:LINE...", required=True),
    children: bool = option("With or without the sections below it.", "--children/--no-children", default=True),
    max_tokens: int = option("Maximum tokens per section; 0: no limit.", least=0, default=0),
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """Print sections by id, or by file and heading or line.

    `quire search --json` prints ids, for example docs:guides/auth.md#oauth; the tree may be left out. PATH alone is the
    whole document, PATH:LINE the section with that line. PATH:17-32, as quire search prints it, is the section with
    line 17. If no document has that path but exactly one has that file name, quire prints that one and says so. The
    exit code is 1 if a section is not found or does not fit.
    """
    hits: list[tuple[Hit, str]] = []
    for name in dict.fromkeys(names):
        if exists(name) and os.path.isdir(name):  # noqa: PTH112
            message(f"{name}: is a folder; `quire outline {name}` lists its documents")
            continue
        with _workspace(name, index) as workspace:
            if hit := _get(workspace, name, children=children, max_tokens=max_tokens):
                hits.append((hit, workspace.file(hit.tree, hit.path)))
    Printer(full=True).show(hits, as_json=as_json)
    return 0 if len(hits) == len(dict.fromkeys(names)) else NOTHING_FOUND


@contextmanager
def _workspace(name: str, index: IndexOptions) -> Iterator[Workspace]:
    """The workspace of a section: that of its file, the configured one, or one that was searched lately."""
    file = name if exists(name) else split_name(name)[0]
    paths = [file] if is_file(file) else []
    if not paths and not index.folder:
        for workspace in Workspace.recent(message):
            with workspace:
                if workspace.settings.file is None and workspace.finds(name):
                    if not index.no_update:
                        workspace.refresh()
                    yield workspace
                    return
    with index.open(paths) as workspace:
        yield workspace


def _get(workspace: Workspace, name: str, *, children: bool, max_tokens: int) -> Hit | None:
    """The section, or None after a message."""
    try:
        section = resolve(workspace, name)
    except NotFoundError as error:
        show_not_found(error, workspace)
        return None
    hit = workspace.get(section, children=children, max_tokens=max_tokens)
    if max_tokens and not hit.text and (whole := workspace.get(section, children=children)).text:
        most, size = count_of(max_tokens, "token"), count_of(hit_tokens(whole), "token")
        message(f"{name}: no part of it fits in {most}; with its breadcrumb it has {size}")
        return None
    return hit
