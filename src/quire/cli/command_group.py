"""The commands, loaded when called; errors become one line on standard error and an exit code, Ctrl-C becomes 130."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

import click

from quire import ISSUES, __version__
from quire.cli import is_interrupt
from quire.cli.exit_codes import ERROR, INTERRUPTED, NOTHING_FOUND
from quire.cli.output import Progress, discard, message, note, visible
from quire.errors import IndexDamagedError, NotFoundError, QueryError, QuireError, did_you_mean

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Embed documents": {
        "chunk": "Cut documents into chunks.",
        "stats": "Compare the strategies on your documents.",
        "sync": "Sync documents to a vector store.",
        "migrate": "Convert chunk records of the old format.",
    },
    "Give agents documentation": {
        "search": "Find the sections that answer a query.",
        "get": "Print sections by id, or by file and heading or line.",
        "outline": "List documents, or the headings of one, with token counts.",
        "context": "Find the documentation that concerns some files.",
        "mcp": "Serve documents to agents over the Model Context Protocol.",
        "agents": "Show or write the configuration of agents.",
        "llms-txt": "Write llms.txt, the list of your pages for agents.",
    },
    "Look after documentation": {
        "verify": "Check that nothing is lost, altered or misplaced.",
        "links": "List broken links, or the links to a section.",
        "cite": "Check quotations against the documents.",
        "eval": "Measure how well the documents answer questions.",
        "web": "Show on a local page how documents are cut and searched.",
    },
    "Set up": {
        "init": "Write a quire.toml for the documents in a folder.",
        "add": "Add a folder or a git repository to quire.toml.",
        "index": "Bring the index up to date.",
        "status": "Show the state of the index.",
        "config": "Show every setting and where it came from.",
    },
}
"""Every command with its line of help, so that ``quire --help`` loads none of them."""
COMMANDS: Mapping[str, str] = {name: line for group in GROUPS.values() for name, line in group.items()}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in COMMANDS:
            meant = did_you_mean(cmd_name, COMMANDS)
            ctx.fail(f"no such command: {cmd_name}{meant}; the commands are {', '.join(COMMANDS)}")
        command: click.Command = import_module(f"quire.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="quire %(version)s")
def quire() -> None:
    """Markdown into pieces worth retrieving: nothing lost, exact positions, the heading tree kept."""


def run(arguments: Sequence[str]) -> int:
    """Run the command that ``arguments`` name and return the exit code; an error is printed and becomes one."""
    if sys.stdout is None:
        message("standard output is closed; there is nowhere to write to")
        return ERROR
    try:
        try:
            code = _call(arguments)
        except IndexDamagedError:  # it is remembered, so that the index is rebuilt the second time
            code = _call(arguments)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  Python's own exit code would mean "nothing found"
        if not is_interrupt(error):
            return _failed(error)
        message("interrupted")
        try:
            sys.stdout.flush()
        except (KeyboardInterrupt, OSError):  # the reader may be gone, too
            discard(sys.stdout)
        return INTERRUPTED
    return code


def _call(arguments: Sequence[str]) -> int:
    if instruction := os.environ.get("_QUIRE_COMPLETE"):
        from click.shell_completion import shell_complete  # noqa: PLC0415  only a shell asks for it

        return shell_complete(quire, {}, "quire", "_QUIRE_COMPLETE", instruction)
    if not arguments:
        note(quire.get_help(click.Context(quire, info_name="quire", **quire.context_settings)))
        return ERROR
    try:
        with quire.make_context("quire", list(arguments)) as context:
            context.call_on_close(Progress.clear)
            result = quire.invoke(context)
    except click.exceptions.Exit as end:  # --help, --version
        return end.exit_code
    return result if isinstance(result, int) else 0


def _failed(error: BaseException) -> int:
    match error:
        case click.ClickException():
            message(_usage_error(error))
        case QueryError():
            problem, _, pointer = str(error).partition("\n")  # the query with a caret below it
            message(problem)
            note("\n".join(map(visible, pointer.split("\n"))))
        case NotFoundError():
            message(str(error))
            return NOTHING_FOUND
        case QuireError():
            message(str(error))
        case OSError(filename=str() | bytes() as file):
            message(f"{os.fsdecode(file)}: {error.strerror}")
        case FileNotFoundError():  # only the current folder has no file name and can be missing
            message("the current folder is gone; change to another one")
        case BrokenPipeError():
            discard(sys.stdout)
            return 0  # the reader has what it wanted: `quire chunk … | head`
        case OSError():
            discard(sys.stdout)
            message(f"cannot write the output: {error.strerror or error}")
        case _:
            from traceback import format_exception  # noqa: PLC0415  only for a bug

            for line in format_exception(error):
                note("\n".join(map(visible, line.splitlines())))
            message(f"this is a bug in quire; please report it with the lines above at {ISSUES}")
    return ERROR


def _usage_error(error: click.ClickException) -> str:
    text = error.format_message().rstrip(".")
    text = f"{text[:1].lower()}{text[1:]}"
    context = getattr(error, "ctx", None)
    if context is None:
        return text
    if isinstance(error, click.NoSuchOption):
        parameters = context.command.get_params(context)
        names = [name for one in parameters for name in one.opts if name.startswith("--")]
        meant = did_you_mean(error.option_name, names, cutoff=0.7)
        is_search = "query" in [one.name for one in parameters]
        dash = "put -- before a query that begins with a dash: quire search -- QUERY, or " if is_search else ""
        text = f"no such option: {error.option_name}{meant}; {dash}choose from {', '.join(names)}"
    return f"{text} (see {context.command_path} --help)"
