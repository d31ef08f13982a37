"""What a chunk is called and where it stands: ids, headings, positions, metadata. Used by assemble.py."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from quire import __version__, crumbs
from quire.config import Options
from quire.finish.ids import document_id, ids, node_id
from quire.model import OWN_METADATA, UNTITLED, Document, between
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
        self._of_section: dict[int, dict[str, Any]] = {}

    def put(self, held: dict[str, Any], titles: tuple[str, ...]) -> None:
        """Fill in what says the place of a chunk; ``titles`` are those of its section and the ones above."""
        number, names = held["chunk_number"], self._ids
        section = self._pieces[number].section
        shared = self._of_section.get(section)
        if shared is None:
            shared = self._of_section[section] = self._shared(section, titles)
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


def positions(text: str, pieces: Sequence[Piece]) -> list[SourcePosition]:
    """Where each piece stands, found out in one pass over the text."""
    edges: list[int] = []
    ends: list[int] = []
    for piece in pieces:
        start, end = piece.start, piece.end
        edges += (start, end)
        ends += (start, end - 1 if end > start else start)
    in_bytes, in_lines, total, of = bytes_at(text, edges), lines_at(text, ends), len(text), SourcePosition.of
    return [
        of(edges[at], edges[at + 1], total, in_bytes[at], in_bytes[at + 1], in_lines[at], in_lines[at + 1])
        for at in range(0, len(edges), 2)
    ]


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
    blocks, mdast_name = document.blocks, MDAST_NAMES.get
    return [
        tuple(dict.fromkeys([mdast_name(block.kind, block.kind) for block in between(blocks, piece.start, piece.end)]))
        for piece in pieces
    ]
