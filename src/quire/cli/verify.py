"""``quire verify``: cut the user's documents and check the laws on the chunks."""

from contextlib import closing
from functools import partial
from itertools import chain

from quire import pipeline
from quire.cli.command_options import FORMAT, JSON, Chosen, FindingForm, quire_command
from quire.cli.cut_options import CUT_OPTIONS, JOBS, READING, TreeCutter
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.input_documents import InputDocument, Inputs, Summary, renamed, results
from quire.cli.output import count_of, note, write_findings
from quire.model.document import Finding


@quire_command("quire verify docs", "quire verify docs -s flow --json")
def command(
    *,
    inputs: Inputs = READING,
    jobs: int | None = JOBS,
    options: Chosen = CUT_OPTIONS,
    form: FindingForm = FORMAT,
    as_json: bool = JSON,
) -> int:
    """Cuts each document twice and checks that no text is lost, altered or misplaced, that positions and counts are
    right, and that both times gave the same chunks. Prints violations to standard output. The exit code is 1 if there
    are any, and 2 if a document could not be read. Without PATH, checks the trees of quire.toml.
    """
    summary = Summary()
    documents = inputs.documents(summary)
    cut = TreeCutter.of(inputs, options).with_documents(documents)
    with closing(results(documents, partial(_check, cut), summary, jobs=jobs, prepare=cut.prepare)) as checked:
        violations = [*chain.from_iterable(checked)]
    write_findings(violations, "json" if as_json else form)
    summary.show()
    code = summary.exit_code(inputs.paths)
    if summary.counts["documents"]:
        note(f"{count_of(len(violations), 'violation')} of the laws" if violations else "all laws hold")
    return code or (NOTHING_FOUND if violations else 0)


def _check(cut: TreeCutter, document: InputDocument) -> tuple[Summary, tuple[Finding, ...]]:
    chunks = cut(document)
    violations = pipeline.verify(document.text, chunks, tokenizer=cut.options_of(document)["tokenizer"])
    if not chunks.options.timestamps and list(chunks) != list(cut(document)):
        message = "two runs gave different chunks"
        violations.append(Finding(code="not-repeatable", path=document.name, line=0, message=message))
    return Summary.of(document, chunks), renamed(violations, document.name)
