"""Options that several commands share and that need no tokenizer; ``cut_options`` has the others."""

from __future__ import annotations

from typing import Any, get_args

import click

from quire.search.fusion import Mode


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Refuse an empty path: it comes from a variable that is not set, and Python would take the current folder."""
    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter("is empty; name a file or a folder", ctx, param)
    return value


paths_argument = click.argument("paths", nargs=-1, metavar="[PATH...]", callback=not_empty)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value and nothing else.")
html_option = click.option(
    "--html", metavar="FILE", callback=not_empty, help="Write a page with plots to a file, instead of the table."
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print errors only, no summary.")
index_option = click.option(
    "--index", "index_folder", metavar="DIR", help="The index. [default: .quire beside quire.toml, else here]"
)
no_update_option = click.option("--no-update", is_flag=True, help="Answer from the index as it is.")
mode_option = click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="words",
    show_default=True,
    help="How to search; the other modes need `quire index --vectors`.",
)
