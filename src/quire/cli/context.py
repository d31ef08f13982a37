"""``quire context``: find the documentation that concerns some files, or the changes in a diff."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.hit_output import Printer, hit_record, tokens_with_breadcrumb
from quire.cli.open_index import OpenIndex, open_index
from quire.cli.output import message, note, visible, write_json
from quire.cli.shared_options import index_option, json_option, no_update_option, not_empty
from quire.cli.tree_paths import locate
from quire.context_words import WeightedWord, changed_files, context_words, merged_words, query_of
from quire.errors import InputError, NotFoundError
from quire.read.globs import covers
from quire.read.source import read_file
from quire.search.hit import Hit
from quire.search.path_filter import literal_pattern
from quire.settings import ContextRule, Settings, load

_MAX_TOKENS = 8_000


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE...]", callback=not_empty)
@click.option(
    "--diff", "is_diff", is_flag=True, help="Read a git diff from standard input: git diff | quire context --diff"
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=5, metavar="N", help="The most results. [default: 5]"
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    default=_MAX_TOKENS,
    metavar="N",
    help=f"The most tokens of all results. [default: {_MAX_TOKENS:,}]",
)
@click.option("--list", "as_list", is_flag=True, help="One line per result: path, breadcrumb, tokens, score.")
@click.option("--explain", is_flag=True, help="Show the words of the query with their weights.")
@json_option
@index_option
@no_update_option
def command(
    *,
    files: tuple[str, ...],
    is_diff: bool,
    limit: int,
    max_tokens: int,
    as_list: bool,
    explain: bool,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """Find the documentation that concerns some files.

    FILE is a source or Markdown file. The telling words of its path, the names it defines and its text make one query.
    Rules under [[context]] in quire.toml add words and sections for files that match a pattern, or limit them to some
    trees. The exit code is 1 if nothing is found.
    """
    texts = _texts(files, is_diff=is_diff)
    settings = load(Path.cwd())
    rules = {name: _rules(name, settings) for name in texts}
    words = merged_words(
        context_words(name, text, [word for rule in rules[name] for word in rule.words]) for name, text in texts.items()
    )
    every = [rule for each in rules.values() for rule in each]
    trees = tuple(dict.fromkeys(tree for rule in every for tree in rule.trees))
    with open_index((), index_folder=index_folder, trees=trees, update=not no_update) as opened:
        hits = _sections(opened, every, max_tokens)
        left = max_tokens - sum(map(tokens_with_breadcrumb, hits))
        if words and left > 0:
            taken = {hit.id for hit in hits}
            found = opened.index.search(
                query_of(words),
                limit=limit,
                max_tokens=left,
                trees=list(dict.fromkeys(each.tree for each in opened.selection)),
                path=_other_documents(opened, texts),
            )
            hits += [hit for hit in found if hit.id not in taken]
        names = [opened.file(hit.tree, hit.path) for hit in hits]
    if as_json:
        records = [hit_record(hit, name) for hit, name in zip(hits, names, strict=True)]
        write_json({"words": [word._asdict() for word in words], "results": records})
    else:
        _show(hits, names, words, as_list=as_list, explain=explain)
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


def _rules(name: str, settings: Settings) -> list[ContextRule]:
    """The rules for a file, whose path is relative to the current folder; patterns are relative to the project."""
    found = locate(name, {"": settings.folder})
    return [rule for rule in settings.context if found and covers(found[1], rule.files)]


def _sections(opened: OpenIndex, rules: Sequence[ContextRule], most: int) -> list[Hit]:
    """The sections that rules always include, within the limit."""
    hits: list[Hit] = []
    for name in dict.fromkeys(section for rule in rules for section in rule.sections):
        left = max(most - sum(map(tokens_with_breadcrumb, hits)), 1)
        try:
            hit = opened.index.get(name, max_tokens=left)
        except NotFoundError as error:
            opened.show_not_found(error)
            continue
        if hit.text:
            hits.append(replace(hit, score=1.0))
        else:
            message(f"{name}: does not fit")
    return hits


def _other_documents(opened: OpenIndex, texts: Mapping[str, str]) -> list[str] | None:
    """Patterns for all documents but the given ones; None if those are no documents."""
    own = {f"{found[0]}:{found[1]}" for name in texts if (found := locate(name, opened.folders))}
    documents = opened.index.documents()
    if own.isdisjoint(each.id for each in documents):
        return None
    return [f"{each.tree}:{literal_pattern(each.path)}" for each in documents if each.id not in own] or ["/:"]


def _show(
    hits: Sequence[Hit], names: Sequence[str], words: Sequence[WeightedWord], *, as_list: bool, explain: bool
) -> None:
    if explain:
        for word in words:
            note(visible(f"{word.weight:.1f}  {word.text}  {', '.join(word.origins)}"))
    Printer(sys.stdout, form="list" if as_list else "text").show(hits, names)
    if not hits:
        note("nothing found")
