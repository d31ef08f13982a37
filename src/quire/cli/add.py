"""``quire add``: add a folder or a git repository to quire.toml."""

import os
import re
from pathlib import Path

from quire.cli.command_options import argument, option, quire_command, refuse
from quire.cli.config import toml_key, toml_value, write_text
from quire.cli.init import proposed_trees, starting_text
from quire.cli.output import echo, visible
from quire.errors import InputError, QuireError
from quire.model.trees import Tree, tree_name
from quire.output.atomic_file import os_errors_as_quire_errors
from quire.workspace.git_trees import fetch
from quire.workspace.selected_trees import display_path
from quire.workspace.settings import PROJECT_FILE, agree, load

_ADVICE = "search it by its path, or add it to your own file by hand"
_ADDRESS = re.compile(r"[a-z+]+://|[\w.-]+@[\w.-]+:")  # how the address of a repository begins


@quire_command("quire add docs", "quire add https://example.org/react.git --path docs --name react")
def command(
    *,
    source: str = argument("URL|FOLDER"),
    path: str = option("The folder of the documents in the repository.", "FOLDER", default=""),
    name: str = option("The name of the tree. [default: that of the folder]", "NAME", default=""),
    ref: str = option("The branch or tag of the repository. [default: its own]", "TAG", default=""),
) -> int:
    """URL is the address of a git repository. quire fetches it now, with the installed git, and again with `quire index
    --fetch`; nothing else fetches. Search and agents then answer from it, too. The file is the nearest quire.toml, or a
    new one in the current folder.
    """
    is_repository = bool(_ADDRESS.match(source))
    refuse(not is_repository and (path or ref), "--path and --ref are about a repository; leave them out")
    settings = load(Path.cwd())
    file = settings.file if settings.file and settings.file.name == PROJECT_FILE else Path.cwd() / PROJECT_FILE
    base = source.rstrip("/").rpartition("/")[2].removesuffix(".git") if is_repository else Path(source).resolve().name
    folder, is_new = os.path.relpath(source, file.parent).replace(os.sep, "/"), not file.exists()
    proposed = dict(proposed_trees(file.parent)) if is_new else {}
    taken = [tree for tree, where in proposed.items() if where != folder] if is_new else settings.trees
    name = name or tree_name(base, taken)
    if name in taken:
        raise QuireError(f"{display_path(file)} has a tree {name}", "choose another one with --name")
    proposed = {name if where == folder else tree: where for tree, where in proposed.items()}
    if is_repository:
        values = {"git": source, "ref": ref, "path": path}
        commit = fetch(Tree(git=source, ref=ref, path=path))
        with os_errors_as_quire_errors(file):
            agree(file, source)
        echo(visible(f"{name}: fetched {source} at {commit[:12]}"))
    elif Path(source).exists():
        values = {} if folder in proposed.values() else {"path": folder}  # a new file has the proposed trees
    else:
        raise InputError(source, "no such file or folder", "name a folder, or the address of a git repository")
    old = starting_text(proposed) if is_new else file.read_text("utf-8")
    lines = "".join(f"{field} = {toml_value(value)}\n" for field, value in values.items() if value)
    write_text(file, f"{old.rstrip()}\n\n[trees.{toml_key(name)}]\n{lines}" if values else old)
    try:
        folders = [tree.folder for tree in load(file.parent).trees.values()]
        if len(set(folders)) < len(folders):
            raise QuireError("another tree has this folder")  # noqa: TRY301
    except QuireError as error:
        write_text(file, "" if is_new else old)
        raise InputError(display_path(file), f"cannot add the tree: {error.problem}", _ADVICE) from error
    echo(visible(f"{display_path(file)}: added the tree {name}"))
    return 0
