"""The commands, loaded when called; errors become one line on standard error and an exit code.

Exit codes are grep's: 0 done, 1 nothing found or a check failed, 2 an error. Data goes to standard output,
everything else to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

from quire import __version__
from quire.cli.interrupts import is_interrupt
from quire.cli.output import drop, note
from quire.cli.shown import visible
from quire.errors import QuireError, near

NOTHING_FOUND = 1
ERROR = 2
INTERRUPTED = 130

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "chunk": "Cut documents into chunks.",
        "config": "Show every value that is set, and where it came from.",
        "get": "Print sections by id, or by file and heading or line.",
        "index": "Bring the index up to date.",
        "init": "Write a quire.toml for the documents that are here.",
        "links": "List broken links.",
        "ls": "List what is in the index.",
        "migrate": "Turn chunk files of the old format into today's.",
        "outline": "Show a document's headings with token counts and lines.",
        "search": "Find the sections that answer a query.",
        "stats": "Compare what strategies make of your documents.",
        "status": "Show how the index is.",
        "verify": "Check that nothing is lost, altered or misplaced.",
    }
)
"""Every command with its one line of help, so that listing them loads none."""


class _OutputError(Exception):
    """Standard output cannot be written to; click would take the original error for its own."""


class _Commands(click.Group):
    """Commands in modules of their own, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"quire.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            ctx.fail(f"no such command: {args[0]}{near(args[0], COMMANDS)}; the commands are {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _told_apart():  # --help and --version are answered on the way
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _told_apart():
            return super().invoke(ctx)


@contextmanager
def _told_apart() -> Iterator[None]:
    """What click has its own ways with, as what ``guarded`` knows."""
    try:
        yield
    except KeyboardInterrupt:
        raise click.Abort from None  # click would write an empty line first
    except OSError as error:
        if error.filename is not None:  # not standard output, which has none
            from quire.read.source import unread  # noqa: PLC0415  writers and readers have errors of their own

            raise unread(str(error.filename), error) from error
        if isinstance(error, FileNotFoundError):  # nothing else has no name and can be missing
            raise QuireError("the current folder is gone", "change to another one") from error
        raise _OutputError from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="quire %(version)s")
def quire() -> None:
    """Markdown into pieces worth retrieving: nothing lost, exact positions, the heading tree kept."""


def run(arguments: Sequence[str]) -> int:
    """Run the command that ``arguments`` name; the result is the exit code."""
    return guarded(partial(_call, arguments))


def guarded(call: Callable[[], int]) -> int:
    """What ``call`` returns, or the exit code for what kept it from writing its output or from going on."""
    if sys.stdout is None:
        note("quire: standard output is closed; there is nowhere to write to")
        return ERROR
    try:
        code = call()
        sys.stdout.flush()
    except (_OutputError, OSError) as error:
        return _unwritten(error.__cause__ or error)
    except (KeyboardInterrupt, click.Abort):
        return _interrupted()
    return code


def _call(arguments: Sequence[str]) -> int:
    if not arguments:
        note(quire.get_help(click.Context(quire, info_name="quire", **quire.context_settings)))
        return ERROR
    try:
        result = quire.main(args=list(arguments), prog_name="quire", standalone_mode=False)
    except click.ClickException as error:
        note(f"quire: {visible(_explain(error))}")
        return error.exit_code
    except QuireError as error:
        if is_interrupt(error):
            raise click.Abort from error
        note(f"quire: {visible(str(error))}")
        return ERROR
    except (_OutputError, OSError, click.Abort):
        raise
    except Exception as error:  # a mistake in quire: Python's exit code for it would mean "nothing found"
        if is_interrupt(error):
            raise click.Abort from error
        import traceback  # noqa: PLC0415  for the one case that should not happen

        note("\n".join(visible(line) for line in traceback.format_exc().splitlines()))
        note("quire: this is a mistake in quire; please report it with the lines above")
        return ERROR
    return result if isinstance(result, int) else 0


def _explain(error: click.ClickException) -> str:
    """What was wrong with the command line, in one line, with what would be right."""
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    if isinstance(error, click.NoSuchOption):
        options = [each for each in context.command.get_params(context) if isinstance(each, click.Option)]
        message = f"no such option: {error.option_name}; choose from {', '.join(each.opts[-1] for each in options)}"
    return f"{message[:1].lower()}{message[1:]} (see {context.command_path} --help)"


def _unwritten(error: BaseException) -> int:
    drop(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return 0  # the reader has what it wanted: `quire chunk … | head`
    note(f"quire: cannot write the output: {getattr(error, 'strerror', None) or error}")
    return ERROR


def _interrupted() -> int:
    note("quire: interrupted")
    try:
        sys.stdout.flush()
    except (KeyboardInterrupt, OSError):  # the reader is gone as well, or does not read
        drop(sys.stdout)
    return INTERRUPTED
