"""A list of documents with token counts that fits a limit: with headings if possible, else shortened to folders."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from quire.index.file_records import FileRecord
from quire.index.node import Node

_LINE_TOKENS = 8  # at least; for too many documents, headings need not be tried
_DEEPEST_HEADING, _ALL_HEADINGS = 3, 6  # of many documents, and of one


class Entry(NamedTuple):
    """A line of the list."""

    id: str  # of a document or section; of a folder with a slash at its end
    title: str  # or how many documents a folder has
    tokens: int
    lines: str = ""  # ``12-40`` for a section
    depth: int = 0  # 0 for a document or folder, else the heading level

    @property
    def line(self) -> str:
        """The entry as a line; of a section without the id of its document."""
        name = "#" + self.id.rpartition("#")[2] if self.depth else self.id
        lines = f" {self.lines}" if self.lines else ""
        return f"{'  ' * self.depth}{name} {self.title}{lines} ({self.tokens:,})"


class DocumentList(NamedTuple):
    """Some or all entries of the most detailed level that fits."""

    entries: Sequence[Entry]
    total: int  # how many entries the level has
    is_shortened: bool  # whether there are folders instead of documents


def document_list(
    documents: Sequence[FileRecord],
    headings: Callable[[str], Sequence[Node]],
    fits: Callable[[DocumentList], bool],
    *,
    max_tokens: int,
    start: int = 0,
) -> DocumentList:
    """The most detailed list that fits, or the part of the shortest one from ``start`` on that does.

    ``headings`` are the nodes of a document, by its id.
    """
    for rows, is_shortened in _levels(documents, headings, max_tokens):
        whole = DocumentList(rows, len(rows), is_shortened)
        if not start and fits(whole):
            return whole

    def part(stop: int) -> DocumentList:
        return whole._replace(entries=whole.entries[start:stop])

    stops = range(start + 1, whole.total + 1)
    return part(start + bisect_left(stops, True, key=lambda stop: not fits(part(stop))))


def _levels(
    documents: Sequence[FileRecord], headings: Callable[[str], Sequence[Node]], max_tokens: int
) -> Iterator[tuple[Sequence[Entry], bool]]:
    plain = [Entry(document.id, document.title, document.tokens) for document in documents]
    if len(documents) * _LINE_TOKENS <= max_tokens:
        nodes = [headings(document.id) for document in documents]
        for deepest in range(_DEEPEST_HEADING if len(documents) > 1 else _ALL_HEADINGS, 0, -1):
            rows = [(row, *_section_rows(below, deepest)) for row, below in zip(plain, nodes, strict=True)]
            yield [row for group in rows for row in group], False
    yield plain, False
    folders = [[document.tree, *document.path.split("/")[:-1]] for document in documents] or [[""]]
    shared = sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False)))
    for kept in range(max(map(len, folders)) - 2, max(shared - 1, 0) - 1, -1):
        yield list(_folder_rows(documents, kept)), True


def _section_rows(nodes: Sequence[Node], deepest: int) -> Iterator[Entry]:
    """The headings of a document, without one that repeats its title."""
    for node in nodes:
        is_title = node.depth == 1 and node.title == nodes[0].title
        if 0 < node.depth <= deepest and not is_title:
            yield Entry(node.id, node.title, node.full_tokens, f"{node.line}-{node.full_last_line}", node.depth)


def _folder_rows(documents: Sequence[FileRecord], kept: int) -> Iterator[Entry]:
    """Documents at most ``kept`` folders deep; of deeper folders the number of documents and tokens."""
    folders: dict[str, list[FileRecord]] = {}
    for document in documents:
        parts = document.path.split("/")
        is_deep = len(parts) > kept + 1
        name = f"{document.tree}:{'/'.join(parts[: kept + 1])}/" if is_deep else document.id
        folders.setdefault(name, []).append(document)
    for name, group in folders.items():
        title = f"{len(group):,} document{'s' * (len(group) > 1)}" if name.endswith("/") else group[0].title
        yield Entry(name, title, sum(document.tokens for document in group))
