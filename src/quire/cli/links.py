"""``quire links``: list broken links between documents."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from functools import partial
from typing import Any

import click

from quire import pipeline
from quire.cli.arguments import not_empty
from quire.cli.commands import NOTHING_FOUND
from quire.cli.configured import configured
from quire.cli.documents import Tally, exit_code, read_all, to_read
from quire.cli.options import errors_option
from quire.cli.output import Paint, count_of, echo, note, write_json
from quire.cli.shown import visible
from quire.link_targets import LinkTargets
from quire.model import Document
from quire.offsets import lines_at
from quire.read.source import OnUndecodable


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH...]", callback=not_empty)
@errors_option
@click.option("--json", "as_json", is_flag=True, help="Print the broken links as a JSON array, and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="No summary; errors only.")
def command(*, paths: tuple[str, ...], errors: OnUndecodable, as_json: bool, quiet: bool) -> int:
    """List broken links.

    Checks that the documents and sections exist that the documents of a folder link to. Prints each broken link with
    its file and line, the missing target and the nearest existing one. Links to other sites, to files other than
    documents, and to pages that may be outside of the folder are not checked. The exit code is 1 if a link is broken,
    and 2 if a document could not be read. Without PATH, checks the trees of quire.toml.
    """
    tally = Tally()
    known = configured(paths)
    trees: dict[str, dict[str, Document]] = defaultdict(dict)
    for text in read_all(to_read(known.paths, tally, errors=errors, trees=known.trees), tally):
        path = text.path or text.name
        trees[text.name.removesuffix(path)][path] = pipeline.parse(text.text, path=text.path)
        tally.documents += 1
    broken: list[dict[str, Any]] = []
    count = 0
    for folder, documents in trees.items():
        targets = LinkTargets(documents, exists=partial(_exists, folder))
        count += sum(map(len, targets.links.values()))
        for path, link, target in targets.broken():
            [line] = lines_at(documents[path].text, [link.start])
            record = {"file": folder + path, "line": line, "text": link.text, "target": link.target}
            broken.append({**record, "problem": target.problem, "nearest": target.nearest})
            if not as_json:
                _show(**broken[-1])
    if as_json:
        write_json(broken)
    for skipped in tally.skipped:
        note(f"{visible(skipped.path)}: {visible(skipped.reason)} [skipped]")
    code = exit_code(tally, known.paths)
    if tally.documents and not quiet:
        note(f"{count_of(count, 'link')} in {count_of(tally.documents, 'document')}, {len(broken):,} broken")
    return code or (NOTHING_FOUND if broken else 0)


def _exists(folder: str, path: str) -> bool:
    return os.path.exists(folder + path)  # noqa: PTH110  Path would change the path


def _show(*, file: str, line: int, text: str, target: str, problem: str, nearest: str) -> None:
    paint = Paint(sys.stdout)
    near = f"; nearest: {nearest}" if nearest else ""
    echo(f"{paint.place(f'{file}:{line}')}: {paint.plain(f'[{text}]({target}): {problem}{near}')}")
