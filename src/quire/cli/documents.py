"""The documents a command was given, read and cut one by one. jobs.py has them read and cut by several processes.

A document that cannot be read or cut is noted and the next one follows.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from quire import read
from quire.cli.commands import ERROR, NOTHING_FOUND
from quire.cli.output import MOST_SHOWN, Paint, Progress, count_of, is_terminal, note, show_findings
from quire.cli.shown import visible
from quire.errors import InputError, QuireError, UndecodableError
from quire.model import Finding, doc_name
from quire.read.discover import Discovery, Found, Skipped, discover
from quire.read.source import CONVERT, OnUndecodable, unread
from quire.record import Chunks
from quire.settings import Tree
from quire.write.file_names import twin_key

Result = TypeVar("Result")

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"


@dataclass(frozen=True)
class Text:
    """A document that has been read."""

    text: str
    """Its text."""
    path: str | None
    """Its name in ids; None for standard input."""
    name: str
    """Its name in messages: how the user would reach it."""
    findings: tuple[Finding, ...] = ()
    """What decoding found."""


@dataclass(frozen=True, slots=True)
class ToRead:
    """A document that is still to be read, in this process or in another."""

    name: str
    """Its name in messages: how the user would reach it."""
    found: Found | None
    """Its file; None for standard input."""
    errors: OnUndecodable
    """What to do about bytes that are no text."""

    @property
    def path(self) -> str | None:
        """Its name in ids; None for standard input."""
        return self.found.path if self.found else None

    def read(self) -> Text:
        """The document; InputError if that cannot be had."""
        if self.found is None:
            text, findings = read_standard_input(self.errors)
            return Text(text, None, self.name, findings)
        text, findings = read_file(self.found.file, self.found.path, self.errors)
        return Text(text, self.found.path, self.name, findings)


class Counted(NamedTuple):
    """What there is of a document."""

    chunks: int
    tokens: int
    has_text: bool
    """Whether there is anything to cut; front matter is none."""


_NOTHING = Counted(0, 0, has_text=False)


@dataclass
class Tally:
    """What a run has done."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0
    empty: int = 0
    """How many of the documents hold no text, and so give no chunk."""
    findings: int = 0
    last: Counted = _NOTHING
    """Of the document that was counted last."""
    skipped: list[Skipped] = field(default_factory=list)
    first_findings: list[Finding] = field(default_factory=list)
    """As many as are shown."""

    @property
    def has_errors(self) -> bool:
        """Whether something that the user asked for could not be done."""
        return any(skipped.is_error for skipped in self.skipped)

    def add(self, document: Text, chunks: Chunks) -> None:
        """Count a document that was cut."""
        tokens = sum(chunk.token_stats.tokens for chunk in chunks)
        self.last = Counted(len(chunks), tokens, has_text=bool(chunks or chunks.document.blocks))
        self._count(self.last, 1)
        self.add_findings(document, (*document.findings, *chunks.findings))

    def add_findings(self, document: Text, findings: Sequence[Finding]) -> None:
        """Count findings; the first are kept, under the name by which the user knows the document."""
        room = MOST_SHOWN - len(self.first_findings)
        self.first_findings += renamed(islice(findings, room), document.name)
        self.findings += len(findings)

    def merge(self, later: Tally) -> None:
        """Count what another tally has counted of the documents that follow."""
        self.documents += later.documents
        self.chunks += later.chunks
        self.tokens += later.tokens
        self.empty += later.empty
        self.last = later.last
        self.findings += later.findings
        self.skipped += later.skipped
        self.first_findings += later.first_findings[: MOST_SHOWN - len(self.first_findings)]

    def fail(self, name: str, error: QuireError) -> None:
        """Note a document that could not be read or cut."""
        self.skipped.append(Skipped(path=name, reason=error.reason, is_error=True))

    def refuse(self, name: str, reason: str, counted: Counted) -> None:
        """Note a document that was counted, and is not taken."""
        self._count(counted, -1)
        self.skipped.append(Skipped(path=name, reason=reason, is_error=True))

    def _count(self, counted: Counted, times: int) -> None:
        self.documents += times
        self.chunks += times * counted.chunks
        self.tokens += times * counted.tokens
        self.empty += times * (not counted.has_text)

    def show(self, *, quiet: bool = False) -> None:
        """The closing summary; only what went wrong, if ``quiet``."""
        sys.stdout.flush()
        paint = Paint(sys.stderr)
        if not quiet:
            show_findings(self.first_findings, self.findings)
        shown = sorted(self.skipped, key=lambda skipped: not skipped.is_error)
        shown = [skipped for skipped in shown if skipped.is_error or not quiet]
        most = MOST_SHOWN if is_terminal(sys.stderr) else len(shown)
        for skipped in shown[:most]:
            note(f"{paint.place(skipped.path)}: {paint.plain(skipped.reason)} {paint.faint('[skipped]')}")
        if len(shown) > most:
            note(paint.faint(f"… and {len(shown) - most:,} more skipped; 2>FILE writes all of them to a file"))
        if quiet:
            return
        empty = f" ({self.empty:,} without text)" if self.empty else ""
        parts = [
            count_of(self.documents, "document") + empty,
            count_of(self.chunks, "chunk"),
            count_of(self.tokens, "token"),
        ]
        if self.skipped:
            parts.append(paint.warning(f"{len(self.skipped):,} skipped"))
        note(", ".join(parts))


