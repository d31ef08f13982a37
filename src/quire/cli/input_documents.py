"""The documents that ``chunk``, ``verify`` and ``stats`` read, in one or several processes, and a summary of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import click
from msgspec import structs

from quire import read
from quire.cli import output
from quire.cli.command_group import ERROR, NOTHING_FOUND
from quire.cli.output import MOST_SHOWN, count_of
from quire.errors import InputError, QuireError, UndecodableError
from quire.model import Finding, doc_name
from quire.options import DEFAULT_STRATEGY
from quire.read.discover import Discovery, Found, Hidden, Skipped, discover
from quire.read.source import CONVERT, unread
from quire.record import Chunks
from quire.run import workers
from quire.settings.precedence import Settings, load
from quire.trees import OnUndecodable, Reading, Tree
from quire.workspace.tree_paths import display_path, missing_tree
from quire.write.file_names import case_folded

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"
_MOST_KEPT = 10_000
"""How many findings are kept to be listed."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Text:
    """A document that has been read."""

    text: str
    path: str | None
    """Its name in ids; None for standard input."""
    name: str
    """Its name in messages: the path that the user would type."""
    findings: tuple[Finding, ...] = ()
    root: str = ""
    """The path of its tree, or the one on the command line, in which it was found."""


@dataclass(frozen=True, slots=True)
class InputDocument:
    """A document to read, in this process or in another."""

    name: str
    """Its name in messages: the path that the user would type."""
    found: Found | None
    """Its file and its path in ids; None for standard input."""
    errors: OnUndecodable
    encoding: str = ""
    """That of its tree; empty for UTF-8, or what a byte order mark says."""

    def read(self) -> Text:
        """Read it; InputError if that fails."""
        text, findings = read_text(self.found and self.found.file, self.name, self.errors, self.encoding)
        return Text(text, self.found and self.found.path, self.name, findings, self.found.root if self.found else "")


def read_text(
    file: Path | None, name: str, errors: OnUndecodable, encoding: str = ""
) -> tuple[str, tuple[Finding, ...]]:
    """The text of a file, or of standard input for None, and the findings of decoding it."""
    try:
        if file is not None:
            return read.read_file(file, name, errors, encoding)
        if sys.stdin is None:
            raise InputError(name, "is closed", "pipe a document into it")
        return read.decode(sys.stdin.buffer.read(), name, errors)
    except UndecodableError as error:
        raise error.advising(f"{CONVERT}, or use --errors replace") from error
    except OSError as error:
        raise unread(name, error) from error


def renamed(findings: Iterable[Finding], name: str) -> tuple[Finding, ...]:
    """Findings with the path that the user would type."""
    return tuple(structs.replace(finding, path=name) for finding in findings)


