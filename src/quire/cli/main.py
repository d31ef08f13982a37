"""The commands, loaded when called; errors become one line on standard error and an exit code.

Exit codes are grep's: 0 done, 1 nothing found or a check failed, 2 an error. Data goes to standard output,
everything else to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

import click

from quire import __version__
from quire.errors import QuireError

NOTHING_FOUND = 1
ERROR = 2
INTERRUPTED = 130

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "chunk": "Cut documents into chunks.",
        "outline": "Show a document's headings with token counts and lines.",
        "verify": "Check that nothing is lost, altered or misplaced.",
    }
)
"""Every command with its one line of help, so that listing them loads none."""


class _Commands(click.Group):
    """Commands in modules of their own, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"quire.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="quire %(version)s")
def quire() -> None:
    """Markdown into pieces worth retrieving: nothing lost, exact positions, the heading tree kept."""


def run(arguments: Sequence[str]) -> int:
    """Run the command that ``arguments`` name; the result is the exit code."""
    try:
        result = quire.main(args=list(arguments), prog_name="quire", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except QuireError as error:
        click.echo(f"quire: {error}", err=True)
        return ERROR
    except (KeyboardInterrupt, click.Abort):
        click.echo("quire: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has what it wanted (`quire chunk … | head`); Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return result if isinstance(result, int) else 0
