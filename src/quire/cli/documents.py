"""The documents a command was given, read and cut one by one. jobs.py has them read and cut by several processes.

A document that cannot be read or cut is noted and the next one follows.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from quire import read
from quire.cli.commands import ERROR, NOTHING_FOUND
from quire.cli.output import MOST_SHOWN, Paint, Progress, count_of, in_options, is_terminal, note, show_findings
from quire.cli.shown import visible
from quire.errors import GuardError, InputError, QuireError
from quire.model import Finding, doc_name
from quire.read.discover import Found, Skipped, discover
from quire.read.source import OnUndecodable, unreadable
from quire.record import Chunks

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
class Reading:
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
        text, findings = read.read_file(self.found.file, self.found.path, self.errors)
        return Text(text, self.found.path, self.name, findings)


class Distinct(NamedTuple):
    """In what documents must differ."""

    what: str
    """What would meet, for messages."""
    name: Callable[[str], str]
    """The part of a path that it is made of."""


@dataclass
class Tally:
    """What a run has done."""

    documents: int = 0
    chunks: int = 0
    tokens: int = 0
    findings: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    first_findings: list[Finding] = field(default_factory=list)
    """As many as are shown."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many documents, chunks and tokens there are."""
        return self.documents, self.chunks, self.tokens

    @property
    def has_errors(self) -> bool:
        """Whether something that the user asked for could not be done."""
        return any(skipped.is_error for skipped in self.skipped)

    def add(self, document: Text, chunks: Chunks) -> None:
        """Count a document that was cut."""
        self.documents += 1
        self.chunks += len(chunks)
        self.tokens += sum(chunk.token_stats.tokens for chunk in chunks)
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
        self.findings += later.findings
        self.skipped += later.skipped
        self.first_findings += later.first_findings[: MOST_SHOWN - len(self.first_findings)]

    def fail(self, name: str, error: QuireError) -> None:
        """Note a document that could not be read or cut."""
        reason = error.reason if isinstance(error, InputError | GuardError) else str(error)
        self.skipped.append(Skipped(path=name, reason=reason, is_error=True))

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
            note(f"{paint.place(skipped.path)}: {paint.plain(in_options(skipped.reason))} {paint.faint('[skipped]')}")
        if len(shown) > most:
            note(paint.faint(f"… and {len(shown) - most:,} more skipped; 2>FILE writes all of them to a file"))
        if quiet:
            return
        parts = [count_of(self.documents, "document"), count_of(self.chunks, "chunk"), count_of(self.tokens, "token")]
        if self.skipped:
            parts.append(paint.warning(f"{len(self.skipped):,} skipped"))
        note(", ".join(parts))


def readings(
    paths: Sequence[str],
    tally: Tally,
    *,
    errors: OnUndecodable = "strict",
    follow: bool = False,
    hidden: bool = False,
    distinct: Distinct | None = None,
) -> list[Reading]:
    """The documents at ``paths``; what is there and cannot be taken is noted in ``tally``.

    Of documents that meet in what is to be ``distinct``, only the first is taken; of those with one path, none.
    """
    find = partial(discover, follow_symlinks=follow, hidden=hidden)
    found = find([path for path in paths if path != STANDARD_INPUT])
    tally.skipped += found.skipped
    documents = [Reading(str(each.file), each, errors) for each in found.documents]
    if STANDARD_INPUT in paths:
        before = frozenset(find(paths[: paths.index(STANDARD_INPUT)]).documents)
        place = sum(each in before for each in found.documents)
        documents.insert(place, Reading(STANDARD_INPUT_NAME, None, errors))
    return _taken(documents, tally, distinct) if distinct else documents


def read_all(documents: Sequence[Reading], tally: Tally) -> Iterator[Text]:
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
    for document in documents:
        try:
            chunks = cut(document)
        except QuireError as error:
            tally.fail(document.name, error)
        else:
            tally.add(document, chunks)
            yield document, chunks


def renamed(findings: Iterable[Finding], name: str) -> list[Finding]:
    """Findings under the name by which the user knows the document."""
    return [replace(finding, path=name) for finding in findings]


def read_standard_input(errors: OnUndecodable) -> tuple[str, tuple[Finding, ...]]:
    """The text on standard input, and what decoding found."""
    if sys.stdin is None:
        raise InputError(STANDARD_INPUT_NAME, "is closed; pipe a document into it")
    try:
        data = sys.stdin.buffer.read()
    except OSError as error:
        raise InputError(STANDARD_INPUT_NAME, unreadable(error)) from error
    return read.decode(data, STANDARD_INPUT_NAME, errors)


def exit_code(tally: Tally, paths: Sequence[str]) -> int:
    """What a run has come to, with a word where it found nothing."""
    if tally.has_errors:
        return ERROR
    if not tally.documents:
        note(f"quire: no documents in {visible(', '.join(paths))}; quire looks for Markdown and .txt files")
        return NOTHING_FOUND
    return 0


def _taken(documents: Sequence[Reading], tally: Tally, distinct: Distinct) -> list[Reading]:
    """The documents that do not meet; where several have one path, none is better than another."""
    paths = Counter(each.path for each in documents)
    first: dict[str, Reading] = {}
    taken: list[Reading] = []
    for each in documents:
        if paths[each.path] > 1:
            what = f"another document is called {each.path} too, so {distinct.what} would meet"
            reason = f"{what}; give a directory above both"
        else:
            other = first.setdefault(distinct.name(each.path or doc_name(None)), each)
            if other is each:
                taken.append(each)
                continue
            what = f"its {distinct.what} would meet those of {other.path or other.name}"
            reason = f"{what}; rename {'one' if each.path and other.path else 'the file'}"
        tally.skipped.append(Skipped(path=each.name, reason=reason, is_error=True))
    return taken
