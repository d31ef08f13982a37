"""``quire context``: find the documentation that concerns some files, or the changes in a diff."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.hit_output import Printer, hit_record
from quire.cli.open_workspace import open_workspace, show_not_found
from quire.cli.output import note, visible, write_json
from quire.cli.shared_options import (
    index_option,
    json_option,
    limit_option,
    list_option,
    max_tokens_option,
    no_update_option,
    not_empty,
    quire_command,
)
from quire.context_words import WeightedWord, changed_files
from quire.errors import InputError
from quire.read.source import read_file
from quire.search.hit import Hit
from quire.settings.precedence import load
from quire.workspace.context import FileContext

_LIMIT = 5
"""How many results there are, unless said."""


@quire_command("quire context README.md", "quire context README.md --list --explain")
@click.argument("files", nargs=-1, metavar="[FILE...]", callback=not_empty)
@click.option(
    "--diff", "is_diff", is_flag=True, help="Read a git diff from standard input: git diff | quire context --diff"
)
@limit_option
@max_tokens_option
@list_option
@click.option("--explain", is_flag=True, help="Show the words of the query with their weights.")
@json_option
@index_option
@no_update_option
def command(
    *,
    files: tuple[str, ...],
    is_diff: bool,
    limit: int | None,
    max_tokens: int | None,
    as_list: bool,
    explain: bool,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """Find the documentation that concerns some files.

    FILE is a source or Markdown file. quire searches for the distinctive words in its path, definitions and text.
    Rules under [[context]] in quire.toml add words and sections for files that match a pattern, or limit them to some
    trees. The exit code is 1 if nothing is found.
    """
    texts = _texts(files, is_diff=is_diff)
    settings = load(Path.cwd())
    wanted = FileContext.of(texts, settings)
    budget = settings.search.max_tokens if max_tokens is None else max_tokens
    with open_workspace((), index_folder=index_folder, trees=wanted.trees, update=not no_update) as workspace:
        show = partial(show_not_found, workspace=workspace)
        hits = wanted.search(workspace, limit=limit or _LIMIT, max_tokens=budget, on_problem=show)
        hit_files = [workspace.file(hit.tree, hit.path) for hit in hits]
    if as_json:
        records = [hit_record(hit, file) for hit, file in zip(hits, hit_files, strict=True)]
        write_json({"words": [word._asdict() for word in wanted.words], "results": records})
    else:
        _show(hits, hit_files, wanted.words, as_list=as_list, explain=explain)
    return 0 if hits else NOTHING_FOUND


def _texts(files: Sequence[str], *, is_diff: bool) -> dict[str, str]:
    """The files with their texts, or with their changed lines."""
    if is_diff == bool(files):
        raise click.UsageError("name files, or give a diff on standard input with --diff")
    if is_diff:
        texts = changed_files(sys.stdin.buffer.read().decode("utf-8", "replace"))
        if not texts:
            raise InputError("-", "standard input has no git diff", "try: git diff | quire context --diff")
        return texts
    return {file: read_file(Path(file), file)[0] for file in files}


def _show(
    hits: Sequence[Hit], files: Sequence[str], words: Sequence[WeightedWord], *, as_list: bool, explain: bool
) -> None:
    if explain:
        for word in words:
            note(visible(f"{word.weight:.1f}  {word.text}  {', '.join(word.origins)}"))
    Printer(sys.stdout, form="list" if as_list else "text").show(hits, files)
    if not hits:
        note("nothing found")
