"""What quire.toml says for the commands that cut: options under ``[chunk]``, and trees where no path is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from quire import options as run_options
from quire import size
from quire.cli.places import choose, here, reachable
from quire.errors import QuireError
from quire.settings import Tree, load


class Configured(NamedTuple):
    """What a command reads, and the options that the files set."""

    paths: tuple[str, ...]
    """Those that were given, else those of the trees."""
    trees: Mapping[str, Tree]
    """The trees by path, where no path was given."""
    chunk: Mapping[str, Any]
    """The options under ``[chunk]``."""

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the command line, and of the files those that are not given and that the strategy has."""
        strategy = given["strategy"] or self.chunk.get("strategy", run_options.DEFAULT_STRATEGY)
        known = {name: value for name, value in self.chunk.items() if name in run_options.valid_names(strategy)}
        if "tokenizer" in known:
            known["tokenizer"] = size.resolve(known["tokenizer"], run_options.DEFAULT_TOKENIZER)
        return {
            **{name: known.get(name) if value is None else value for name, value in given.items()},
            "strategy": strategy,
        }


def configured(paths: tuple[str, ...]) -> Configured:
    """What the files say for a command that was given ``paths``."""
    try:
        folder = here()
    except QuireError:
        if not paths:
            raise
        return Configured(paths, {}, {})
    settings = load(folder)
    if paths:
        return Configured(paths, {}, settings.chunk)
    if not settings.trees:
        raise click.UsageError("Missing argument 'PATH...'; name files or folders, or set [trees] in quire.toml.")
    chosen = choose((), (), settings, {})
    trees = {reachable(place.folder): settings.trees[place.tree] for place in chosen.places}
    return Configured(tuple(trees), trees, settings.chunk)
