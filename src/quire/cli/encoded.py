"""What is made of the chunks of a document by the process that cuts it, be it this one. After: chunk.py writes it.

Neighbours: jobs.py shares out the work, write/ encodes files, lines and rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from quire import wire
from quire.cli.documents import STANDARD_INPUT_NAME, Tally, Text, ToRead, cut_all
from quire.cli.jobs import Cutter, results
from quire.model import UNTITLED, doc_name
from quire.record import Chunks

Content = TypeVar("Content")


class Made(NamedTuple, Generic[Content]):
    """What was made of a document."""

    name: str
    """The document's name in messages: how the user would reach it."""
    path: str | None
    """Its name in ids; None for standard input."""
    content: Content


Documents: TypeAlias = Iterable[Made[Any]]

_NODE = re.compile(r"(?s)(?P<holder>.+)#[a-z0-9_-]+")
"""What may be the id of a section of another document."""


def made(
    documents: Sequence[ToRead], cut: Cutter, make: Callable[[Chunks], Content], tally: Tally, *, workers: int
) -> Generator[Made[Content], None, None]:
    """What ``make`` makes of the chunks of each document, in ``workers`` processes; to be closed."""
    return results(documents, _Making(cut, make, is_sent=workers > 1), tally, workers)


def records(chunks: Chunks, form: wire.Form) -> Iterator[bytes]:
    """The records of a document, each as JSON, made one by one."""
    return (wire.to_json(record) for record in wire.records(chunks, form))


def with_own_ids(documents: Documents, tally: Tally, strategy: str, form: str | None) -> Iterator[Made[Any]]:
    """The documents whose ids do not meet those of one before; ids hold a path, or one without its ending."""
    is_compact = form == "compact"
    has_nodes = strategy == "tree" and not is_compact
    named: dict[str, str] = {}
    holders: dict[str, str] = {}
    for each in documents:
        name = (each.path or UNTITLED) if is_compact or has_nodes else doc_name(each.path)
        node = _NODE.fullmatch(name) if has_nodes else None
        holder = node["holder"] if node else name
        other = named.get(name) or named.get(holder) or holders.get(name)
        if other:
            is_piped = STANDARD_INPUT_NAME in (other, each.name)
            reason = f"its ids would meet those of {other}; rename {'the file' if is_piped else 'one'}"
            tally.refuse(each.name, reason, tally.last)
            continue
        shown = each.path or each.name
        named[name] = shown
        holders.setdefault(holder, shown)
        yield each


@dataclass(frozen=True)
class _Making(Generic[Content]):
    """Cuts documents, and makes something of their chunks. It can be sent to another process."""

    cut: Cutter
    make: Callable[[Chunks], Content]
    is_sent: bool
    """Whether another process writes what is made, so that it must be complete."""

    def __call__(self, documents: Iterable[Text], tally: Tally) -> Iterator[Made[Content]]:
        for document, chunks in cut_all(documents, self.cut, tally):
            content: Any = self.make(chunks)
            if self.is_sent and isinstance(content, Iterator):
                content = [*content]
            yield Made(document.name, document.path, content)

    def prepare(self) -> None:
        self.cut.prepare()
