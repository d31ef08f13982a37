"""``quire_command`` makes a command of a function whose keyword parameters declare its arguments and options.

    @quire_command("quire init", "quire init docs")
    def command(*, folder: str = argument("[FOLDER]", default="."), force: bool = option("Replace it.", "-f")) -> int:

A parameter's name is the flag, and its type says the rest: a ``bool`` is a flag, a ``Literal`` a choice, a ``tuple``
repeatable. ``cut_options`` has the options that need a tokenizer.
"""

import os
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
from msgspec import Struct

from quire.cli import output
from quire.cli.command_group import COMMANDS
from quire.embed.embed_settings import EmbedSettings
from quire.model.validation import Field, convert, fields
from quire.workspace.settings import CONFIG_VARIABLE

_FLAGS = {"breadcrumb_mode": "--breadcrumb", "version": "--model-version"}  # of fields whose names are no flags
_METAVARS = {
    "embedder": "NAME|FOLDER", "endpoint": "URL", "base_url": "URL", "version": "TEXT", "page_marker": "REGEX",
}  # fmt: skip
_MODEL_OPTIONS = ("embedder", "endpoint", "model", "version", "window", "dimensions", "requests_per_minute")
"""The settings of an embedding model that are options, too; the others are only in quire.toml."""
Chosen = Mapping[str, Any]  # the values of several options, by name
_HELP = {"help_option_names": ["-h", "--help"]}


class Declared(Struct, frozen=True):
    """The default of a command's parameter, which declares what it is on the command line."""

    parameters: Callable[[str, Any], list[click.Parameter]]  # made from the parameter's name and type
    collect: Callable[..., Any] | None = None  # makes one value of those of several options


def flag_name(name: str) -> str:
    """The flag of an option."""
    return _FLAGS.get(name) or f"--{name.replace('_', '-')}"


def option(text: str, *names: str, least: int | None = None, most: int | None = None, **settings: Any) -> Any:
    """An option with a help text; ``names`` are flags, unless the parameter's name is the flag, and a metavar.

    An option with a metavar refuses an empty value, unless it has a default or a callback of its own.
    """

    def parameters(name: str, kind: Any) -> list[click.Parameter]:
        flags = [flag for flag in names if flag.startswith("-")]
        long = [] if any(flag.startswith("--") for flag in flags) else [flag_name(name)]
        values = _click_type(kind)
        for metavar in (each for each in names if each not in flags):
            values |= {"metavar": metavar} | ({} if "default" in settings else {"callback": not_empty})
        if kind is int or (least, most) != (None, None):
            values["type"] = click.IntRange(least, most)
        return [click.Option([*flags, *long, name], help=text, **{**values, **settings})]

    return Declared(parameters)


def argument(metavar: str, **settings: Any) -> Any:
    """An argument; a ``tuple`` takes any number of words."""

    def parameters(name: str, kind: Any) -> list[click.Parameter]:
        number = {"nargs": -1} if get_origin(kind) is tuple else {}
        return [click.Argument([name], **{"metavar": metavar, "callback": not_empty, **number, **settings})]

    return Declared(parameters)


def combined(function: Callable[..., Any]) -> Any:
    """Options that make one value: the parameters of ``function`` declare them, and it returns the value."""
    options = [option for options in _parameters(function).values() for option in options]
    return Declared(lambda _name, _kind: options, function)


def _parameters(function: Any) -> dict[str, list[click.Parameter]]:
    function = vars(function).get("__init__", function)  # of a class
    kinds = get_type_hints(function)
    declared: Mapping[str, Declared] = function.__kwdefaults__
    return {name: value.parameters(name, kinds[name]) for name, value in declared.items()}


def _click_type(kind: Any) -> dict[str, Any]:
    if NoneType in get_args(kind):
        return _click_type(next(member for member in get_args(kind) if member is not NoneType))
    if kind is bool:
        return {"is_flag": True}
    if kind is int:
        return {"type": int, "metavar": "N"}
    if get_origin(kind) is Literal:
        return {"type": click.Choice(get_args(kind))}
    if get_origin(kind) is tuple:
        return {"multiple": True} if ... in get_args(kind) else {"nargs": len(get_args(kind))}
    return {}


