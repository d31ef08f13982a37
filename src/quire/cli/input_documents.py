"""The documents that ``chunk``, ``verify`` and ``stats`` read: which ones, reading them, and the summary of a run.

A document that cannot be read or cut is listed in the summary, and the next one follows.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from quire import options as run_options
from quire import read
from quire.cli.command_group import ERROR, NOTHING_FOUND
from quire.cli.output import (
    MOST_SHOWN,
    Paint,
    Progress,
    count_of,
    is_terminal,
    message,
    note,
    show_findings,
    show_problem,
)
from quire.cli.tree_paths import current_folder, display_path, select
from quire.errors import InputError, QuireError, UndecodableError
from quire.model import Finding, doc_name
from quire.read.discover import Discovery, Found, Skipped, discover
from quire.read.source import CONVERT, OnUndecodable, unread
from quire.record import Chunks
from quire.settings import Tree, load
from quire.write.names import twin_key

Result = TypeVar("Result")

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"


# Reading


@dataclass(frozen=True)
class Text:
    """A document that has been read."""

    text: str
    path: str | None
    """Its name in ids; None for standard input."""
    name: str
    """Its name in messages: the path that the user would type."""
    findings: tuple[Finding, ...] = ()


def read_text(file: Path | None, name: str, errors: OnUndecodable) -> tuple[str, tuple[Finding, ...]]:
    """The text of a file, or of standard input for None, and the findings of decoding it."""
    try:
        if file is not None:
            return read.read_file(file, name, errors)
        if sys.stdin is None:
            raise InputError(name, "is closed", "pipe a document into it")
        return read.decode(sys.stdin.buffer.read(), name, errors)
    except UndecodableError as error:
        raise error.advising(f"{CONVERT}, or use --errors replace") from error
    except OSError as error:
        raise unread(name, error) from error


@dataclass(frozen=True, slots=True)
class InputDocument:
    """A document to read, in this process or in another."""

    name: str
    """Its name in messages: the path that the user would type."""
    found: Found | None
    """Its file; None for standard input."""
    errors: OnUndecodable

    @property
    def path(self) -> str | None:
        """Its name in ids; None for standard input."""
        return self.found.path if self.found else None

    def read(self) -> Text:
        """Read it; InputError if that fails."""
        text, findings = read_text(self.found.file if self.found else None, self.name, self.errors)
        return Text(text, self.path, self.name, findings)


def renamed(findings: Iterable[Finding], name: str) -> tuple[Finding, ...]:
    """Findings with the path that the user would type."""
    return tuple(replace(finding, path=name) for finding in findings)


# The summary of a run


class DocumentCount(NamedTuple):
    """The size of a document that was cut."""

    chunks: int = 0
    tokens: int = 0
    has_text: bool = False
    """Whether there is anything to cut; front matter is not."""


@dataclass
class Summary:
    """What a run has read, made and skipped."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0
    empty: int = 0
    """How many of the documents have no text."""
    findings: int = 0
    last: DocumentCount = field(default_factory=DocumentCount)
    """The document that was counted last."""
    skipped: list[Skipped] = field(default_factory=list)
    first_findings: list[Finding] = field(default_factory=list)
    """At most ``MOST_SHOWN``."""

    def add(self, document: Text, chunks: Chunks) -> None:
        """Count a document that was cut."""
        tokens = sum(chunk.token_stats.tokens for chunk in chunks)
        self.last = DocumentCount(len(chunks), tokens, has_text=bool(chunks or chunks.document.blocks))
        self._count(self.last, 1)
        self.findings += len(document.findings) + len(chunks.findings)
        found = (*document.findings, *chunks.findings)[: MOST_SHOWN - len(self.first_findings)]
        self.first_findings += renamed(found, document.name)

    def merge(self, later: Summary) -> None:
        """Add the summary of the documents that follow."""
        self.documents += later.documents
        self.chunks += later.chunks
        self.tokens += later.tokens
        self.empty += later.empty
        self.findings += later.findings
        self.last = later.last
        self.skipped += later.skipped
        self.first_findings += later.first_findings[: MOST_SHOWN - len(self.first_findings)]

    def skip(self, name: str, reason: str) -> None:
        """List a document that could not be read or cut."""
        self.skipped.append(Skipped(path=name, reason=reason, is_error=True))

    def refuse(self, name: str, reason: str, counted: DocumentCount) -> None:
        """List a document that was counted, but cannot be written."""
        self._count(counted, -1)
        self.skip(name, reason)

    def _count(self, counted: DocumentCount, times: int) -> None:
        self.documents += times
        self.chunks += times * counted.chunks
        self.tokens += times * counted.tokens
        self.empty += times * (not counted.has_text)

    def show(self, *, quiet: bool = False) -> None:
        """Print findings, skipped documents and totals to standard error; only errors if ``quiet``."""
        sys.stdout.flush()
        if not quiet:
            show_findings(self.first_findings, self.findings)
        shown = sorted(
            (each for each in self.skipped if each.is_error or not quiet), key=lambda each: not each.is_error
        )
        most = MOST_SHOWN if is_terminal(sys.stderr) else len(shown)
        for skipped in shown[:most]:
            show_problem(skipped.path, skipped.reason, "skipped")
        paint = Paint(sys.stderr)
        if len(shown) > most:
            note(paint.faint(f"… and {len(shown) - most:,} more skipped; 2>FILE writes all of them to a file"))
        if not quiet:
            empty = f" ({self.empty:,} without text)" if self.empty else ""
            totals = [count_of(self.chunks, "chunk"), count_of(self.tokens, "token")]
            skips = [paint.warning(f"{len(self.skipped):,} skipped")] if self.skipped else []
            note(", ".join([count_of(self.documents, "document") + empty, *totals, *skips]))

    def exit_code(self, paths: Sequence[str]) -> int:
        """2 after an error, 1 if there were no documents in ``paths`` (with a message), else 0."""
        if any(skipped.is_error for skipped in self.skipped):
            return ERROR
        if not self.documents:
            message(f"no documents in {', '.join(paths)}; quire looks for Markdown and .txt files")
            return NOTHING_FOUND
        return 0


