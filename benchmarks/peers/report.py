"""The page: all tools on the same documents in one run, how fast, and what went wrong. Neighbours: all of peers/."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import quire
from benchmarks import cost, peers
from benchmarks import measure as documents_of
from benchmarks.measure import Document
from benchmarks.peers import plot, speed, tokenizers
from benchmarks.peers.judge import Verdict, judge
from benchmarks.peers.record import CAP, Count, Peer, Split
from benchmarks.peers.truth import truth

ROUNDS = 3
STEP = 3
"""Every so many documents are cut."""
PICTURE = Path(__file__).parents[1] / "results" / "peers.svg"
COLUMNS = {
    "lost_places": "text lost, places",
    "foreign_chunks": "text altered",
    "over": "over the cap",
    "torn_fences": "code torn from its fence",
    "unindented": "code unindented",
    "cut_rows": "table rows cut",
    "headless": "table without header",
    "hanging": "ends in a heading",
    "false_headings": "false headings",
    "missed_headings": "headings missed",
    "offsets": "offsets wrong or missing",
}
"""What the table calls the things that go wrong."""


BASE = "quire `packed`"
"""The tool that the others' times are given in."""


class Row(NamedTuple):
    """A tool and what is known of it."""

    peer: Peer
    seconds: float
    """As its users run it."""
    given: float | None
    """With quire's counter; None if it takes no other than its own."""
    verdict: Verdict


def run(rounds: int = ROUNDS, step: int = STEP) -> Iterator[str]:
    """The page as lines of Markdown; the picture is written beside it. Every ``step``th document."""
    documents = documents_of.documents()[::step]
    if not documents:
        yield "No documents: set QUIRE_SHARED to a folder with Markdown files."
        return
    found, gaps = peers.load()
    documents_of.load()
    times = speed.measure(makers(found), documents, rounds)
    count, counted_by = _reference()
    verdicts, failures = _judged([peer for peer in found if peer.name in times.seconds], documents, count)
    gaps |= {**times.failures, **failures}
    rows = sorted(
        (
            Row(peer, times.seconds[peer.name], times.seconds.get(_given(peer)), verdicts[peer.name])
            for peer in found
            if peer.name in verdicts
        ),
        key=lambda row: (not _is_own(row.peer), row.seconds),
    )
    size = documents_of.megabytes(documents)
    PICTURE.write_text(_picture(rows, size), encoding="utf-8")
    yield f"One in {step} documents of the shared data: {len(documents):,}, {size:.1f} MB. {_machine()}."
    yield f"{_versions(found)}."
    yield ""
    yield "![speed, and how much went wrong](peers.svg)"
    yield ""
    yield from _speeds(rows, [times.seconds[part] for part in speed.PARTS], size, rounds)
    yield from ("", "## What went wrong", "", *_legend(counted_by), "", *_defects(rows))
    if gaps:
        yield from ("", "## Not measured", "", *(f"- {name}: {reason}" for name, reason in gaps.items()))
    yield from ("", "## Any tokenizer", "", *_ABOUT_TOKENIZERS, "", *tokenizers.rows(documents[::8] or documents))


def makers(found: Sequence[Peer]) -> dict[str, Callable[[], Split]]:
    """Each tool as its users run it, and with quire's counter where that is another splitter."""
    with_counter = {_given(peer): peer.given for peer in found if peer.given is not None}
    return {**{peer.name: peer.make for peer in found}, **with_counter}


def _given(peer: Peer) -> str:
    """The name of the tool with quire's counter; its own name if that makes no difference."""
    return peer.name if peer.given is peer.make else f"{peer.name}, quire's counter"


_ABOUT_TOKENIZERS = (
    "quire with counters of which it knows nothing: how often it asks, and how much text it hands over, with every",
    "chunk and its counts read. Every eighth document.",
)


def _reference() -> tuple[Count, str]:
    """The real tiktoken if it and its vocabulary are here, else quire's own counter, which is tested against it."""
    if peers.rank_files() is not None:
        try:
            import tiktoken  # noqa: PLC0415 - may be missing
        except ImportError:
            pass
        else:
            encode = tiktoken.get_encoding("o200k_base").encode_ordinary
            return (lambda text: len(encode(text))), "tiktoken"
    return cost.COUNTER.count, "quire's counter, as tiktoken or its vocabulary is not installed"


