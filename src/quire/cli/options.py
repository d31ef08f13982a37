"""The options that the commands share that read and cut, and what they stand for; what is impossible is refused here.

``index_options`` has those of the commands about the index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import click

from quire import options as run_options
from quire import pipeline, size
from quire.cli.arguments import not_empty
from quire.cli.documents import Text
from quire.counter import TokenCounter
from quire.errors import GuardError, OptionError, QuireError, TokenizerError
from quire.model import Syntax
from quire.read.source import OnUndecodable
from quire.record import Chunks


def _counter(ctx: click.Context, param: click.Parameter, value: str | None) -> TokenCounter | None:
    """The counter that a name or a file stands for; it counts once here, so that it is known to work."""
    if value is None:
        return None
    try:
        counter = size.resolve(value, run_options.DEFAULT_TOKENIZER)
    except QuireError as error:
        problem = f"{value}: no such tokenizer file" if isinstance(error, TokenizerError) else f"{value!r} is unknown"
        choices = (
            f"{', '.join(size.NAMES)}, an OpenAI model such as gpt-4o, or the path of a Hugging Face tokenizer.json"
        )
        raise click.BadParameter(f"{problem}; choose {choices}", ctx, param) from error
    try:
        counter.count("a")
    except QuireError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    return counter


def _tokenizer(default: str) -> Callable[..., Any]:
    kinds = f"{', '.join(size.NAMES)}, an OpenAI model such as gpt-4o, or a Hugging Face tokenizer.json"
    meaning = f"What counts tokens: {kinds}. [default: {default}]"
    return click.option("-t", "--tokenizer", callback=_counter, metavar="NAME|FILE", help=meaning)


tokenizer_option = _tokenizer(run_options.DEFAULT_TOKENIZER)
cut_tokenizer_option = _tokenizer(f"{run_options.DEFAULT_TOKENIZER}; {run_options.TOKENIZERS['sections']} for sections")
title_option = click.option("--title", help="The title, in place of the document's own.")
syntax_option = click.option(
    "--syntax", type=click.Choice(get_args(Syntax)), help="Markdown or text, whatever the file name says."
)
errors_option = click.option(
    "--errors",
    type=click.Choice(get_args(OnUndecodable)),
    default="strict",
    show_default=True,
    help="Refuse bytes that are not UTF-8, or replace them with a warning.",
)
jobs_option = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many processes share the work; 1: this one alone. [default: one a core, if there is enough to do]",
)


def _of(name: str) -> str:
    """The strategies that have an option, with their defaults."""
    return ", ".join(f"{strategy}: {own[name]}" for strategy, own in run_options.OWN.items() if name in own)


def _size(flag: str, meaning: str) -> Callable[..., Any]:
    name = flag.removeprefix("--").replace("-", "_")
    return click.option(flag, type=int, metavar="N", help=f"{meaning.capitalize()} ({_of(name)}).")


def _flag(flag: str, meaning: str) -> Callable[..., Any]:
    name = flag.removeprefix("--").replace("-", "_")
    both = f"{flag}/--no-{flag.removeprefix('--')}"
    return click.option(both, default=None, help=f"{meaning.capitalize()} ({_of(name)}).")


_INPUT_OPTIONS = (
    click.argument("paths", nargs=-1, metavar="[PATH...]", callback=not_empty),
    syntax_option,
    errors_option,
    click.option("--follow", is_flag=True, help="Follow symbolic links in directories."),
    click.option("--hidden", is_flag=True, help="Take hidden files in directories too."),
)
_CUT_OPTIONS = (
    click.option(
        "-s",
        "--strategy",
        type=click.Choice(list(run_options.OWN)),
        help=f"How to cut. [default: {run_options.DEFAULT_STRATEGY}]",
    ),
    cut_tokenizer_option,
    title_option,
    click.option("--content-type", metavar="NAME", help="The first part of every id. [default: doc]"),
    click.option(
        "--breadcrumb",
        "breadcrumb_mode",
        type=click.Choice(get_args(run_options.BreadcrumbMode)),
        help="When the heading path stands above the text. [default: conditional]",
    ),
    click.option(
        "--slugs", type=click.Choice(get_args(run_options.Slugs)), help="How anchors are made. [default: github]"
    ),
    click.option("--tree", metavar="NAME", help="Strategy tree: the first part of node ids. [default: content type]"),
    click.option("--timestamps", is_flag=True, default=None, help="Say in the metadata when a chunk was made."),
    _size("--target", "about how large the parts of long blocks are"),
    _size("--hard-cap", "the most tokens to embed"),
    _flag("--merge-siblings", "sections side by side may share a chunk"),
    _size("--min-tokens", "what is smaller joins something"),
    _size("--max-tokens", "the most tokens to embed"),
    _size("--max-depth", "deeper headings are text"),
    _size("--target-tokens", "about how large a chunk is"),
    _size("--overlap-sentences", "how many sentences of the chunk before are repeated"),
    _flag("--normalize", "make white space regular"),
    click.option(
        "--guard",
        type=click.Choice(get_args(run_options.Guard)),
        help=f"What happens to chunks that are not worth embedding ({_of('guard')}).",
    ),
)


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that reads documents."""
    return _decorated(command, _INPUT_OPTIONS)


def cut_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that cuts documents."""
    return _decorated(command, _CUT_OPTIONS)


def _decorated(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def _typed(name: str) -> str:
    """How an option is called on the command line."""
    return "--breadcrumb" if name == "breadcrumb_mode" else f"--{name.replace('_', '-')}"


def cutter(
    strategy: str, *, title: str | None, syntax: Syntax | None, tokenizer: TokenCounter | None, **options: Any
) -> Callable[[Text], Chunks]:
    """What cuts a document, with options that are known to be possible."""
    given = {name: value for name, value in options.items() if value is not None}  # those of one strategy only
    known = {**given, "tokenizer": tokenizer.name if tokenizer else run_options.DEFAULT_TOKENIZER}
    try:
        run_options.refuse_others(strategy, given, _typed, ("title", "syntax"))
        run_options.build(strategy, known, _typed)
    except OptionError as error:
        raise click.UsageError(str(error)) from error

    def cut(document: Text) -> Chunks:
        try:
            return pipeline.chunk(
                document.text, strategy, path=document.path, title=title, syntax=syntax, tokenizer=tokenizer, **given
            )
        except GuardError as error:
            raise error.advising("correct it, or use --guard drop or --guard warn") from error

    return cut