def quire_command(*examples: str) -> Callable[[Callable[..., int]], click.Command]:
    """Make a command, with its line in ``COMMANDS`` and its docstring as help; a test runs the ``examples``."""
    epilog = "\n  ".join(["\b\nExamples:", *examples])

    def decorator(function: Callable[..., int]) -> click.Command:
        parameters = _parameters(function)
        collected = {name: value.collect for name, value in (function.__kwdefaults__ or {}).items() if value.collect}

        def call(**values: Any) -> int:
            for name, collect in collected.items():
                values[name] = collect(**{str(one.name): values.pop(str(one.name)) for one in parameters[name]})
            return function(**values)

        params = [parameter for declared in parameters.values() for parameter in declared] + _EVERYWHERE
        line = COMMANDS[function.__module__.rpartition(".")[2].replace("_", "-")]
        text = f"{line}\n\n    {function.__doc__}"
        # click remembers the names of --help from the first context
        return click.Command(None, _HELP, callback=call, params=params, help=text, epilog=epilog)

    return decorator


def _use_config(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Set the environment variable until the command ends, so that processes that it starts have it, too."""
    if value is not None:
        before = os.environ.pop(CONFIG_VARIABLE, "")  # an empty variable counts as none
        os.environ[CONFIG_VARIABLE] = value
        ctx.call_on_close(lambda: os.environ.update({CONFIG_VARIABLE: before}))


def _everywhere(text: str, *flags: str, **settings: Any) -> click.Option:
    def choose(_ctx: click.Context, param: click.Parameter, value: Any) -> None:
        setattr(output.Choices, str(param.name), value)

    return click.Option([*flags], help=text, expose_value=False, **{"callback": choose, **settings})


_COLOURS = click.Choice(["auto", "always", "never"])
_EVERYWHERE = [
    _everywhere("Use this file, not the nearest quire.toml.", "--config", metavar="FILE", callback=_use_config),
    _everywhere("Print errors only: no notes, no summary.", "-q", "--quiet", "is_quiet", is_flag=True),
    _everywhere("List every finding, and what was left out.", "-v", "--verbose", "is_verbose", is_flag=True),
    _everywhere("Colours. [default: auto, on a terminal]", "--color", "colour", type=_COLOURS, default="auto"),
]


def refuse(is_wrong: object, problem: str) -> None:
    """Raise a UsageError if the options are wrong."""
    if is_wrong:
        raise click.UsageError(problem)


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Refuse an empty path: it comes from a variable that is not set, and Python would take the current folder."""
    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter("is empty; name a file or a folder", ctx, param)
    return value


def field_option(field: Field, name: str, *flags: str, more: str = "", **settings: Any) -> click.Option:
    """An option for a field of a struct, which declares its type and description; ``more`` ends its help."""
    text, flag = f"{field.sentence}{more}", flag_name(name)
    if isinstance(field.default, bool):
        return click.Option([f"{flag}/--no-{flag.removeprefix('--')}", name], default=None, help=text, **settings)
    kind = type(field.default) if field.default is not None else str if field.limits == (None, None) else int
    metavar = {"type": kind, "metavar": _METAVARS.get(name, "NAME") if kind is str else "N"}
    values: Any = {"type": click.Choice(field.choices)} if field.choices else metavar
    return click.Option([flag, *flags, name], help=text, **{**values, **settings})


def chosen_embedder(chosen: Mapping[str, Any], configured: Mapping[str, Any]) -> str | EmbedSettings | None:
    """The model of the command line over that of the user's own file, for ``embed.resolve``; None for neither."""
    others = [flag_name(name) for name in chosen if name != "embedder"]
    if "embedder" in chosen and others:
        raise click.UsageError(f"{others[0]} is about an endpoint; leave out --embedder")
    if "embedder" in chosen or not (chosen or configured):
        return chosen.get("embedder")
    settings = convert(EmbedSettings, {**configured, **chosen}, flag_name)
    if others and not settings.endpoint:
        raise click.UsageError(f"{others[0]} needs --endpoint")
    return settings if settings.endpoint else settings.embedder


EMBEDDING: Any = Declared(
    lambda *_: [field_option(fields(EmbedSettings)[name], name) for name in _MODEL_OPTIONS],
    lambda **values: {name: value for name, value in values.items() if value is not None},
)
"""Options for a model; the command gets those that the user set, for ``chosen_embedder``."""
PATHS = argument("[PATH...]")
JSON = option("Print one JSON value and nothing else.", "--json")
FindingForm = Literal["text", "json", "github", "sarif"]
_FORMS = "github: annotations of a workflow; sarif: for code scanning; json: as --json."
FORMAT = option(_FORMS, "--format", default="text", show_default=True)