@dataclass
class Summary:
    """What a run has read, made and skipped."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0
    empty: int = 0
    """How many of the documents have nothing to cut."""
    findings: int = 0
    first_findings: list[Finding] = field(default_factory=list)
    """At most ``_MOST_KEPT``."""
    skipped: list[Skipped] = field(default_factory=list)

    @classmethod
    def of(cls, document: Text, chunks: Chunks) -> Summary:
        """The summary of one document."""
        findings = (*document.findings, *chunks.findings)
        first = list(renamed(findings[:_MOST_KEPT], document.name))
        tokens = sum(chunk.token_stats.tokens for chunk in chunks)
        return cls(1, len(chunks), tokens, int(not (chunks or chunks.document.blocks)), len(findings), first)

    def add(self, other: Summary) -> None:
        """Add the summary of later documents."""
        self._count(other, 1)
        self.findings += other.findings
        self.first_findings += other.first_findings[: _MOST_KEPT - len(self.first_findings)]
        self.skipped += other.skipped

    def skip(self, name: str, reason: str, counted: Summary | None = None) -> None:
        """List a document that could not be read, cut or written; if it was ``counted``, subtract it."""
        self.skipped.append(Skipped(path=name, reason=reason, is_error=True))
        if counted:
            self._count(counted, -1)

    def _count(self, other: Summary, sign: int) -> None:
        self.documents += sign * other.documents
        self.chunks += sign * other.chunks
        self.tokens += sign * other.tokens
        self.empty += sign * other.empty

    def show(self, *, only_errors: bool = False) -> None:
        """Print findings, skipped documents and totals to standard error."""
        sys.stdout.flush()
        if not only_errors:
            output.show_findings(self.first_findings, self.findings)
        in_order = sorted(self.skipped, key=lambda skipped: not skipped.is_error)
        shown = [skipped for skipped in in_order if skipped.is_error or not only_errors]
        most = MOST_SHOWN if output.is_terminal(sys.stderr) else len(shown)
        for skipped in shown[:most]:
            output.show_problem(skipped.path, skipped.reason, "skipped", is_error=skipped.is_error)
        if len(shown) > most:
            output.note(f"… and {len(shown) - most:,} more skipped; 2>FILE writes all of them to a file")
        if not only_errors:
            empty = f" ({self.empty:,} without text)" if self.empty else ""
            totals = [count_of(self.chunks, "chunk"), count_of(self.tokens, "token")]
            left_out = [output.Paint(sys.stderr).warning(f"{len(self.skipped):,} skipped")] if self.skipped else []
            output.note(", ".join([count_of(self.documents, "document") + empty, *totals, *left_out]))

    def exit_code(self, paths: Sequence[str]) -> int:
        """2 after an error, 1 with a message if there were no documents in ``paths``, else 0."""
        if any(skipped.is_error for skipped in self.skipped):
            return ERROR
        if not self.documents:
            output.message(f"no documents in {', '.join(paths)}; quire looks for Markdown and .txt files")
            return NOTHING_FOUND
        return 0


@dataclass(frozen=True)
class Inputs:
    """What a command reads, and the configuration."""

    paths: tuple[str, ...]
    """The paths on the command line, else those of the trees."""
    trees: Mapping[str, Tree]
    """The trees by path, if the command line has no path."""
    settings: Settings | None
    """None if the current folder does not exist."""
    errors: OnUndecodable = "strict"
    follow: bool = False
    hidden: bool = False
    jobs: int | None = None

    @classmethod
    def load(cls, paths: tuple[str, ...], **options: Any) -> Inputs:
        """Complete the command line with the configuration."""
        try:
            settings = load(Path.cwd())
        except FileNotFoundError:
            if not paths:
                raise
            return cls(paths, {}, None, **options)
        if paths:
            return cls(paths, {}, settings, **options)
        if not settings.trees:
            raise click.UsageError("Missing argument 'PATH...'; name files or folders, or set [trees] in quire.toml.")
        trees = {}
        for name, tree in settings.trees.items():
            if name in settings.always:
                continue
            if tree.folder.exists():
                trees[display_path(tree.folder)] = tree
            else:
                output.message(f"tree {name}: {missing_tree(name, tree, settings.file)}")
        return cls(tuple(trees), trees, settings, **options)

    def cut_options(self, typed: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The options of the command line completed by those of quire.toml, by the path of each tree.

        If the command line has paths, one set of options under "" is for all of them.
        """
        chosen = {name: value for name, value in typed.items() if value is not None}
        options = {}
        for path, tree in ({path: self._name(tree) for path, tree in self.trees.items()} or {"": ""}).items():
            strategy = chosen.get("strategy", DEFAULT_STRATEGY)
            configured = self.settings.chunk_options(tree, chosen.get("strategy")) if self.settings else {}
            options[path] = {**dict.fromkeys(typed), "strategy": strategy, **configured, **chosen}
        return options

    def _name(self, tree: Tree) -> str:
        trees = self.settings.trees if self.settings else {}
        return next((name for name, other in trees.items() if other is tree), "")

    def tokenizer(self) -> str | None:
        """The tokenizer that quire.toml sets; a UsageError if the trees have different ones."""
        names: set[str | None] = {options.get("tokenizer") for options in self.cut_options({}).values()}
        if len(names) > 1:
            raise click.UsageError("the trees of quire.toml have different tokenizers; choose one with --tokenizer")
        return names.pop()

    def documents(self, summary: Summary) -> list[InputDocument]:
        """The documents to read; ``summary`` lists files that cannot be taken."""
        find = partial(_in_trees, self.trees) if self.trees else discover
        find = partial(find, follow_symlinks=self.follow, hidden=self.hidden)
        discovery = find([path for path in self.paths if path != STANDARD_INPUT])
        for skipped in discovery.skipped:
            hint = "; give its content on standard input" if skipped.is_stream else ""
            summary.skipped.append(skipped._replace(reason=skipped.reason + hint))
        named = _without_clashes(discovery.documents)
        documents = [self._document(document) for document in named]
        if STANDARD_INPUT in self.paths:
            before = frozenset(find(self.paths[: self.paths.index(STANDARD_INPUT)]).documents)
            position = sum(document in before for document in discovery.documents)
            documents.insert(position, InputDocument(STANDARD_INPUT_NAME, None, self.errors))
        return documents

    def _document(self, found: Found) -> InputDocument:
        tree = self.trees.get(found.root, Reading())
        errors = tree.errors if self.errors == "strict" else self.errors
        return InputDocument(str(found.file), found, errors, tree.encoding)


