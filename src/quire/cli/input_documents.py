"""The documents of ``chunk``, ``verify``, ``stats`` and ``links``, in one or several processes, and their summary."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from msgspec import structs

from quire.cli import output
from quire.cli.command_options import refuse
from quire.cli.exit_codes import ERROR, NOTHING_FOUND
from quire.cli.output import MOST_SHOWN, count_of
from quire.errors import InputError, QuireError, UndecodableError
from quire.model.chunk_record import Chunks
from quire.model.document import Finding, Syntax, doc_name
from quire.model.operating_system import case_folded
from quire.model.trees import OnUndecodable, Tree
from quire.read.discover import Discovery, Found, Hidden, Skipped, left_out_counts
from quire.read.source import CONVERT, decode, read_file, unread
from quire.run import workers
from quire.workspace.selected_trees import display_path, missing_tree
from quire.workspace.settings import Settings, load

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"
_SKIPPED = "skipped"  # what is printed like the code of a finding

Result = TypeVar("Result")
Prepare = Callable[[], None]


class InputDocument(NamedTuple):
    """A document to read, in this process or in another."""

    name: str  # its name in messages: the path that the user would type
    found: Found | None  # its file and its path in ids; None for standard input
    errors: OnUndecodable | None  # None for a command without ``--errors``
    encoding: str = ""  # that of its tree; empty for UTF-8, or what a byte order mark says
    text: str = ""  # empty until `read`
    findings: tuple[Finding, ...] = ()

    @property
    def path(self) -> str | None:
        """Its name in ids; None for standard input."""
        return self.found.path if self.found else None

    @property
    def root(self) -> str:
        """The path of its tree, or the one on the command line, in which it was found."""
        return self.found.root if self.found else ""

    def read(self) -> Self:
        """The document with its text; InputError if it cannot be read."""
        text, findings = read_text(self.found and self.found.file, self.name, self.errors, self.encoding)
        return self._replace(text=text, findings=findings)


def read_text(
    file: Path | None, name: str, errors: OnUndecodable | None = None, encoding: str = ""
) -> tuple[str, tuple[Finding, ...]]:
    """The text of a file, or of standard input for None, and the findings of decoding it.

    ``errors`` is None for a command without ``--errors``.
    """
    try:
        if file is not None:
            return read_file(file, name, errors or "strict", encoding)
        return decode(read_standard_input("a document"), name, errors or "strict")
    except UndecodableError as error:
        raise error.advising(f"{CONVERT}, or use --errors replace" if errors else CONVERT) from error
    except OSError as error:
        raise unread(name, error) from error


def read_standard_input(content: str) -> bytes:
    """What is piped into the command; an InputError asks for ``content`` if the shell closed standard input."""
    if sys.stdin is None:
        raise InputError(STANDARD_INPUT_NAME, "is closed", f"pipe {content} into it")
    return sys.stdin.buffer.read()


def renamed(findings: Iterable[Finding], name: str) -> tuple[Finding, ...]:
    """Findings with the path that the user would type."""
    return tuple(structs.replace(finding, path=name) for finding in findings)


@dataclass
class Summary:
    """What a run has read, made and skipped."""

    counts: Counter[str] = field(default_factory=Counter)  # of documents, chunks, tokens, and documents without text
    findings: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # files and folders that are no documents, by reason

    @classmethod
    def of(cls, document: InputDocument, chunks: Chunks) -> Self:
        """The summary of one document."""
        findings = (*document.findings, *chunks.findings)
        tokens = sum(chunk.token_stats.tokens for chunk in chunks)
        empty = int(not (chunks or chunks.document.blocks))
        counts = Counter(documents=1, chunks=len(chunks), tokens=tokens, empty=empty)
        return cls(counts, list(renamed(findings, document.name)))

    @property
    def has_errors(self) -> bool:
        """Whether a document could not be read, cut or written."""
        return any(skipped.is_error for skipped in self.skipped)

    def add(self, other: Self) -> None:
        """Add the summary of later documents."""
        self.counts.update(other.counts)
        self.findings += other.findings
        self.skipped += other.skipped

    def skip(self, name: str, reason: str, counted: Self | None = None) -> None:
        """List a document that could not be read, cut or written; if it was ``counted``, subtract it."""
        self.skipped.append(Skipped(path=name, reason=reason, is_error=True))
        self.counts.subtract(counted.counts if counted else ())

    def show(self, *, only_errors: bool = False) -> None:
        """Print findings, skipped documents and totals to standard error."""
        if not only_errors:
            output.show_findings(self.findings)
        in_order = sorted(self.skipped, key=lambda skipped: not skipped.is_error)
        shown = [skipped for skipped in in_order if skipped.is_error or not only_errors]
        most = MOST_SHOWN if output.is_terminal(sys.stderr) else len(shown)
        for skipped in shown[:most]:
            finding = Finding(code=_SKIPPED, path=skipped.path, line=0, message=skipped.reason)
            output.show_finding(finding, is_error=skipped.is_error)
        if len(shown) > most:
            output.note(f"… and {len(shown) - most:,} more skipped; 2>FILE writes all of them to a file")
        if not only_errors:
            if self.left_out and output.Choices.is_verbose:
                output.note(f"{left_out_counts(self.left_out)}; name one to read it")
            totals = [count_of(self.counts[f"{noun}s"], noun) for noun in ("document", "chunk", "token")]
            totals[0] += f" ({self.counts['empty']:,} without text)" if self.counts["empty"] else ""
            left_out = [output.Paint(sys.stderr).warning(f"{len(self.skipped):,} skipped")] if self.skipped else []
            output.note(", ".join([*totals, *left_out]))

    def exit_code(self, paths: Sequence[str]) -> int:
        """2 after an error, 1 with a message if there were no documents in ``paths``, else 0."""
        if not self.has_errors and not self.counts["documents"]:
            where = ", ".join(paths) or "the trees of quire.toml"
            output.message(f"no documents in {where}; quire looks for Markdown and .txt files")
            return NOTHING_FOUND
        return ERROR if self.has_errors else 0


@dataclass(frozen=True)
class Inputs:
    """What a command reads, and the configuration."""

    paths: tuple[str, ...]  # those of the command line, else of the trees
    trees: Mapping[str, str]  # the names of the trees by path, if the command line has no path
    settings: Settings
    syntax: Syntax | None = None
    errors: OnUndecodable | None = None
    follow: bool = False
    hidden: bool = False

    @classmethod
    def load(cls, paths: tuple[str, ...], **options: Any) -> Self:
        """Complete the command line with the configuration."""
        settings = load(Path.cwd())
        if paths:
            return cls(paths, {}, settings, **options)
        refuse(not settings.trees, "Missing argument 'PATH...'; name files or folders, or set [trees] in quire.toml.")
        trees = {}
        for name, tree in settings.trees.items():
            if name in settings.always:
                continue
            if tree.folder.exists():
                trees[display_path(tree.folder)] = name
            else:
                output.message(f"tree {name}: {missing_tree(name, tree, settings.file)}")
        return cls(tuple(trees), trees, settings, **options)

    def cut_options(self, typed: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The options of the command line and of quire.toml, by the path of each tree, or "" for paths of the user."""
        chosen = {name: value for name, value in {"syntax": self.syntax, **typed}.items() if value is not None}
        return {
            path: {"tokenizer": None, **self.settings.chunk_options(tree, chosen.get("strategy")), **chosen}
            for path, tree in (self.trees or {"": ""}).items()
        }

    def documents(self, summary: Summary) -> list[InputDocument]:
        """The documents to read, each file once; ``summary`` lists files that cannot be taken."""
        documents: dict[str, Found | None] = {}
        for path in self.paths:
            if path == STANDARD_INPUT:
                documents[path] = None
                continue
            tree = self._tree(path)
            hidden: Hidden = self.hidden or ("known" if tree.hidden else False)
            discovery = Discovery(path, tree.include, tree.exclude, follow_symlinks=self.follow, hidden=hidden)
            summary.left_out.update(discovery.left_out)
            summary.skipped += discovery.skipped
            for found in discovery.documents:
                key = str(found.file) if len(self.paths) == 1 else os.path.realpath(found.file)
                documents.setdefault(key, found)
        listed = []
        for one in _without_clashes([*documents.values()]):
            tree = self._tree(one.root if one else STANDARD_INPUT)
            errors = "replace" if "replace" in (self.errors, tree.errors) else self.errors
            listed.append(InputDocument(str(one.file) if one else STANDARD_INPUT_NAME, one, errors, tree.encoding))
        return listed

    def _tree(self, path: str) -> Tree:
        return self.settings.trees[self.trees[path]] if path in self.trees else Tree()


