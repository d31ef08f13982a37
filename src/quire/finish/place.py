"""What a chunk is called and where it stands: ids, headings, positions, metadata. Used by assemble.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from quire import __version__, crumbs
from quire.config import Options
from quire.finish.ids import document_id, ids, node_id
from quire.model import OWN_METADATA, UNTITLED, Block, Document, between
from quire.offsets import bytes_at, lines_at
from quire.pieces import Piece
from quire.record import SourcePosition

MDAST_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "quote": "blockquote",
        "footnote": "footnoteDefinition",
        "rule": "thematicBreak",
        "reference": "definition",
        "directive": "containerDirective",
    }
)
"""mdast's names for kinds of block, where they are not the same."""
_MANY_CHARACTERS = 1_000_000
"""So much text is looked at together."""


class Places:
    """The places of the chunks of a document; what chunks of one section have in common is found out once."""

    def __init__(
        self, document: Document, pieces: Sequence[Piece], options: Options, metadata: Mapping[str, Any]
    ) -> None:
        self._document = document
        self._pieces = pieces
        self._options = options
        self._common = {
            "content_type": options.content_type,
            "strategy": options.strategy,
            "file_title": document.title,
            "position": None,
            "parent_id": document_id(document, options),
            "metadata": metadata,
        }
        self._file_name = _file_name(document.path)
        self._is_whole = options.strategy == "packed" and len(pieces) == 1  # one chunk is known by its file
        self._ids = ids(document, pieces, options)
        self._last: tuple[int, dict[str, Any]] = -1, {}

    def put(self, held: dict[str, Any], titles: tuple[str, ...]) -> None:
        """Fill in what says the place of a chunk; ``titles`` are those of its section and the ones above."""
        number, names = held["chunk_number"], self._ids
        section = self._pieces[number].section
        known, shared = self._last  # chunks of one section mostly follow one another
        if known != section:
            shared = self._shared(section, titles)
            self._last = section, shared
        held["id"] = names[number]
        held["prev_id"] = names[number - 1] if number else None
        held["next_id"] = names[number + 1] if number + 1 < len(names) else None
        held.update(shared)

    def _shared(self, section: int, titles: tuple[str, ...]) -> dict[str, Any]:
        document, options = self._document, self._options
        heading = document.sections[section]
        path = document.path_to(heading)
        slugs = tuple([each.slug if options.slugs == "ascii" else each.anchor for each in path])
        has_headings = len(document.sections) > 1
        shared: dict[str, Any] = {
            **self._common,
            "section_title": titles[-1] if titles else "" if has_headings else document.title,
            "header_path": titles,
            "header_breadcrumb": crumbs.SEPARATOR.join(titles),
            "header_depths": tuple([each.depth for each in path]),
            "header_slugs": slugs,
            "section_slug": slugs[-1] if slugs else "",
            "breadcrumb": (self._file_name,) if self._is_whole else (self._file_name, *titles),
        }
        if options.strategy == "tree":
            parent = heading.parent
            shared["parent_id"] = None if parent is None else node_id(document, parent, options)
            shared["position"] = heading.position
        return shared


def _file_name(path: str | None) -> str:
    if path is None:
        return UNTITLED
    name = path.rpartition("/")[2]
    return name if name not in ("", ".") else PurePosixPath(path).name  # which takes longer


def positions(text: str, pieces: Sequence[Piece]) -> Callable[[int], SourcePosition]:
    """Where the piece of a number stands, found out for all of them in one pass over the text."""
    edges: list[int] = []
    ends: list[int] = []
    for piece in pieces:
        start, end = piece.start, piece.end
        edges += (start, end)
        ends += (start, end - 1 if end > start else start)
    in_bytes, in_lines, total, of = bytes_at(text, edges), lines_at(text, ends), len(text), SourcePosition.of

    def position(number: int) -> SourcePosition:
        at = 2 * number
        return of(edges[at], edges[at + 1], total, in_bytes[at], in_bytes[at + 1], in_lines[at], in_lines[at + 1])

    return position


def metadata(document: Document, options: Options, seconds: float, made_at: float) -> Mapping[str, Any]:
    """Shared by all chunks of a document: its front matter, but for quire's own names, and what quire says of it."""
    pipeline: dict[str, Any] = {"version": __version__}
    made = dict(document.source.metadata)
    for name in OWN_METADATA:
        made.pop(name, None)
    made |= {"chunkingOptions": options.to_dict(), "pipeline": pipeline}
    if document.path is not None:
        made["sourceFile"] = document.path
    if options.timestamps:
        made["processedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(made_at))
        pipeline["processingTimeMs"] = round(seconds * 1000, 3)
    return MappingProxyType(made)


def node_types(document: Document, pieces: Sequence[Piece]) -> list[tuple[str, ...]]:
    """What mdast calls the blocks that stand in each piece, in whole or in part, each once, in order."""
    mdast_name = MDAST_NAMES.get
    found: list[tuple[str, ...]] = []
    known: dict[tuple[str, ...], tuple[str, ...]] = {}  # there are few
    blocks: tuple[Block, ...] = ()
    seen = 0  # where these end
    for piece in pieces:
        if piece.end > seen:
            blocks, seen = _blocks_from(document, piece.start, piece.end)
        names = dict.fromkeys([mdast_name(each.kind, each.kind) for each in between(blocks, piece.start, piece.end)])
        types = tuple(names)
        found.append(known.setdefault(types, types))
    return found


def _blocks_from(document: Document, start: int, end: int) -> tuple[tuple[Block, ...], int]:
    """The blocks of the sections from one position to another or beyond, and where these end.

    All blocks of a large document would take more memory than its text, so they are not kept.
    """
    size, starts = len(document.text), document.section_starts
    if size <= _MANY_CHARACTERS:
        return document.blocks, size
    last = document.section_at(max(end - 1, start + _MANY_CHARACTERS)) + 1
    stop = starts[last] if last < len(starts) else size
    return document.open_blocks(starts[document.section_at(start)], stop), stop