def _in_trees(trees: Mapping[str, Tree], paths: Sequence[str], *, hidden: bool, follow_symlinks: bool) -> Discovery:
    """The documents of trees by their patterns; each file once, in the first tree that has it."""
    documents: dict[str, Found] = {}
    skipped: list[Skipped] = []
    for path in paths:
        tree = trees[path]
        shown: Hidden = hidden or ("known" if tree.hidden else False)
        discovery = discover(
            [path], include=tree.include, exclude=tree.exclude, hidden=shown, follow_symlinks=follow_symlinks
        )
        skipped += discovery.skipped
        for document in discovery.documents:
            documents.setdefault(os.path.realpath(document.file), document)
    return Discovery(tuple(documents.values()), tuple(skipped))


def _without_clashes(documents: Sequence[Found]) -> Sequence[Found]:
    """The documents; if those of different folders have the same path, named from the common folder above them."""
    folders: dict[str, set[str]] = {}
    for document in documents:
        folder = os.path.abspath(str(document.file)[: -len(document.path)])  # noqa: PTH100  links stay as named
        folders.setdefault(case_folded(doc_name(document.path)), set()).add(folder)
    if all(len(same_path) == 1 for same_path in folders.values()):
        return documents
    try:
        top = os.path.commonpath([folder for same_path in folders.values() for folder in same_path])
    except ValueError:  # on different drives
        return documents
    return [document._replace(path=os.path.relpath(document.file, top).replace(os.sep, "/")) for document in documents]


Work = Callable[[Text], tuple[Chunks, Result]]
"""Cuts a document; returns its chunks, which are counted, and a result. Picklable."""


def results(
    documents: Sequence[InputDocument],
    work: Work[Result],
    summary: Summary,
    *,
    jobs: int | None,
    prepare: Callable[[], None],
) -> Generator[Result, None, None]:
    """The results of ``work``, by ``jobs`` processes or as many as pay off; each calls ``prepare`` first.

    ``summary`` lists documents that cannot be read or cut. Close the generator, so that no process outlives its use.
    """
    costs = [_cost(document) for document in documents]
    reads_standard_input = any(document.found is None for document in documents)
    processes = 1 if reads_standard_input else workers.worker_count(costs, jobs=jobs, cores=workers.cores())
    if processes == 1:
        for document in output.tracked(documents, attrgetter("name")):
            yield from _process(work, document, summary)
        return
    with output.Progress() as progress:
        from quire.run.process_pool import WorkerDied, map_batches  # noqa: PLC0415  takes as long to load as a small document to cut

        size = workers.batch_size(sum(costs), processes)
        batches = workers.batches(zip(documents, costs, strict=True), most=size)
        running = map_batches(
            partial(_in_worker, work), batches, workers=processes, prepare=prepare, on_failure=output.message
        )
        try:
            for done, (document, result) in enumerate(running):
                progress.step(done, len(documents), document.name)
                if isinstance(result, WorkerDied):
                    summary.skip(document.name, f"{result.reason}; make room, or cut it into smaller files")
                else:
                    summary.add(result[0])
                    yield from result[1]
        finally:
            running.close()


def _process(work: Work[Result], document: InputDocument, summary: Summary) -> list[Result]:
    """The result for a document; nothing if it cannot be read or cut."""
    try:
        text = document.read()
        chunks, result = work(text)
    except QuireError as error:
        summary.skip(document.name, error.reason)
        return []
    summary.add(Summary.of(text, chunks))
    return [result]


def _in_worker(work: Work[Result], documents: Sequence[InputDocument]) -> list[tuple[Summary, list[Result]]]:
    """The documents of a batch, each with a summary of its own."""
    summaries = [Summary() for _ in documents]
    return [
        (summary, _process(work, document, summary)) for summary, document in zip(summaries, documents, strict=True)
    ]


def _cost(document: InputDocument) -> int:
    try:
        return workers.work_of(document.found.file.stat().st_size if document.found else 0)
    except (OSError, ValueError):  # reading it gives the reason
        return workers.work_of(0)
