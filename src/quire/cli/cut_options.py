"""Options of the commands that read and cut documents, and ``Cutter``, which cuts with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click

from quire import pipeline, size
from quire.auto_slugs import tree_options
from quire.cli.input_documents import InputDocument, Inputs, Text
from quire.cli.shared_options import all_of, field_option, paths_argument
from quire.counter import TokenCounter
from quire.errors import GuardError, OptionError, QuireError
from quire.model import Document, Syntax
from quire.options import (
    ALIASES,
    DEFAULT_STRATEGY,
    DEFAULT_TOKENIZER,
    STRATEGIES,
    Options,
    build,
    default_tokenizer,
)
from quire.read.discover import Found
from quire.record import Chunks
from quire.trees import OnUndecodable
from quire.validation import fields

_TOKENIZERS = f"{', '.join(size.NAMES)}, an OpenAI model such as gpt-4o, or a Hugging Face tokenizer.json"
ENGINES = ("local", "ray")
"""What runs a command on many documents: processes of this machine, or Ray."""
STRATEGY = click.Choice(list(STRATEGIES))
_NEEDS_ENGINE = "\N{GOTHIC LETTER AHSA}"
"""A text that a counter cannot count without its full engine; see decisions/tokenizer.md."""


def _valid_tokenizer(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    try:
        if value is not None:
            size.resolve(value, DEFAULT_TOKENIZER).count("a")
    except QuireError as error:
        raise click.BadParameter(f"{error.problem}; choose {_TOKENIZERS}", ctx, param) from error
    return value


def _tokenizer(default: str) -> Callable[..., Any]:
    text = f"Tokenizer for counting: {_TOKENIZERS}. [default: {default}]"
    return click.option("-t", "--tokenizer", callback=_valid_tokenizer, metavar="NAME|FILE", help=text)


def flag_name(name: str) -> str:
    """The flag of an option."""
    return "--breadcrumb" if name == "breadcrumb_mode" else f"--{name.replace('_', '-')}"


def _cut_option(name: str) -> Callable[..., Any]:
    """An option of cutting as its struct declares it; the help lists the strategies that have it."""
    owners = {strategy: fields(kind)[name] for strategy, kind in STRATEGIES.items() if name in fields(kind)}
    field = next(iter(owners.values()))
    if name in fields(Options):
        defaults = f" [default: {field.default}]" if field.default else ""
    else:
        defaults = f" ({', '.join(f'{owner}{_shown_default(declared.default)}' for owner, declared in owners.items())})"
    aliases = (flag_name(alias) for alias, meant in ALIASES.items() if meant == name)
    return field_option(field, flag_name(name), *aliases, name, more=defaults)


def _shown_default(value: Any) -> str:
    return "" if value is None else f": {('off', 'on')[value] if isinstance(value, bool) else value}"


def _choice(name: str, values: Any, text: str, default: str | None = None) -> Callable[..., Any]:
    choice = click.Choice(get_args(values))
    return click.option(flag_name(name), name, type=choice, default=default, show_default=True, help=text)


tokenizer_option = _tokenizer(DEFAULT_TOKENIZER)
cut_tokenizer_option = _tokenizer(f"{DEFAULT_TOKENIZER}; {default_tokenizer('sections')} for sections")
title_option = click.option("--title", help="The title, instead of the document's own.")
syntax_option = _choice("syntax", Syntax, "Markdown or text, whatever the file name says.")
errors_option = _choice("errors", OnUndecodable, "Refuse or replace bytes that are not UTF-8.", default="strict")


reading_options = all_of(
    paths_argument,
    syntax_option,
    errors_option,
    click.option("--follow", is_flag=True, help="Follow symbolic links in folders."),
    click.option("--hidden", is_flag=True, help="Read hidden files in folders, too."),
)
_input_options = all_of(
    reading_options,
    click.option(
        "-j", "--jobs", type=click.IntRange(1), metavar="N", help="Number of processes. [default: as many as pay off]"
    ),
)
cut_options = all_of(
    click.option("-s", "--strategy", type=STRATEGY, help=f"How to cut. [default: {DEFAULT_STRATEGY}]"),
    cut_tokenizer_option,
    title_option,
    *(
        _cut_option(name)
        for name in dict.fromkeys(name for kind in STRATEGIES.values() for name in fields(kind))
        if name not in ("tokenizer", "substitutions")
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

    decorated: Callable[..., Any] = _input_options(with_inputs)
    return decorated


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
        chosen = {name: value for name, value in options.items() if value is not None}
        declared = {name: value for name, value in chosen.items() if name not in ("title", "syntax")}
        try:
            build(strategy, {**declared, "tokenizer": counter_for(strategy, tokenizer).name}, flag_name)
        except OptionError as error:
            raise click.UsageError(str(error)) from error
        return cls(strategy, tokenizer, chosen)

    def __call__(self, document: Text) -> Chunks:
        """The chunks of a document."""
        try:
            return pipeline.chunk(
                document.text, self.strategy, path=document.path, tokenizer=self.tokenizer, **self.options
            )
        except GuardError as error:
            raise error.advising("correct it, or use --guard drop or --guard warn") from error

    def parse(self, document: Text) -> Document:
        """A document, parsed as it is cut."""
        values = {name: self.options[name] for name in ("dialect", "substitutions") if self.options.get(name)}
        return pipeline.parse(document.text, path=document.path, **values)

    def with_files(self, files: Sequence[Found]) -> Cutter:
        """The same Cutter with the slugs, the dialect and the substitutions that ``files`` show."""
        return replace(self, options=tree_options(self.options, files, Path(files[0].root))) if files else self

    def prepare(self) -> None:
        """Load the tokenizer."""
        load_tokenizers([self.strategy], self.tokenizer)


@dataclass(frozen=True)
class TreeCutter:
    """Cuts each document with the options of its tree; picklable."""

    cutters: Mapping[str, Cutter]
    """By the path of the tree; under "" the one for paths on the command line."""

    @classmethod
    def of(cls, inputs: Inputs, options: Mapping[str, Any]) -> TreeCutter:
        """Cutters with the options of a command and of quire.toml."""
        return cls({path: Cutter.of(**chosen) for path, chosen in inputs.cut_options(options).items()})

    @property
    def strategies(self) -> set[str]:
        """The strategies of all trees."""
        return {cutter.strategy for cutter in self.cutters.values()}

    def with_documents(self, documents: Sequence[InputDocument]) -> TreeCutter:
        """The same cutters with the options that the documents of each tree show."""
        files = [document.found for document in documents if document.found]
        return TreeCutter(
            {
                path: cutter.with_files([file for file in files if path in (file.root, "")])
                for path, cutter in self.cutters.items()
            }
        )

    def cutter(self, document: Text) -> Cutter:
        """The Cutter of the document's tree."""
        return self.cutters.get(document.root) or self.cutters[""]

    @property
    def options(self) -> dict[str, dict[str, Any]]:
        """The options of ``quire.chunk``, by the path of the tree."""
        return {
            path: {"strategy": cutter.strategy, "tokenizer": cutter.tokenizer, **cutter.options}
            for path, cutter in self.cutters.items()
        }

    def __call__(self, document: Text) -> Chunks:
        """The chunks of a document."""
        return self.cutter(document)(document)

    def prepare(self) -> None:
        """Load all tokenizers."""
        for cutter in self.cutters.values():
            cutter.prepare()


def counter_for(strategy: str, tokenizer: str | None) -> TokenCounter:
    """The counter of that name, else the strategy's own."""
    return size.resolve(tokenizer, default_tokenizer(strategy))


def load_tokenizers(strategies: Iterable[str], tokenizer: str | None) -> None:
    """Load all that the counters of ``strategies`` may need."""
    for strategy in strategies:
        counter_for(strategy, tokenizer).count(_NEEDS_ENGINE)
