"""Chunks of documents, cut here or by several processes. Neighbours: jobs.py shares out the work, chunk.py writes.

Another process sends the records of its chunks encoded, as what writes them takes them: JSON stands for chunks of which
only the record is asked for, rows of a table are written as they are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import msgspec

from quire import wire
from quire.cli.documents import Reading, Tally, Text, cut_all, read_all
from quire.cli.jobs import Cut, results
from quire.model import Source
from quire.record import Chunk, Chunks
from quire.write.parquet import Rows, check_installed, rows

Use: TypeAlias = Literal["records", "lines", "whole"]
"""What becomes of chunks: records are written one by one, or all as lines; or their fields are asked for."""


def chunks_of(
    documents: Sequence[Reading], cut: Cut, tally: Tally, *, workers: int, form: wire.Form, use: Use
) -> Generator[Chunks, None, None]:
    """The chunks of each document, cut by ``workers`` processes; to be closed.

    If there are several, the chunks have nothing but a record, and that in its ``form``, unless they are to be used
    whole. As lines, those of a document are one.
    """
    if workers == 1:
        yield from _cut_here(documents, cut, tally)
        return
    with closing(results(documents, _Encoding(cut, form, use), tally, workers)) as encoded:
        for path, lines in encoded:
            empty = _empty(cut)
            chunks = [wire.decode(line) for line in lines] if use == "whole" else _standing_for(lines)
            document = replace(empty.document, source=Source(text="", path=path))
            yield Chunks(chunks, document=document, options=empty.options)


def rows_of(
    documents: Sequence[Reading], cut: Cut, tally: Tally, *, workers: int
) -> Generator[Chunks | Rows, None, None]:
    """The chunks of each document for a table, as rows if several processes cut them; to be closed."""
    if workers == 1:
        yield from _cut_here(documents, cut, tally)
        return
    check_installed()  # another process would have it for the fault of a document
    with closing(results(documents, _InRows(cut), tally, workers)) as made:
        yield from made


def _cut_here(documents: Sequence[Reading], cut: Cut, tally: Tally) -> Iterator[Chunks]:
    return (chunks for _, chunks in cut_all(read_all(documents, tally), cut, tally))


@cache
def _empty(cut: Cut) -> Chunks:
    """No chunks, but all that is known beside them; made when processes are at work, for it loads what they load."""
    return cut(Text("", None, ""))


class _Encoded(NamedTuple):
    """A chunk's record, made by another process."""

    chunk_number: int
    line: bytes

    def to_dict(self) -> Any:
        """The record, as something that is written to JSON as it is."""
        return msgspec.Raw(self.line)


def _standing_for(lines: Iterable[bytes]) -> list[Chunk]:
    return cast("list[Chunk]", [_Encoded(number, line) for number, line in enumerate(lines)])


@dataclass(frozen=True)
class _Encoding:
    """Cuts documents, and encodes the records of their chunks."""

    cut: Cut
    form: wire.Form
    use: Use

    def __call__(self, documents: Iterable[Text], tally: Tally) -> Iterator[tuple[str | None, list[bytes]]]:
        for document, chunks in cut_all(documents, self.cut, tally):
            lines = [wire.to_json(record) for record in wire.records(chunks, self.form)]
            # One text is sent and written in a fraction of the time.
            yield document.path, [b"\n".join(lines)] if self.use == "lines" and lines else lines

    def prepare(self) -> None:
        self.cut.prepare()


@dataclass(frozen=True)
class _InRows:
    """Cuts documents, and makes rows of their chunks."""

    cut: Cut

    def __call__(self, documents: Iterable[Text], tally: Tally) -> Iterator[Rows]:
        for _, chunks in cut_all(documents, self.cut, tally):
            yield rows(chunks)

    def prepare(self) -> None:
        self.cut.prepare()