def _without_clashes(documents: Sequence[Found | None]) -> Sequence[Found | None]:
    """The documents; if those of different folders have the same path, named from the common folder above them."""
    folders: dict[str, set[str]] = {}
    for document in filter(None, documents):
        folder = os.path.abspath(str(document.file)[: -len(document.path)])  # noqa: PTH100  links stay as named
        folders.setdefault(case_folded(doc_name(document.path)), set()).add(folder)
    if all(len(same_path) == 1 for same_path in folders.values()):
        return documents
    try:
        top = os.path.commonpath([folder for same_path in folders.values() for folder in same_path])
    except ValueError:  # on different drives
        return documents
    return [
        document and document._replace(path=os.path.relpath(document.file, top).replace(os.sep, "/"))
        for document in documents
    ]


Work = Callable[[InputDocument], tuple[Summary, Result]]
"""Reads nothing but the text of a document; returns a summary of it and a result. Picklable."""


def results(
    documents: Sequence[InputDocument], work: Work[Result], summary: Summary, *, jobs: int | None, prepare: Prepare
) -> Generator[Result, None, None]:
    """The results of ``work``, by ``jobs`` processes or as many as pay off; each calls ``prepare`` first.

    ``summary`` lists documents that cannot be read or cut. Close the generator, so that no process outlives its use.
    """
    costs = []
    for document in documents:
        size = 0
        with suppress(OSError, ValueError):  # reading it gives the reason
            size = document.found.file.stat().st_size if document.found else 0
        costs.append(workers.work_of(size))
    reads_standard_input = any(document.found is None for document in documents)
    processes = 1 if reads_standard_input else workers.worker_count(costs, jobs=jobs, cores=workers.cores())
    running = workers.results(
        partial(_process, work), documents, costs, workers=processes, prepare=prepare, on_failure=output.message
    )
    progress = output.Progress()
    with closing(running):
        for done, (document, outcome) in enumerate(running):
            progress.step(done, len(documents), document.name)
            if isinstance(outcome, workers.WorkerDied):
                summary.skip(document.name, f"{outcome.reason}; make room, or cut it into smaller files")
            else:
                summary.add(outcome[0])
                yield from outcome[1]


def _process(work: Work[Result], document: InputDocument) -> tuple[Summary, list[Result]]:
    try:
        summary, result = work(document.read())
    except QuireError as error:
        return Summary(skipped=[Skipped(path=document.name, reason=error.reason, is_error=True)]), []
    return summary, [result]
