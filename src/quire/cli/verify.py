"""``quire verify``: cut the user's own documents and check the laws on the result."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

import click
import msgspec

from quire import pipeline
from quire.cli.documents import Tally, Text, cut_options, given, input_options, texts
from quire.cli.main import ERROR, NOTHING_FOUND
from quire.cli.output import count_of, echo, note
from quire.model import Finding, Syntax


@click.command()
@input_options
@cut_options
@click.option("--json", "as_json", is_flag=True, help="Print the violations as a JSON array, and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def command(
    *,
    paths: tuple[str, ...],
    strategy: str,
    syntax: Syntax | None,
    errors: Literal["strict", "replace"],
    follow: bool,
    hidden: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Check the laws on your own documents.

    Cuts each document twice and checks that nothing is lost, altered or misplaced, that positions and counts are
    right and that both times gave the same. Violations go to standard output; the exit code is 1 if there are any.
    """
    tally = Tally()
    violations: list[Finding] = []
    for each in texts(paths, tally, errors=errors, follow=follow, hidden=hidden):
        found = _violations(each, strategy, syntax, given(options), tally)
        violations += found
        if not as_json:
            for violation in found:
                echo(str(violation))
    if as_json:
        echo(msgspec.json.encode([asdict(violation) for violation in violations]).decode())
    if not quiet:
        tally.show()
        note(f"{count_of(len(violations), 'violation')} of the laws" if violations else "all laws hold")
    if tally.has_errors:
        return ERROR
    return NOTHING_FOUND if violations or not tally.documents else 0


def _violations(
    document: Text, strategy: str, syntax: Syntax | None, options: dict[str, Any], tally: Tally
) -> list[Finding]:
    first = pipeline.chunk(document.text, strategy, path=document.path, syntax=syntax, **options)
    second = pipeline.chunk(document.text, strategy, path=document.path, syntax=syntax, **options)
    tally.documents += 1
    tally.chunks += len(first)
    tally.tokens += sum(chunk.token_stats.tokens for chunk in first)
    tally.findings += (*document.findings, *first.findings)
    violations = pipeline.verify(document.text, first, tokenizer=options.get("tokenizer"))
    if list(first) != list(second) and not options.get("timestamps"):
        name = first.document.source.name
        violations.append(Finding(code="not-repeatable", path=name, line=0, message="two runs gave different chunks"))
    return violations
