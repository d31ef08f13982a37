"""``quire get``: print sections by id, or by file and heading or line."""

from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple

import click

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.hit_output import Printer, hit_record, tokens_with_breadcrumb
from quire.cli.open_index import OpenIndex, open_index, settings_for
from quire.cli.output import count_of, message, write_json_array
from quire.cli.shared_options import index_option, json_option, no_update_option, not_empty
from quire.cli.tree_paths import command_hint, exists, locate
from quire.errors import NotFoundError
from quire.search.hit import Hit

_TARGET = re.compile(r"(?s)(?P<file>.*)(?P<rest>#[^#]*|:[0-9]+)")


class Target(NamedTuple):
    """A section that the user named: a path or the first part of an id, and ``#SLUG``, ``:LINE`` or nothing."""

    file: str
    rest: str = ""

    @classmethod
    def parse(cls, text: str) -> Target:
        """An existing path is a path, even if it looks like one with a slug or line."""
        match = None if exists(text) else _TARGET.fullmatch(text)
        return cls(match["file"], match["rest"]) if match else cls(text)

    @property
    def is_folder(self) -> bool:
        """Whether the document is a folder on the disk."""
        return exists(self.file) and os.path.isdir(self.file)  # noqa: PTH112  Path("") is a folder

    @property
    def is_file(self) -> bool:
        """Whether the document is a file on the disk."""
        return exists(self.file) and not self.is_folder


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="ID|PATH#SLUG|PATH:LINE...", callback=not_empty)
@click.option("--children/--no-children", default=True, help="With or without the sections below it.")
@click.option("--max-tokens", type=click.IntRange(0), metavar="N", help="The most tokens per section; 0: no limit.")
@json_option
@index_option
@no_update_option
def command(
    *,
    targets: tuple[str, ...],
    children: bool,
    max_tokens: int | None,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """Print sections by id, or by file and heading or line.

    `quire search --json` prints ids, for example docs:guides/auth.md#oauth; the tree may be left out. PATH alone is the
    whole document, PATH:LINE the section with that line. A file outside all trees is read for this call only. If
    no document has that path but exactly one has that file name, quire prints that one and says so. The exit code is 1
    if a section is not found or does not fit.
    """
    wanted = [Target.parse(text) for text in dict.fromkeys(targets)]
    found: dict[Target, tuple[Hit, str]] = {}
    for folder in dict.fromkeys(each.file for each in wanted if each.is_folder):
        lists = command_hint(f"ls {folder}", settings_for(index_folder))
        message(f"{folder}: is a folder; {lists} lists its documents")
    for are_files in (True, False):
        group = [each for each in wanted if each.is_file == are_files and not each.is_folder]
        if not group:
            continue
        paths = [each.file for each in group if are_files]
        with open_index(paths, index_folder=index_folder, update=not no_update, create=are_files) as opened:
            for each in group:
                hit = _get(opened, each, children=children, max_tokens=max_tokens or None)
                found |= {each: (hit, opened.file(hit.tree, hit.path))} if hit else {}
            opened.forget_new_trees()
    hits = [found[each] for each in wanted if each in found]
    if as_json:
        write_json_array(hit_record(hit, file) for hit, file in hits)
    else:
        Printer(sys.stdout, full=True).show([hit for hit, _ in hits], [file for _, file in hits])
    return 0 if len(hits) == len(wanted) else NOTHING_FOUND


def node_name(opened: OpenIndex, target: Target) -> str:
    """The name of a target in the index; if only another document has its file name, that one, with a message."""
    document = target.file
    if target.is_file and (found := locate(target.file, opened.folders)):
        tree, path = found
        document = f"{tree}:{path or os.path.basename(target.file)}"  # noqa: PTH119  of a tree that is one file
    name = document + target.rest
    while True:
        try:
            opened.index.get(name)
        except NotFoundError as error:
            problem, advice = (each.replace(document, target.file) for each in (error.problem, error.advice))
            if len(error.near) != 1:
                raise NotFoundError(problem, advice) from error
            name = error.near[0]
            message(f"{problem}; showing {name}")
        else:
            return name


def _get(opened: OpenIndex, target: Target, *, children: bool, max_tokens: int | None) -> Hit | None:
    """The section, or None after a message."""
    try:
        name = node_name(opened, target)
    except NotFoundError as error:
        opened.show_not_found(error)
        return None
    hit = opened.index.get(name, children=children, max_tokens=max_tokens)
    if opened.is_missing(hit.tree, name):
        return None
    if max_tokens and not hit.text and (whole := opened.index.get(name, children=children)).text:
        most, size = count_of(max_tokens, "token"), count_of(tokens_with_breadcrumb(whole), "token")
        message(f"{name}: no part of it fits in {most}; with its breadcrumb it has {size}")
        return None
    return hit
