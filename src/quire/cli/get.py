"""``quire get``: sections by id, or by file and heading or line."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import NamedTuple

import click

from quire.cli.advice import advice
from quire.cli.arguments import not_empty
from quire.cli.commands import NOTHING_FOUND
from quire.cli.hits import Printer, record, with_breadcrumb
from quire.cli.index_options import BUDGET, index_option, no_update_option
from quire.cli.indexes import Opened, opened, settings_for
from quire.cli.output import count_of, note, write_json_array
from quire.cli.places import exists, located
from quire.cli.shown import visible
from quire.errors import BusyError, NotFoundError, StoreError
from quire.search.hit import Hit

_TARGET = re.compile(r"(?s)(?P<file>.*)(?P<rest>#[^#]*|:[0-9]+)")


class Target(NamedTuple):
    """What is asked for."""

    file: str
    """The document; a path on the disk, or the beginning of an id."""
    rest: str
    """The heading's slug behind ``#``, or the line behind ``:``; empty for the whole document."""

    @property
    def exists(self) -> bool:
        """Whether it is named by something on the disk."""
        return exists(self.file)

    @property
    def is_file(self) -> bool:
        """Whether that is a file."""
        return self.exists and not self.is_folder

    @property
    def is_folder(self) -> bool:
        """Whether that is a folder."""
        return self.exists and os.path.isdir(self.file)  # noqa: PTH112  Path("") is a folder


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="ID|PATH#SLUG|PATH:LINE...", callback=not_empty)
@click.option("--children/--no-children", default=True, help="With the sections below it, or its own text only.")
@click.option(
    "--max-tokens",
    type=BUDGET,
    metavar="N",
    help="How many tokens each section may have at most, with its breadcrumb; 0: no limit.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, and nothing else, to standard output.")
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

    An id is what `quire search --json` gives, docs:guides/auth.md#oauth for example; the tree may be left out. PATH
    alone is the whole document, PATH:LINE the section that the line is in. A file that is in no tree is read for
    this once, and not kept in the index. Where nothing has that path, the one document of that file name is printed,
    and named on standard error. The exit code is 1 if one is not found, or does not fit.
    """
    asked = list(map(target, dict.fromkeys(targets)))
    found: dict[Target, tuple[Hit, str]] = {}
    for folder in dict.fromkeys(each.file for each in asked if each.is_folder):
        lists = advice(f"ls {folder}", settings_for(index_folder))
        note(f"quire: {visible(f'{folder}: is a folder; {lists} lists its documents')}")
    for are_files in (True, False):
        wanted = [each for each in asked if each.is_file == are_files and not each.is_folder]
        if wanted:
            paths = [each.file for each in wanted if are_files]
            with opened(paths, index_folder=index_folder, update=not no_update, begin=are_files) as place:
                for each in wanted:
                    hit = _get(place, each, children=children, max_tokens=max_tokens or None)
                    found |= {each: (hit, place.file(hit))} if hit else {}
                _forget_new(place)
    ordered = [found[each] for each in asked if each in found]
    if as_json:
        write_json_array(record(hit, file) for hit, file in ordered)
    else:
        Printer(sys.stdout, full=True).show([hit for hit, _ in ordered], [file for _, file in ordered])
    return 0 if len(ordered) == len(asked) else NOTHING_FOUND


def _forget_new(place: Opened) -> None:
    """Take out of the index what was only read to be printed: nobody asked for it to be searched."""
    for each in place.chosen.places:
        if each.is_new:
            with suppress(BusyError, StoreError):  # another process is at it; it stays, and may be removed by hand
                place.index.remove(each.tree, wait=0.0)


def target(text: str) -> Target:
    """What a user asks for: a path is a path even if it looks like one with something behind it."""
    if exists(text):
        return Target(text, "")
    match = _TARGET.fullmatch(text)
    return Target(match["file"], match["rest"]) if match else Target(text, "")


def document(place: Opened, file: str) -> str:
    """The id of the document that a file on the disk is."""
    found = located(file, place.folders)
    if found is None:
        return file
    tree, part = found
    return f"{tree}:{part or os.path.basename(file)}"  # noqa: PTH119  of a tree that is one file


def existing(place: Opened, name: str, own: str, file: str) -> str:
    """What is in the index by this name, or in the one document of that file name, which is told.

    ``own`` is the document in the name, which the user called ``file``: the id of what is not kept in the index leads
    nowhere.
    """
    try:
        place.index.get(name)
    except NotFoundError as error:
        if len(error.near) != 1:
            raise NotFoundError(error.problem.replace(own, file), error.advice.replace(own, file)) from error
        found = existing(place, error.near[0], own, file)
        note(f"quire: {visible(f'{error.problem}; showing {error.near[0]}'.replace(own, file))}")
        return found
    return name


def _get(place: Opened, each: Target, *, children: bool, max_tokens: int | None) -> Hit | None:
    own = document(place, each.file) if each.is_file else each.file
    name = own + each.rest
    try:
        name = existing(place, name, own, each.file)
    except NotFoundError as error:
        place.say(error)
        return None
    hit = place.index.get(name, children=children, max_tokens=max_tokens)
    whole = place.index.get(name, children=children) if max_tokens and not hit.text else hit
    if place.is_left_out(hit.tree, name):
        return None
    if whole.text and not hit.text:
        most, size = count_of(max_tokens or 0, "token"), count_of(with_breadcrumb(whole), "token")
        note(f"quire: {visible(name)}: nothing of it fits in {most}; with its breadcrumb it has {size}")
        return None
    return hit