def read_documents(documents: Sequence[InputDocument], summary: Summary) -> Iterator[Text]:
    """Read the documents one by one; those that cannot be read are listed in ``summary``."""
    with Progress() as progress:
        for done, document in enumerate(documents):
            progress.step(done, len(documents), document.name)
            try:
                text = document.read()
            except InputError as error:
                summary.skip(document.name, error.reason)
            else:
                yield text


def cut_documents(
    documents: Iterable[Text], cut: Callable[[Text], Result], summary: Summary
) -> Iterator[tuple[Text, Result]]:
    """Each document with its chunks; those that cannot be cut are listed in ``summary``."""
    for document in documents:
        try:
            result = cut(document)
        except QuireError as error:
            summary.skip(document.name, error.reason)
        else:
            yield document, result


# Which documents


@dataclass(frozen=True)
class Inputs:
    """What a command reads, and the ``[chunk]`` table of quire.toml."""

    paths: tuple[str, ...]
    """The paths on the command line, else those of the trees."""
    trees: Mapping[str, Tree]
    """The trees by path, if the command line has no path."""
    chunk: Mapping[str, Any]
    """The options under ``[chunk]``."""
    errors: OnUndecodable = "strict"
    follow: bool = False
    hidden: bool = False
    jobs: int | None = None

    @classmethod
    def load(cls, paths: tuple[str, ...], **options: Any) -> Inputs:
        """Complete the command line with the configuration."""
        try:
            folder = current_folder()
        except QuireError:
            if not paths:
                raise
            return cls(paths, {}, {}, **options)
        settings = load(folder)
        if paths:
            return cls(paths, {}, settings.chunk, **options)
        if not settings.trees:
            raise click.UsageError("Missing argument 'PATH...'; name files or folders, or set [trees] in quire.toml.")
        trees = {display_path(each.folder): settings.trees[each.tree] for each in select((), (), settings, {})}
        return cls(tuple(trees), trees, settings.chunk, **options)

    def cut_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the command line, completed by those under ``[chunk]`` that the strategy has."""
        strategy = given["strategy"] or self.chunk.get("strategy", run_options.DEFAULT_STRATEGY)
        known = {name: value for name, value in self.chunk.items() if name in run_options.valid_names(strategy)}
        return {name: known.get(name) if value is None else value for name, value in given.items()} | {
            "strategy": strategy
        }

    def documents(self, summary: Summary, *, distinct: str = "") -> list[InputDocument]:
        """The documents to read; files that cannot be taken are listed in ``summary``.

        ``distinct`` names what must not clash, ``files`` or ``ids``. Documents of several folders that would clash
        are named from the common folder above them, and skipped if they clash even so.
        """
        find = partial(_in_trees, self.trees) if self.trees else discover
        find = partial(find, follow_symlinks=self.follow, hidden=self.hidden)
        found = find([path for path in self.paths if path != STANDARD_INPUT])
        for each in found.skipped:
            hint = "; give its content on standard input" if each.is_stream else ""
            summary.skipped.append(each._replace(reason=each.reason + hint))
        documents = [InputDocument(str(each.file), each, self.errors) for each in found.documents]
        if STANDARD_INPUT in self.paths:
            before = frozenset(find(self.paths[: self.paths.index(STANDARD_INPUT)]).documents)
            position = sum(each in before for each in found.documents)
            documents.insert(position, InputDocument(STANDARD_INPUT_NAME, None, self.errors))
        return _without_clashes(_from_common_folder(documents), summary, distinct) if distinct else documents


def _in_trees(trees: Mapping[str, Tree], paths: Sequence[str], **options: bool) -> Discovery:
    """The documents of trees by their patterns; each file once, in the first tree that has it."""
    documents: dict[str, Found] = {}
    skipped: list[Skipped] = []
    for path in paths:
        found = discover([path], include=trees[path].include, exclude=trees[path].exclude, **options)
        skipped += found.skipped
        for each in found.documents:
            documents.setdefault(os.path.realpath(each.file), each)
    return Discovery(tuple(documents.values()), tuple(skipped))


def _from_common_folder(documents: list[InputDocument]) -> list[InputDocument]:
    """The documents, named from the common folder above them if some of different folders clash."""
    folders: dict[str, set[str]] = {}
    for each in documents:
        if each.found:
            folder = str(each.found.file)[: -len(each.found.path)]
            folders.setdefault(twin_key(doc_name(each.path)), set()).add(os.path.abspath(folder))  # noqa: PTH100
    if all(len(each) == 1 for each in folders.values()):
        return documents
    try:
        top = os.path.commonpath([folder for each in folders.values() for folder in each])
    except ValueError:  # on different drives
        return documents
    return [replace(each, found=each.found and _named_from(top, each.found)) for each in documents]


def _named_from(top: str, found: Found) -> Found:
    return found._replace(path=os.path.relpath(found.file, top).replace(os.sep, "/"))


def _without_clashes(documents: Sequence[InputDocument], summary: Summary, distinct: str) -> list[InputDocument]:
    """The documents without those that share a path: quire cannot know which one is wanted."""
    paths = Counter(each.path for each in documents)
    for each in documents:
        if paths[each.path] > 1:
            problem = f"another document is called {each.path} too, so {distinct} would meet"
            summary.skip(each.name, f"{problem}; give a directory above both")
    return [each for each in documents if paths[each.path] == 1]
