"""``quire manifest``: documents and headings with token counts, on one page for a prompt."""

from __future__ import annotations

import click

from quire.cli.command_group import NOTHING_FOUND
from quire.cli.cut_options import tokenizer_option
from quire.cli.open_index import open_index
from quire.cli.output import echo, note, visible, write_json
from quire.cli.shared_options import index_option, json_option, no_update_option, paths_argument
from quire.manifest import Manifest, manifest
from quire.options import DEFAULT_TOKENIZER
from quire.size import resolve


@click.command()
@paths_argument
@click.option("--max-tokens", type=click.IntRange(64), default=2_000, metavar="N", help="The most. [default: 2,000]")
@tokenizer_option
@json_option
@index_option
@no_update_option
def command(
    *,
    paths: tuple[str, ...],
    max_tokens: int,
    tokenizer: str | None,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """List documents and headings on one page.

    Each line has an id for `quire get`, a title and a token count. If the headings do not fit into --max-tokens, deep
    ones are left out, then all; then folders stand for their documents. PATH is a folder or a file, as in `quire
    search`. The exit code is 1 if there are no documents.
    """
    count = resolve(tokenizer, DEFAULT_TOKENIZER).count
    with open_index(paths, index_folder=index_folder, update=not no_update) as opened:
        wanted = opened.path_filters(())
        trees = {each.tree for each in opened.selection}
        documents = [each for each in opened.index.documents(path=wanted) if each.tree in trees]
        listed = manifest(
            documents,
            opened.index.outline,
            lambda each: count(_text(each)) <= max_tokens,
            max_tokens=max_tokens,
        )
    if as_json:
        write_json({"rows": [row._asdict() for row in listed.rows], "total": listed.total})
    else:
        echo(_text(listed).removesuffix("\n"))
    if len(listed.rows) < listed.total:
        note(f"only {len(listed.rows)} of {listed.total} lines fit; raise --max-tokens")
    return 0 if documents else NOTHING_FOUND


def _text(listed: Manifest) -> str:
    return "".join(f"{visible(row.line)}\n" for row in listed.rows)
