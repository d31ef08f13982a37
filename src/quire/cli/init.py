"""``quire init``: write a quire.toml with comments for the documents in a folder."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from quire.cli.command_options import argument, quire_command
from quire.cli.config import toml_key, toml_value, write_text
from quire.cli.exit_codes import ERROR
from quire.cli.output import count_of, echo, message, visible
from quire.errors import InputError
from quire.model.trees import tree_name
from quire.model.validation import fields
from quire.read.discover import Discovery, is_code_repository, is_documentation
from quire.search.search_settings import SearchSettings
from quire.workspace.settings import PROJECT_FILE, PYTHON_FILE, RERANKING, search_fields, toml_file

_MOST_TREES = 12
_PAGES = frozenset({"agents", "authors", "changelog", "changes", "claude", "code_of_conduct", "contributing", "gemini",
                    "history", "license", "maintainers", "news", "releasing", "security", "support"})  # fmt: skip
"""Pages about a project, or for agents, which are no documentation of it."""
_CONTENT: Mapping[str, str] = {
    "mkdocs.yml": "docs", "docusaurus.config.js": "docs", "docusaurus.config.ts": "docs", "hugo.toml": "content",
    "hugo.yaml": "content", "book.toml": "src", ".vitepress": ".", "conf.py": ".",
}  # fmt: skip
"""Files of documentation generators, and where documents are beside them."""
_HEAD = """\
# quire: where the documents are and how they are searched. `quire config` shows every value and where it came from.
# Paths are relative to this file's folder.

# The folder of the index.
# index = ".quire"

# The trees: folders of documents, or single documents. Ids begin with a tree's name.
[trees]
"""
_LANGUAGE = """
# The language of a tree that is not in English, so that all forms of its words are found:
# [trees.handbuch]
# path = "handbuch"
# language = "german"

[search]
"""


@quire_command("quire init", "quire init docs")
def command(*, folder: str = argument("[FOLDER]", default=".")) -> int:
    """The trees are the README and the folders of documentation, for example docs/; outside a code repository, every
    folder with documents. If there are other documents, the whole folder is one tree. The settings of search are there
    as comments. An existing quire.toml stays as it is. If pyproject.toml has a table [tool.quire], quire init writes
    nothing, as quire.toml would override that table.
    """
    root = Path.cwd() / folder
    prefix = "" if folder == "." else os.path.join(folder, "")  # noqa: PTH118  as it was typed
    name = f"{prefix}{PROJECT_FILE}"
    if not root.is_dir():
        raise InputError(folder, "no such folder", "make it first, or name a folder instead of a file")
    if toml_file(root / PYTHON_FILE) is not None:
        problem = f"has a table [tool.quire], which a {PROJECT_FILE} would override"
        raise InputError(f"{prefix}{PYTHON_FILE}", problem, "change that table")
    trees = dict(proposed_trees(root))
    if os.path.lexists(root / PROJECT_FILE):
        message(f"{name} exists already; change it, or remove it first")
        return ERROR
    write_text(Path(name), starting_text(trees))
    echo(visible(f"{name}: {'' if trees else 'no trees yet: add them under [trees]'}".rstrip(": ")))
    for tree, path in trees.items():
        echo(visible(f"  {tree} = {path}  {count_of(len(Discovery(str(root / path)).files), 'document')}"))
    return 0


def starting_text(trees: Mapping[str, str]) -> str:
    """The text of a quire.toml with comments, for some trees: names and paths."""
    lines = [f"{toml_key(name)} = {toml_value(path)}\n" for name, path in trees.items()]
    values = {name: (field, field.default) for name, field in search_fields().items() if name not in RERANKING}
    values['where."path:archive/**"'] = (fields(SearchSettings)["where"], 0.3)
    search = [f"# {field.sentence}\n# {name} = {toml_value(value)}\n" for name, (field, value) in values.items()]
    return _HEAD + ("".join(lines) or '# docs = "docs"\n') + _LANGUAGE + "\n".join(search)


def proposed_trees(root: Path) -> Iterator[tuple[str, str]]:
    """Names and paths of trees, as the help says; with other documents, no folders, or too many, it is one tree."""
    paths = [document.path for document in Discovery(str(root)).documents]
    readme = [path for path in paths if path.lower() == "readme.md"]
    folders = list(dict.fromkeys(path.partition("/")[0] for path in paths if "/" in path))
    pages = [path for path in paths if "/" not in path and path not in readme]
    others = [path for path in pages if path.partition(".")[0].lower() not in _PAGES]
    has_generator = any(name in folders and (root / file).exists() for file, name in _CONTENT.items())
    if is_code_repository(root) or has_generator:
        folders, others = list(_documentation_folders(root, folders)), []
    if others or not folders or len(folders) > _MOST_TREES:
        folders, readme = (["."] if paths else []), []
    taken: set[str] = set()
    for path in (*folders, *readme):
        name = tree_name(root.resolve().name if path == "." else path.removesuffix(".md").replace("/", "-"), taken)
        taken.add(name)
        yield name.lower() if path in readme else name, path


def _documentation_folders(root: Path, folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        content = [name for file, name in _CONTENT.items() if (root / folder / file).exists()]
        if content and content[0] != "." and (root / folder / content[0]).is_dir():
            yield f"{folder}/{content[0]}"
        elif content or is_documentation(folder):
            yield folder
    for file, name in _CONTENT.items():
        if (root / file).exists() and name in folders and not is_documentation(name):
            yield name