def _judged(
    found: Sequence[Peer], documents: Sequence[Document], count: Count
) -> tuple[dict[str, Verdict], dict[str, str]]:
    """A verdict for each, added up over the documents; and who failed here."""
    verdicts = {peer.name: Verdict() for peer in found}
    failures: dict[str, str] = {}
    splits = {peer.name: peer.make() for peer in found}
    for _, text in documents:
        facts = truth(text)
        for peer in found:
            try:
                output = peer.output(text, splits[peer.name](text))
            except Exception as error:  # noqa: BLE001 - others' code may raise anything; it is named on the page
                failures[peer.name] = f"{type(error).__name__}: {error}"[:160]
            else:
                verdicts[peer.name] += judge(facts, output, count, peer)
    return {name: verdict for name, verdict in verdicts.items() if name not in failures}, failures


def _is_own(peer: Peer) -> bool:
    return peer.packages == (quire.DISTRIBUTION,)


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def _versions(found: Sequence[Peer]) -> str:
    packages = dict.fromkeys(package for peer in found for package in (*peer.packages, "markdown-it-py", "tiktoken"))
    return ", ".join(f"{package} {_version(package)}" for package in packages)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _speeds(rows: Sequence[Row], parts: Sequence[float], size: float, rounds: int) -> Iterator[str]:
    yield f"CPU time, all in turn on each document, the best of {rounds} rounds; each tool begins each round with"
    yield f"nothing remembered. Every tool has a cap of {CAP} tokens of o200k_base, where it takes one. *As its users"
    yield "run it*: as its documentation shows it with exact counts, by tiktoken for all but quire. *Same counter*:"
    yield "with quire's counter, which is faster; “–”: it takes no other than its own. quire reads CommonMark alone,"
    yield 'as the judge does (`dialect="commonmark"`).'
    yield ""
    yield f"| | as its users run it, times {BASE} | same counter, times {BASE} | MB/s as run | chunks | went wrong |"
    yield "|---|---|---|---|---|---|"
    base = next((row.seconds for row in rows if row.peer.name == BASE), sum(parts))
    for row in rows:
        given = "–" if row.given is None else f"{row.given / base:.2f}"
        cells = f"{row.seconds / base:.2f} | {given} | {size / row.seconds:.1f}"
        yield f"| {row.peer.name} | {cells} | {row.verdict.chunks:,} | {row.verdict.defects:,} |"
    for name, seconds in zip(speed.PARTS, parts, strict=True):
        yield f"| *{name}* | | {seconds / base:.2f} | {size / seconds:.1f} | | |"
    yield from ("", "In a sentence:", "", *(f"- **{row.peer.name}**: {row.peer.note}" for row in rows if row.peer.note))


def _legend(counted_by: str) -> Iterator[str]:
    yield "By a judge that shares no code with any of them: markdown-it-py parses, and tokens are counted by"
    yield f"{counted_by}. Chunks are counted, or places in the document. Nobody is blamed for white space, for text"
    yield "that is in the metadata instead, or for cutting what cannot fit the cap. “–”: the tool does not offer it."


def _defects(rows: Sequence[Row]) -> Iterator[str]:
    yield f"| | {' | '.join(COLUMNS.values())} |"
    yield f"|---{'|---' * len(COLUMNS)}|"
    for row in rows:
        cells = (getattr(row.verdict, name) for name in COLUMNS)
        yield f"| {row.peer.name} | {' | '.join('–' if cell is None else f'{cell:,}' for cell in cells)} |"


def _picture(rows: Sequence[Row], size: float) -> str:
    shown = [
        plot.Bar(row.peer.name, size / row.seconds, row.verdict.defects, _is_own(row.peer), row.peer.has_cap)
        for row in rows
    ]
    below = "text lost or altered, chunks over the cap, torn code and tables, hanging or wrong headings, wrong offsets"
    title = f"Markdown to chunks of {CAP} tokens: speed as its users run it, and what went wrong"
    return plot.bars(shown, title, below)
