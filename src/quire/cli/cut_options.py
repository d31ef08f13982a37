"""Options of the commands that read and cut documents, and ``Cutter``, which cuts with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, get_args

import click

from quire import options as run_options
from quire import pipeline, size
from quire.cli.input_documents import Inputs, Text
from quire.cli.shared_options import paths_argument
from quire.counter import TokenCounter
from quire.errors import GuardError, OptionError, QuireError, TokenizerError
from quire.model import Syntax
from quire.read.source import OnUndecodable
from quire.record import Chunks

_NEEDS_ENGINE = "\N{GOTHIC LETTER AHSA}"
"""A text that a counter cannot count without its full engine; see decisions/tokenizer.md."""


def _tokenizer_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse a tokenizer that is unknown or cannot count."""
    if value is None:
        return None
    try:
        counter = size.resolve(value, run_options.DEFAULT_TOKENIZER)
    except QuireError as error:
        problem = f"{value}: no such tokenizer file" if isinstance(error, TokenizerError) else f"{value!r} is unknown"
        files = "or the path of a Hugging Face tokenizer.json"
        choices = f"choose {', '.join(size.NAMES)}, an OpenAI model such as gpt-4o, {files}"
        raise click.BadParameter(f"{problem}; {choices}", ctx, param) from error
    try:
        counter.count("a")
    except QuireError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    return value


def _tokenizer(default: str) -> Callable[..., Any]:
    kinds = f"{', '.join(size.NAMES)}, an OpenAI model such as gpt-4o, or a Hugging Face tokenizer.json"
    text = f"The tokenizer that counts: {kinds}. [default: {default}]"
    return click.option("-t", "--tokenizer", callback=_tokenizer_name, metavar="NAME|FILE", help=text)


tokenizer_option = _tokenizer(run_options.DEFAULT_TOKENIZER)
cut_tokenizer_option = _tokenizer(f"{run_options.DEFAULT_TOKENIZER}; {run_options.TOKENIZERS['sections']} for sections")
title_option = click.option("--title", help="The title, instead of the document's own.")
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


def _defaults(name: str) -> str:
    """The strategies that have an option, with their defaults."""
    return ", ".join(f"{strategy}: {own[name]}" for strategy, own in run_options.OWN.items() if name in own)


def _size(flag: str, meaning: str) -> Callable[..., Any]:
    name = flag.removeprefix("--").replace("-", "_")
    return click.option(flag, type=int, metavar="N", help=f"{meaning} ({_defaults(name)}).")


def _flag(flag: str, meaning: str) -> Callable[..., Any]:
    name = flag.removeprefix("--").replace("-", "_")
    both = f"{flag}/--no-{flag.removeprefix('--')}"
    return click.option(both, default=None, help=f"{meaning} ({_defaults(name)}).")


_INPUT_OPTIONS = (
    paths_argument,
    syntax_option,
    errors_option,
    click.option("--follow", is_flag=True, help="Follow symbolic links in folders."),
    click.option("--hidden", is_flag=True, help="Read hidden files in folders, too."),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="The number of processes. [default: one per core if there is enough to do]",
    ),
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
        help="When to put the heading path above the text. [default: conditional]",
    ),
    click.option(
        "--slugs", type=click.Choice(get_args(run_options.Slugs)), help="The kind of anchors. [default: github]"
    ),
    click.option("--tree", metavar="NAME", help="Strategy tree: the first part of node ids. [default: content type]"),
    click.option("--timestamps", is_flag=True, default=None, help="Add the time of cutting to the metadata."),
    _size("--target", "The desired size of the parts of long blocks"),
    _size("--hard-cap", "The most tokens to embed"),
    _flag("--merge-siblings", "Sibling sections may share a chunk"),
    _size("--min-tokens", "Smaller sections join others"),
    _size("--max-tokens", "The most tokens to embed"),
    _size("--max-depth", "Deeper headings count as text"),
    _size("--target-tokens", "The desired size of a chunk"),
    _size("--overlap-sentences", "How many sentences of the previous chunk to repeat"),
    _flag("--normalize", "Normalize white space"),
    click.option(
        "--guard",
        type=click.Choice(get_args(run_options.Guard)),
        help=f"What to do with chunks that are not worth embedding ({_defaults('guard')}).",
    ),
)


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that reads documents; the command gets them as ``inputs``."""

    @wraps(command)
    def with_inputs(
        *, paths: tuple[str, ...], errors: OnUndecodable, follow: bool, hidden: bool, jobs: int | None, **options: Any
    ) -> Any:
        inputs = Inputs.load(paths, errors=errors, follow=follow, hidden=hidden, jobs=jobs)
        return command(inputs=inputs, **options)

    return _decorated(with_inputs, _INPUT_OPTIONS)


def cut_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that cuts documents by one strategy."""
    return _decorated(command, _CUT_OPTIONS)


def _decorated(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True)
class Cutter:
    """Cuts documents by a strategy with valid options; picklable."""

    strategy: str
    tokenizer: str | None
    """A name or file; None for the strategy's own."""
    options: Mapping[str, Any]

    @classmethod
    def of(cls, *, strategy: str, tokenizer: str | None, **options: Any) -> Cutter:
        """A Cutter with the options of a command; invalid ones raise a UsageError."""
        given = {name: value for name, value in options.items() if value is not None}
        own = {name: value for name, value in given.items() if name not in ("title", "syntax")}
        try:
            run_options.refuse_others(strategy, own, _flag_name, ("title", "syntax"))
            run_options.build(strategy, {**own, "tokenizer": counter_for(strategy, tokenizer).name}, _flag_name)
        except OptionError as error:
            raise click.UsageError(str(error)) from error
        return cls(strategy, tokenizer, given)

    def __call__(self, document: Text) -> Chunks:
        """The chunks of a document."""
        try:
            return pipeline.chunk(
                document.text, self.strategy, path=document.path, tokenizer=self.tokenizer, **self.options
            )
        except GuardError as error:
            raise error.advising("correct it, or use --guard drop or --guard warn") from error

    def prepare(self) -> None:
        """Load the tokenizer's engine."""
        load_engine(counter_for(self.strategy, self.tokenizer))


def _flag_name(name: str) -> str:
    return "--breadcrumb" if name == "breadcrumb_mode" else f"--{name.replace('_', '-')}"


def counter_for(strategy: str, tokenizer: str | None) -> TokenCounter:
    """The counter of that name, else the strategy's own."""
    return size.resolve(tokenizer, run_options.TOKENIZERS.get(strategy, run_options.DEFAULT_TOKENIZER))


def load_engine(counter: TokenCounter) -> None:
    """Load all that ``counter`` may need, at once."""
    counter.count(_NEEDS_ENGINE)
