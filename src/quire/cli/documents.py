"""The documents a command was given: files, directories and standard input, read one by one.

Used by the commands that take many documents. A document that cannot be read is noted and the next one follows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import click

from quire import config, read
from quire.cli.output import Paint, Progress, count_of, note, show_findings
from quire.errors import InputError
from quire.model import Finding
from quire.read.discover import Found, Skipped, discover

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Text:
    """A document that has been read."""

    text: str
    """Its text."""
    path: str | None
    """Its name in ids; None for standard input."""
    findings: tuple[Finding, ...]
    """What decoding found."""


@dataclass
class Tally:
    """What a run has done."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def has_errors(self) -> bool:
        """Whether something that the user asked for could not be done."""
        return any(skipped.is_error for skipped in self.skipped)

    def show(self) -> None:
        """The closing summary."""
        paint = Paint(sys.stderr)
        show_findings(self.findings)
        parts = [count_of(self.documents, "document"), count_of(self.chunks, "chunk"), count_of(self.tokens, "token")]
        if self.skipped:
            parts.append(paint.warning(f"{len(self.skipped):,} skipped"))
        note(", ".join(parts))
        for skipped in self.skipped:
            note(f"  {paint.place(skipped.path)}: {skipped.reason}")


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that reads documents."""
    options = (
        click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
        click.option("--syntax", type=click.Choice(["markdown", "text"]), help="Override what the file name says."),
        click.option(
            "--errors",
            type=click.Choice(["strict", "replace"]),
            default="strict",
            help="Refuse bytes that are not UTF-8, or replace them with a warning.",
        ),
        click.option("--follow", is_flag=True, help="Follow symbolic links in directories."),
        click.option("--hidden", is_flag=True, help="Take hidden files in directories too."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def cut_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that cuts documents."""
    options = (
        click.option("-s", "--strategy", default=config.DEFAULT_STRATEGY, show_default=True, help="How to cut."),
        click.option(
            "-t",
            "--tokenizer",
            default=config.DEFAULT_TOKENIZER,
            show_default=True,
            help="o200k_base, cl100k_base, estimate, or a Hugging Face tokenizer.json.",
        ),
        click.option("--title", help="The documents' title, in place of their own."),
        click.option("--content-type", help="The first part of every id. [default: doc]"),
        click.option(
            "--breadcrumb",
            "breadcrumb_mode",
            help="When the heading path stands above the text: conditional, always or none. [default: conditional]",
        ),
        click.option("--slugs", help="How anchors are made: github or ascii. [default: github]"),
        click.option("--tree", help="Strategy tree: the first part of node ids. [default: the content type]"),
        click.option("--timestamps", is_flag=True, default=None, help="Say in the metadata when a chunk was made."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Only the options that were given, so that a strategy is not asked about those of another."""
    return {name: value for name, value in options.items() if value is not None}


def texts(
    paths: Sequence[str], tally: Tally, *, errors: Literal["strict", "replace"], follow: bool, hidden: bool
) -> Iterator[Text]:
    """The documents at ``paths``, read; those that cannot be are noted in ``tally``."""
    found = discover([path for path in paths if path != STANDARD_INPUT], follow_symlinks=follow, hidden=hidden)
    tally.skipped.extend(found.skipped)
    readings = [(str(each.file), partial(_read, each, errors)) for each in found.documents]
    if STANDARD_INPUT in paths:
        readings.insert(0, ("<stdin>", partial(_standard_input, errors)))
    progress = Progress(len(readings))
    try:
        for done, (name, reading) in enumerate(readings):
            progress.step(done, name)
            try:
                text = reading()
            except InputError as error:
                tally.skipped.append(Skipped(path=name, reason=error.reason, is_error=True))
            else:
                yield text
    finally:
        progress.end()


def _read(document: Found, errors: Literal["strict", "replace"]) -> Text:
    text, findings = read.read_file(document.file, document.path, errors)
    return Text(text, document.path, findings)


def _standard_input(errors: Literal["strict", "replace"]) -> Text:
    text, findings = read.decode(sys.stdin.buffer.read(), "<stdin>", errors)
    return Text(text, None, findings)
