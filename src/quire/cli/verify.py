"""``quire verify``: cut the user's own documents and check the laws on the result."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import click

from quire import pipeline
from quire.cli.commands import NOTHING_FOUND
from quire.cli.configured import configured
from quire.cli.documents import Tally, Text, cut_all, exit_code, renamed, to_read
from quire.cli.jobs import Cutter, results, workers_for
from quire.cli.options import cut_options, input_options, jobs_option
from quire.cli.output import Paint, count_of, echo, note, write_json
from quire.model import Finding
from quire.read.source import OnUndecodable


@click.command()
@input_options
@cut_options
@click.option("--json", "as_json", is_flag=True, help="Print the violations as a JSON array, and nothing else.")
@jobs_option
@click.option("-q", "--quiet", is_flag=True, help="No summary; errors only.")
def command(
    *,
    paths: tuple[str, ...],
    errors: OnUndecodable,
    follow: bool,
    hidden: bool,
    as_json: bool,
    jobs: int | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Check the laws on your own documents.

    Cuts each document twice and checks that nothing is lost, altered or misplaced, that positions and counts are
    right and that both times gave the same. Violations go to standard output; the exit code is 1 if there are any, and
    2, violations or not, if a document could not be read. Without PATH, the trees of quire.toml are checked.
    """
    tally = Tally()
    known = configured(paths)
    paths, options = known.paths, known.options(options)
    checking = _Checking(Cutter.of(**options), cuts_again=not options["timestamps"])
    documents = to_read(paths, tally, errors=errors, follow=follow, hidden=hidden, trees=known.trees)
    violations: list[Finding] = []
    with closing(results(documents, checking, tally, workers_for(documents, jobs))) as checked:
        for found in checked:
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


@dataclass(frozen=True)
class _Checking:
    """Cuts documents and looks for violations."""

    cut: Cutter
    cuts_again: bool
    """Whether a second run must give the same."""

    def __call__(self, documents: Iterable[Text], tally: Tally) -> Iterator[list[Finding]]:
        for document, chunks in cut_all(documents, self.cut, tally):
            violations = pipeline.verify(document.text, chunks, tokenizer=self.cut.tokenizer)
            if self.cuts_again and list(chunks) != list(self.cut(document)):
                message = "two runs gave different chunks"
                violations.append(Finding(code="not-repeatable", path=document.name, line=0, message=message))
            yield renamed(violations, document.name)

    def prepare(self) -> None:
        self.cut.prepare()


def _show(violations: list[Finding]) -> None:
    paint = Paint(sys.stdout)
    for violation in violations:
        echo(paint.plain(str(violation)))
