"""``quire_command``, which makes a command with examples; ``field_option``; and options that several commands share.

``cut_options`` has those that need a tokenizer.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import reduce, wraps
from typing import Any, get_args

import click

from quire.cli import output
from quire.embed_settings import EmbedSettings
from quire.search.fusion import Mode
from quire.search.ranking_settings import SearchSettings
from quire.settings.precedence import CONFIG_VARIABLE
from quire.validation import Field, check, convert, fields


class Command(click.Command):
    """A command with options that all commands have; its help ends with examples."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self.examples = examples
        self.params += [_CONFIG, _QUIET, _VERBOSE, _COLOR]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        with formatter.section("Examples"):
            formatter.write_text("\b\n" + "\n".join(self.examples))


def quire_command(*examples: str, cls: type[Command] = Command) -> Callable[[Callable[..., Any]], Command]:
    """A decorator that makes a command; ``examples`` are command lines, which a test runs."""

    def decorator(function: Callable[..., Any]) -> Command:
        names = {"help_option_names": ["-h", "--help"]}  # click remembers them from the first context
        command: Command = click.command(cls=cls, examples=examples, context_settings=names)(function)
        return command

    return decorator


def _use_config(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Set the environment variable until the command ends, so that processes that it starts have it, too."""
    if value is not None:
        before = os.environ.pop(CONFIG_VARIABLE, "")  # an empty variable counts as none
        os.environ[CONFIG_VARIABLE] = value
        ctx.call_on_close(lambda: os.environ.update({CONFIG_VARIABLE: before}))


_CONFIG = click.Option(
    ["--config"],
    metavar="FILE",
    expose_value=False,
    callback=_use_config,
    help="Use this file, not the nearest quire.toml.",
)


def _chosen(name: str, flags: Sequence[str], **options: Any) -> click.Option:
    """An option that every command has; its value is ``output.Choices``'s."""

    def choose(_ctx: click.Context, _param: click.Parameter, value: Any) -> None:
        setattr(output.Choices, name, value)

    return click.Option([*flags], expose_value=False, callback=choose, **options)


_QUIET = _chosen("is_quiet", ["-q", "--quiet"], is_flag=True, help="Print errors only: no notes, no summary.")
_VERBOSE = _chosen("is_verbose", ["-v", "--verbose"], is_flag=True, help="List every finding, and what was left out.")
_COLOR = _chosen(
    "colour",
    ["--color"],
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colours and links. [default: auto, on a terminal]",
)


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Refuse an empty path: it comes from a variable that is not set, and Python would take the current folder."""
    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter("is empty; name a file or a folder", ctx, param)
    return value


def field_option(field: Field, *names: str, more: str = "", **options: Any) -> Callable[..., Any]:
    """A click option with the type and the description that a struct declares; ``more`` ends its help."""
    text = f"{field.sentence}{more}"
    if isinstance(field.default, bool):
        flag, *_, parameter = names
        return click.option(f"{flag}/--no-{flag.removeprefix('--')}", parameter, default=None, help=text, **options)
    if field.choices:
        return click.option(*names, type=click.Choice(field.choices), help=text, **options)
    kind = str if field.default is None else type(field.default)
    return click.option(*names, type=kind, help=text, **{"metavar": "NAME" if kind is str else "N", **options})


def _setting_option(name: str, *flags: str) -> Callable[..., Any]:
    """An option for a setting of search."""
    field = fields(SearchSettings)[name]

    def checked(_ctx: click.Context, _param: click.Parameter, value: Any) -> Any:
        return None if value is None else check(flags[-1], value, field.type)

    return field_option(field, *flags, callback=checked)


def all_of(*options: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that adds several options."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


_EMBEDDING = ("embedder", "endpoint", "model", "version", "window", "dimensions", "requests_per_minute")
"""The settings of an embedding model that are options, too; the others are only in quire.toml."""
_EMBEDDING_METAVARS = {"endpoint": {"metavar": "URL"}, "version": {"metavar": "TEXT"}}


def _embedding_flag(name: str) -> str:
    return "--model-version" if name == "version" else f"--{name.replace('_', '-')}"


def embedding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for a model; the command gets those that the user set as ``embedding``, for ``chosen_embedder``."""

    @wraps(command)
    def with_embedding(**options: Any) -> Any:
        values = {name: options.pop(f"embedding_{name}") for name in _EMBEDDING}
        return command(embedding={name: value for name, value in values.items() if value is not None}, **options)

    declared = fields(EmbedSettings)
    decorated: Callable[..., Any] = all_of(
        *(
            field_option(
                declared[name], _embedding_flag(name), f"embedding_{name}", **_EMBEDDING_METAVARS.get(name, {})
            )
            for name in _EMBEDDING
        )
    )(with_embedding)
    return decorated


def chosen_embedder(chosen: Mapping[str, Any], configured: Mapping[str, Any]) -> str | EmbedSettings | None:
    """The model of the command line over that of the user's own file, for ``embed.resolve``; None for neither."""
    others = [_embedding_flag(name) for name in chosen if name != "embedder"]
    if "embedder" in chosen and others:
        raise click.UsageError(f"{others[0]} is about an endpoint; leave out --embedder")
    if "embedder" in chosen or not (chosen or configured):
        return chosen.get("embedder")
    settings = convert(EmbedSettings, {**configured, **chosen}, _embedding_flag)
    if others and not settings.endpoint:
        raise click.UsageError(f"{others[0]} needs --endpoint")
    return settings if settings.endpoint else settings.embedder


paths_argument = click.argument("paths", nargs=-1, metavar="[PATH...]", callback=not_empty)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value and nothing else.")
html_option = click.option(
    "--html", metavar="FILE", callback=not_empty, help="Write a page with plots to a file, instead of the table."
)
list_option = click.option(
    "--list", "as_list", is_flag=True, help="One line per result: path, breadcrumb, tokens, score."
)
limit_option = _setting_option("limit", "-n", "--limit")
max_tokens_option = _setting_option("max_tokens", "--max-tokens")
index_option = click.option(
    "--index",
    "index_folder",
    metavar="DIR",
    callback=not_empty,
    help="The index. [default: .quire beside quire.toml, else in the cache folder]",
)
no_update_option = click.option("--no-update", is_flag=True, help="Answer from the index as it is.")
mode_option = click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="words",
    show_default=True,
    help="How to search; the other modes need `quire index --vectors`.",
)
