"""Options of the commands that read and cut documents, and ``TreeCutter``, which cuts with them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import click

from quire import pipeline
from quire.cli.command_options import PATHS, Declared, combined, field_option, flag_name, option
from quire.cli.input_documents import InputDocument, Inputs, Summary
from quire.errors import GuardError
from quire.links.auto_slugs import tree_options
from quire.model.chunk_record import Chunks
from quire.model.document import Document, Syntax
from quire.model.options import ALIASES, DEFAULT_STRATEGY, STRATEGIES, build, declaration, default_tokenizer
from quire.model.trees import OnUndecodable
from quire.model.validation import fields
from quire.run.parts import Part, document_parts, is_shard, is_url, listed, parts_of
from quire.tokens import tokenizers
from quire.tokens.token_counters import TokenCounter

_DEFAULT = default_tokenizer(DEFAULT_STRATEGY)
_TOKENIZERS = f"{', '.join(tokenizers.NAMES)}, an OpenAI model such as gpt-4o, or a Hugging Face tokenizer.json"
Engine = Literal["local", "ray"]  # what runs a command on many documents: processes of this machine, or Ray
STRATEGY = click.Choice(list(STRATEGIES))
_NOT_DECLARED = ("strategy", "title", "syntax")  # arguments of `quire.chunk` that are no options of a strategy
_NEEDS_ENGINE = "\N{GOTHIC LETTER AHSA}"  # counting it loads the whole engine; see decisions/tokenizer.md


def _valid_tokenizer(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        tokenizers.resolve(value, _DEFAULT).count("a")
    return value


def _tokenizer(default: str) -> Any:
    text = f"Tokenizer for counting: {_TOKENIZERS}. [default: {default}]"
    return option(text, "-t", "NAME|FILE", callback=_valid_tokenizer)


TOKENIZER = _tokenizer(_DEFAULT)
CUT_TOKENIZER = _tokenizer(f"{_DEFAULT}; {default_tokenizer('sections')} for sections")
TITLE = option("The title, instead of the document's own.")
SYNTAX = option("Markdown or text, whatever the file name says.")
ERRORS = option("Refuse or replace bytes that are not UTF-8.", default="strict", show_default=True)


def _inputs(
    *,
    paths: tuple[str, ...] = PATHS,
    syntax: Syntax | None = SYNTAX,
    errors: OnUndecodable = ERRORS,
    follow: bool = option("Follow symbolic links in folders."),
    hidden: bool = option("Read hidden files in folders, too."),
) -> Inputs:
    return Inputs.load(paths, syntax=syntax, errors=errors, follow=follow, hidden=hidden)


READING = combined(_inputs)
JOBS = option("Number of processes. [default: up to one per core]", "-j", least=1)


def _cut_options(_name: str, _kind: Any) -> list[click.Parameter]:
    """The options of all strategies, as their structs declare them; the help lists the strategies that have one."""
    strategy = option(f"How to cut. [default: {DEFAULT_STRATEGY}]", "-s", type=STRATEGY)
    first = {"strategy": strategy, "tokenizer": CUT_TOKENIZER, "title": TITLE}
    options = [parameter for name, one in first.items() for parameter in one.parameters(name, str)]
    for name in dict.fromkeys(name for kind in STRATEGIES.values() for name in fields(kind)):
        if name not in ("tokenizer", "substitutions"):
            field, defaults = declaration(name)
            aliases = (flag_name(alias) for alias, meant in ALIASES.items() if meant == name)
            options.append(field_option(field, name, *aliases, more=defaults))
    return options


CUT_OPTIONS: Any = Declared(_cut_options, dict)


class TreeCutter(NamedTuple):
    """Cuts each document with the options of its tree; picklable."""

    options: Mapping[str, Mapping[str, Any]]  # of ``quire.chunk``, by the path of the tree, or "" for the user's paths

    @classmethod
    def of(cls, inputs: Inputs, typed: Mapping[str, Any]) -> Self:
        """With the options of a command and of quire.toml; invalid ones raise an OptionError."""
        options = inputs.cut_options(typed)
        for chosen in options.values():
            values = {name: value for name, value in chosen.items() if name not in _NOT_DECLARED}
            counter = counter_for(chosen["strategy"], chosen["tokenizer"])
            build(chosen["strategy"], {**values, "tokenizer": counter.name}, flag_name)
        return cls(options)

    def with_documents(self, documents: Sequence[InputDocument]) -> Self:
        """With the slugs, the dialect and the substitutions that the documents of each tree show."""
        completed = {}
        for path, options in self.options.items():
            files = [found for document in documents if (found := document.found) and path in (found.root, "")]
            completed[path] = tree_options(options, files, Path(files[0].root)) if files else options
        return self._replace(options=completed)

    def options_of(self, document: InputDocument) -> Mapping[str, Any]:
        """The options of the document's tree."""
        return self.options.get(document.root) or self.options[""]

    def __call__(self, document: InputDocument) -> Chunks:
        """The chunks of a document."""
        try:
            return pipeline.chunk(document.text, path=document.path, **self.options_of(document))
        except GuardError as error:
            raise error.advising("correct it, or use --guard drop or --guard warn") from error

    def parse(self, document: InputDocument) -> Document:
        """A document, parsed as it is cut."""
        options = self.options_of(document)
        values = {name: options[name] for name in ("dialect", "substitutions", "page_marker") if options.get(name)}
        return pipeline.parse(document.text, path=document.path, **values)

    def parts(self, inputs: Inputs, summary: Summary) -> list[Part]:
        """All documents of a command in parts, for a dataset or a store; ``summary`` lists files that are skipped."""
        local = tuple(path for path in inputs.paths if not (is_url(path) or is_shard(path)))
        shared = [part for path in inputs.paths if path not in local for part in parts_of(path)[0]]
        documents = replace(inputs, paths=local).documents(summary) if local else []
        options = self.with_documents(documents).options
        parts = [part._replace(options=options[""], errors=inputs.errors or "strict") for part in shared]
        files = [(document.found, document.errors, document.encoding) for document in documents if document.found]
        key = lambda file: (str(file[0].file)[: -len(file[0].path)] or ".", file[0].root, *file[1:])  # noqa: E731
        for (folder, root, errors, encoding), some in groupby(files, key):
            read: dict[str, Any] = {"options": options.get(root) or options[""], "encoding": encoding}
            read["errors"] = errors or "strict"
            some_parts = document_parts(folder, (listed(found.path, found.file) for found, *_ in some))
            parts += [part._replace(**read) for part in some_parts]
        return parts

    def prepare(self) -> None:
        """Load all tokenizers."""
        for options in self.options.values():
            load_tokenizers([options["strategy"]], options["tokenizer"])


def counter_for(strategy: str, tokenizer: str | None) -> TokenCounter:
    """The counter of that name, else the strategy's own."""
    return tokenizers.resolve(tokenizer, default_tokenizer(strategy))


def load_tokenizers(strategies: Iterable[str], tokenizer: str | None) -> None:
    """Load all that the counters of ``strategies`` may need."""
    for strategy in strategies:
        counter_for(strategy, tokenizer).count(_NEEDS_ENGINE)
