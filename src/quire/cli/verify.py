"""``quire verify``: cut the user's own documents and check the laws on the result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import click

from quire import pipeline
from quire.cli.commands import NOTHING_FOUND
from quire.cli.documents import OnUndecodable, Tally, Text, cut_all, exit_code, renamed, texts
from quire.cli.options import cut_options, cutter, input_options
from quire.cli.output import Paint, count_of, echo, note, write_json
from quire.model import Finding, TokenCounter
from quire.record import Chunks


@click.command()
@input_options
@cut_options
@click.option("--json", "as_json", is_flag=True, help="Print the violations as a JSON array, and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="No summary; errors only.")
def command(
    *,
    paths: tuple[str, ...],
    errors: OnUndecodable,
    follow: bool,
    hidden: bool,
    as_json: bool,
    quiet: bool,
    tokenizer: TokenCounter | None,
    **options: Any,
) -> int:
    """Check the laws on your own documents.

    Cuts each document twice and checks that nothing is lost, altered or misplaced, that positions and counts are
    right and that both times gave the same. Violations go to standard output; the exit code is 1 if there are any.
    """
    tally = Tally()
    cut = cutter(tokenizer=tokenizer, **options)
    again = None if options["timestamps"] else cut
    violations: list[Finding] = []
    for document, chunks in cut_all(texts(paths, tally, errors=errors, follow=follow, hidden=hidden), cut, tally):
        found = _violations(document, chunks, tokenizer, again)
        violations += found
        if not as_json:
            _show(found)
    if as_json:
        write_json([asdict(violation) for violation in violations])
    tally.show(quiet=quiet)
    code = exit_code(tally, paths)
    if tally.documents and not quiet:
        note(f"{count_of(len(violations), 'violation')} of the laws" if violations else "all laws hold")
    return code or (NOTHING_FOUND if violations else 0)


def _violations(
    document: Text, chunks: Chunks, tokenizer: TokenCounter | None, again: Callable[[Text], Chunks] | None
) -> list[Finding]:
    violations = pipeline.verify(document.text, chunks, tokenizer=tokenizer)
    if again is not None and list(chunks) != list(again(document)):
        message = "two runs gave different chunks"
        violations.append(Finding(code="not-repeatable", path=document.name, line=0, message=message))
    return renamed(violations, document.name)


def _show(violations: list[Finding]) -> None:
    paint = Paint(sys.stdout)
    for violation in violations:
        echo(paint.plain(str(violation)))