def to_read(
    paths: Sequence[str],
    tally: Tally,
    *,
    errors: OnUndecodable = "strict",
    follow: bool = False,
    hidden: bool = False,
    distinct: str | None = None,
    trees: Mapping[str, Tree] | None = None,
) -> list[ToRead]:
    """The documents at ``paths``; what is there and cannot be taken is noted in ``tally``.

    ``trees`` are those that the paths stand for, if no path was given; their patterns are applied.
    Where the documents' ``distinct``, files or ids, must not meet, those of several folders that would are named from
    the folder above all; of those that meet even so, none is taken.
    """
    find = partial(_in_trees, trees) if trees else discover
    find = partial(find, follow_symlinks=follow, hidden=hidden)
    found = find([path for path in paths if path != STANDARD_INPUT])
    tally.skipped += map(_advised, found.skipped)
    documents = [ToRead(str(each.file), each, errors) for each in found.documents]
    if STANDARD_INPUT in paths:
        before = frozenset(find(paths[: paths.index(STANDARD_INPUT)]).documents)
        place = sum(each in before for each in found.documents)
        documents.insert(place, ToRead(STANDARD_INPUT_NAME, None, errors))
    return _with_own_paths(_from_common_folder(documents), tally, distinct) if distinct else documents


def _in_trees(trees: Mapping[str, Tree], paths: Sequence[str], **options: bool) -> Discovery:
    """The documents of trees by their patterns; each file once, in the first tree that has it."""
    documents: dict[str, Found] = {}
    skipped: list[Skipped] = []
    for path in paths:
        tree = trees[path]
        found = discover([path], include=tree.include, exclude=tree.exclude, **options)
        skipped += found.skipped
        for each in found.documents:
            documents.setdefault(os.path.realpath(each.file), each)
    return Discovery(tuple(documents.values()), tuple(skipped))


def read_all(documents: Sequence[ToRead], tally: Tally) -> Iterator[Text]:
    """The documents, read one by one, with a word on how far that is; those that cannot be are noted in ``tally``."""
    progress = Progress(len(documents))
    try:
        for done, reading in enumerate(documents):
            progress.step(done, reading.name)
            try:
                text = reading.read()
            except InputError as error:
                tally.fail(reading.name, error)
            else:
                yield text
    finally:
        progress.end()


def cut_all(documents: Iterable[Text], cut: Callable[[Text], Chunks], tally: Tally) -> Iterator[tuple[Text, Chunks]]:
    """Each document with its chunks, counted in ``tally``; those that cannot be cut are noted there."""
    for document, chunks in attempted(documents, cut, tally):
        tally.add(document, chunks)
        yield document, chunks


def attempted(documents: Iterable[Text], cut: Callable[[Text], Result], tally: Tally) -> Iterator[tuple[Text, Result]]:
    """Each document with what ``cut`` makes of it; those that cannot be cut are noted in ``tally``."""
    for document in documents:
        try:
            result = cut(document)
        except QuireError as error:
            tally.fail(document.name, error)
        else:
            yield document, result


def renamed(findings: Iterable[Finding], name: str) -> list[Finding]:
    """Findings under the name by which the user knows the document."""
    return [replace(finding, path=name) for finding in findings]


def _advised(skipped: Skipped) -> Skipped:
    return (
        skipped._replace(reason=f"{skipped.reason}; give its content on standard input")
        if skipped.is_stream
        else skipped
    )


def read_file(file: Path, name: str, errors: OnUndecodable) -> tuple[str, tuple[Finding, ...]]:
    """The text of a file, and what decoding found; ``name`` is what messages call it."""
    with _decoding_advised():
        return read.read_file(file, name, errors)


@contextmanager
def _decoding_advised() -> Iterator[None]:
    """What can be done here about bytes that are no text."""
    try:
        yield
    except UndecodableError as error:
        raise error.advising(f"{CONVERT}, or use --errors replace") from error


def read_standard_input(errors: OnUndecodable) -> tuple[str, tuple[Finding, ...]]:
    """The text on standard input, and what decoding found."""
    if sys.stdin is None:
        raise InputError(STANDARD_INPUT_NAME, "is closed", "pipe a document into it")
    try:
        data = sys.stdin.buffer.read()
    except OSError as error:
        raise unread(STANDARD_INPUT_NAME, error) from error
    with _decoding_advised():
        return read.decode(data, STANDARD_INPUT_NAME, errors)


def exit_code(tally: Tally, paths: Sequence[str]) -> int:
    """What a run has come to, with a word where it found nothing."""
    if tally.has_errors:
        return ERROR
    if not tally.documents:
        note(f"quire: no documents in {visible(', '.join(paths))}; quire looks for Markdown and .txt files")
        return NOTHING_FOUND
    return 0


def _from_common_folder(documents: list[ToRead]) -> list[ToRead]:
    """The documents, named from the folder above all that was given if some of different folders would meet."""
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


def _with_own_paths(documents: Sequence[ToRead], tally: Tally, distinct: str) -> list[ToRead]:
    """The documents without those that share a path: none of them is better than another."""
    paths = Counter(each.path for each in documents)
    for each in documents:
        if paths[each.path] > 1:
            what = f"another document is called {each.path} too, so {distinct} would meet"
            reason = f"{what}; give a directory above both"
            tally.skipped.append(Skipped(path=each.name, reason=reason, is_error=True))
    return [each for each in documents if paths[each.path] == 1]
