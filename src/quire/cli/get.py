"""``quire get``: print sections by id, or by file and heading or line."""

import os

from quire.cli.command_options import JSON, argument, option, quire_command
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.hit_output import Printer
from quire.cli.open_workspace import INDEX_OPTIONS, IndexOptions, get_section
from quire.cli.output import count_of, message, note, visible
from quire.errors import NotFoundError
from quire.search.hit import Hit
from quire.workspace.selected_trees import exists


@quire_command("quire get docs/search.md:10", "quire get docs/search.md#how-it-is-ranked --no-children")
def command(
    *,
    names: tuple[str, ...] = argument("ID|PATH#SLUG|PATH:LINE...", required=True),
    children: bool = option("With or without the sections below it.", "--children/--no-children", default=True),
    max_tokens: int = option("Maximum tokens per section; 0: no limit.", least=0, default=0),
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """`quire search --json` prints ids, for example docs:guides/auth.md#oauth; the tree may be left out. PATH alone is
    the whole document, PATH:LINE the section with that line. PATH:17-32, as quire search prints it, is the section with
    line 17. If no document has that path but exactly one has that file name, quire prints that one and says so. The
    exit code is 1 if a section is not found or does not fit.
    """
    hits: list[tuple[Hit, str]] = []
    for name in dict.fromkeys(names):
        if exists(name) and os.path.isdir(name):  # noqa: PTH112
            message(f"{name}: is a folder; `quire outline {name}` lists its documents")
            continue
        try:
            with index.open_named(name) as workspace:
                hit = get_section(workspace, name, children=children, max_tokens=max_tokens)
                if not (hit.text or hit.complete):
                    message(f"{name}: no part of it fits in {count_of(max_tokens, 'token')}")
                    continue
                hits.append((hit, workspace.file(hit.tree, hit.path)))
                if linking := {link.id for link in workspace.index.links_to(hit.id)}:
                    count = count_of(len(linking), "section")
                    note(f"{visible(name)}: linked from {count}; quire links --to lists them")
        except NotFoundError as error:
            message(str(error))
    Printer(full=True).show(hits, as_json=as_json)
    return 0 if len(hits) == len(dict.fromkeys(names)) else NOTHING_FOUND
