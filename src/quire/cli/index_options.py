"""The options that the commands about the index share; ``options`` has those of the commands that cut.

Apart from them, so that a search loads nothing that cuts or counts.
"""

from __future__ import annotations

from typing import Any

import click

from quire.settings import NUMBERS


class _Count(click.IntRange):
    """A whole number of at least ``min``, and of at most ``max`` if there is one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            wanted = f"of at least {self.min}" if self.max is None else f"from {self.min} to {self.max:,}"
            self.fail(f"{value!r} is not a whole number {wanted}", param, ctx)


BUDGET = _Count(0)
"""How many tokens there may be; 0 is no limit, as in a file."""
LIMIT = _Count(1, int(NUMBERS["search.limit"].most))
"""How many results there may be, as in a file."""
index_option = click.option(
    "--index",
    "index_folder",
    metavar="DIR",
    help="The folder of the index. [default: .quire beside quire.toml, else here]",
)
no_update_option = click.option("--no-update", is_flag=True, help="Answer from the index as it is.")
