"""The options that choose an embedding model, of all commands that make vectors; ``EmbedSettings`` declares them."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from quire.cli.output import Progress
from quire.embed_settings import EmbedSettings
from quire.validation import convert, fields
from quire.workspace import Workspace

_FLAGS = {
    "embedder": "NAME",
    "endpoint": "URL",
    "model": "NAME",
    "version": "TEXT",
    "window": "N",
    "dimensions": "N",
    "requests_per_minute": "N",
}
"""The settings that are options, too; the others are only in quire.toml."""


def embedding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for a model; the command gets those that were given as ``embedding``, for ``chosen_embedder``."""

    @wraps(command)
    def with_embedding(**options: Any) -> Any:
        given = {name: value for name in _FLAGS if (value := options.pop(_parameter(name))) is not None}
        return command(embedding=given, **options)

    decorated: Callable[..., Any] = with_embedding
    for name, shown in reversed(_FLAGS.items()):
        field = fields(EmbedSettings)[name]
        kind = click.Choice(field.choices) if field.choices else type(field.default)
        text = f"{field.meaning[:1].upper()}{field.meaning[1:]}."
        metavar = None if field.choices else shown
        decorated = click.option(_flag(name), _parameter(name), type=kind, metavar=metavar, help=text)(decorated)
    return decorated


def chosen_embedder(given: Mapping[str, Any], configured: Mapping[str, Any]) -> str | EmbedSettings | None:
    """The model of the command line over that of the user's own file, for ``embed.resolve``; None for neither."""
    others = [name for name in given if name != "embedder"]
    if "embedder" in given and others:
        raise click.UsageError(f"{_flag(others[0])} is about an endpoint; leave out --embedder")
    if "embedder" in given or not (given or configured):
        return given.get("embedder")
    settings = convert(EmbedSettings, {**configured, **given}, _flag)
    if others and not settings.endpoint:
        raise click.UsageError(f"{_flag(others[0])} needs --endpoint")
    return settings if settings.endpoint else settings.embedder


def update_vectors(workspace: Workspace, given: Mapping[str, Any]) -> None:
    """Embed what has no vector yet: with the model of the command line, else with that of the index."""
    with Progress() as progress:
        chosen = chosen_embedder(given, workspace.settings.embed) if given else None
        workspace.index.embed(chosen, on_progress=progress.step)


def _flag(name: str) -> str:
    return "--model-version" if name == "version" else f"--{name.replace('_', '-')}"


def _parameter(name: str) -> str:
    return f"embedding_{name}"
