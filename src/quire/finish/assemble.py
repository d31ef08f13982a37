"""Pieces into chunk records: every field of every chunk, made in one pass over the pieces.

Which breadcrumb goes above the text to embed: ``always`` prepends the full line, ``none`` nothing. ``conditional``
prepends what the text lacks:

    the full line    to a chunk with a heading, with only code, tables or lists, or with little text
    the title alone  to prose from the middle of a section
    nothing          where the line would only repeat the chunk's first heading
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Container, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any, TypeAlias
from zlib import crc32

from quire import __version__, breadcrumbs
from quire.counter import CHARACTERS_A_TOKEN
from quire.dialects import page_url
from quire.model import OWN_METADATA, UNTITLED, Document, doc_name
from quire.offsets import bytes_at, lines_at
from quire.options import Options
from quire.parsing.slugs import section_anchors
from quire.record import Chunk, Piece, SourcePosition, TokenStats
from quire.size.sizer import Sizer
from quire.substitutions import substitute

MDAST_NAMES: Mapping[str, str] = {
    "quote": "blockquote",
    "footnote": "footnoteDefinition",
    "rule": "thematicBreak",
    "reference": "definition",
    "directive": "containerDirective",
}
"""mdast's names for kinds of block, where they differ from quire's."""
_LONGEST_SLUG = 64
"""As many characters of an anchor are in a stable id."""
_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})
"""Blocks that do not say what they are about."""
_Fields: TypeAlias = tuple[
    str | None, str, str, tuple[str, ...], str, tuple[int, ...], tuple[str, ...], tuple[str, ...], int | None
]
"""Parent id, node id, title, path, joined path, depths, slugs, breadcrumb and position."""


def assemble(
    document: Document, pieces: Sequence[Piece], sizer: Sizer, options: Options, *, started: float
) -> list[Chunk]:
    """A chunk for each of ``pieces``, in order."""
    (kinds, block_starts, block_ends, _), sections = document.block_columns, document.section_columns
    section_starts, section_titles, size = sections.starts, sections.titles, len(document.text)
    anchors = section_anchors(document, options.slugs)
    headings = _Headings(document, anchors, sizer, options)
    ids: list[str | None] = [None, *headings.ids(pieces), None]
    variables = document.source.substitutions
    path, file_title, content_type, strategy = document.path, document.title, options.content_type, options.strategy
    metadata = _metadata(document, options, started)
    # The document as one chunk is known by its file name alone.
    whole = (headings.file_name,) if strategy == "packed" and len(pieces) == 1 else None
    in_bytes = bytes_at(document.text, [edge for piece in pieces for edge in piece[:2]])
    in_lines = lines_at(document.text, [edge for piece in pieces for edge in (piece[0], piece[1] - 1)])
    page = page_url(options.base_url, path, options.dialect, document.frontmatter) if options.base_url else None
    name, stable_ids = f"{content_type}:{UNTITLED if path is None else path}", set[str]()
    is_fixed = options.breadcrumb_mode != "conditional" or strategy == "tree"
    node_types: dict[tuple[str, ...], tuple[str, ...]] = {}
    chunks: list[Chunk] = []
    edges = in_bytes[::2], in_bytes[1::2], in_lines[::2], in_lines[1::2]
    rows = zip(pieces, ids, ids[1:], ids[2:], *edges, strict=False)
    for number, (piece, prev_id, chunk_id, next_id, first_byte, last_byte, first_line, last_line) in enumerate(rows):
        start, end, section, tokens, before, behind, overlap_start = piece
        text, overlap = sizer.text_of(start, end), 0
        if before or behind or overlap_start is not None:
            text, overlap = _with_repeated(text, piece, sizer)
        first = bisect_left(section_starts, start, 1)
        last = bisect_left(section_starts, end, first)
        at_start = first if first < last and section_starts[first] == start else first - 1
        anchor = anchors[at_start]
        fragment = f"#{anchor}" if anchor else ""
        stable_id = f"{name}{fragment:.{_LONGEST_SLUG}}~{crc32(text[overlap:].encode('utf-8', 'surrogatepass')):08x}"
        if stable_id in stable_ids:
            stable_id = _numbered(stable_id, stable_ids)
        stable_ids.add(stable_id)
        types = tuple(dict.fromkeys(kinds[bisect_right(block_ends, start) : bisect_left(block_starts, end)]))
        title = section_titles[first] if first < last else None
        if is_fixed:
            line = sizer.breadcrumbs.prefix(section)
        else:
            line = _line_above(document, piece, sizer, options, title, types, text[:overlap])
        embed_tokens = sizer.size_below(line, piece, text) if line else tokens
        if embed_tokens > sizer.cap and tokens <= sizer.cap:  # a block that stays whole leaves no room
            line, embed_tokens = "", tokens
        embed_text = line + text if line else text
        if variables:
            embed_text, embed_tokens = _with_values(line, text, embed_tokens, sizer, variables)
        mdast_types = node_types.get(types)
        if mdast_types is None:
            mdast_types = node_types[types] = tuple([MDAST_NAMES.get(kind, kind) for kind in types])
        fields = headings.known.get(section) or headings.of(section)
        parent_id, node, section_title, header_path, breadcrumb_text, depths, slugs, breadcrumb, position = fields
        chunks.append(
            Chunk(
                id=chunk_id,
                stable_id=stable_id,
                parent_id=parent_id,
                node_id=node,
                chunk_number=number,
                content_type=content_type,
                source_path=path,
                embed_text=embed_text,
                original_text=text,
                file_title=file_title,
                section_title=section_title,
                header_path=header_path,
                header_breadcrumb=breadcrumb_text,
                header_depths=depths,
                header_slugs=slugs,
                section_slug=slugs[-1] if slugs else "",
                anchor=anchor,
                url=None if page is None else page + fragment,
                source_position=SourcePosition(start, end, size, first_byte, last_byte, first_line, last_line),
                token_stats=TokenStats(tokens, -(-len(text) // CHARACTERS_A_TOKEN), embed_tokens),
                prev_id=prev_id,
                next_id=next_id,
                node_types=mdast_types,
                metadata=metadata,
                strategy=strategy,
                overlap_chars=overlap,
                added_chars=len(line) + len(before) + len(behind) + overlap,
                breadcrumb=whole or breadcrumb,
                contained_headings=tuple(section_titles[first:last]),
                contained_slugs=tuple(anchors[first:last]),
                position=position,
            )
        )
    return chunks


class _Headings:
    """The fields that the chunks of a section share, made once for each section."""

    def __init__(self, document: Document, anchors: Sequence[str], sizer: Sizer, options: Options) -> None:
        self._sections, self._path_of, self._title = document.section_columns, sizer.breadcrumbs.path, document.title
        self._anchors = anchors
        self._node_id = node_id(document, 0, options)
        self._document_id = None if options.strategy == "tree" else f"{options.content_type}:{doc_name(document.path)}"
        path = document.path
        self.file_name = UNTITLED if path is None else path.rstrip("/").removesuffix("/.").rpartition("/")[2]
        self.known: dict[int, _Fields] = {}

    def of(self, section: int) -> _Fields:
        """The fields of a section."""
        fields = self.known.get(section)
        if fields is not None:
            return fields
        sections, path, is_tree = self._sections, self._path_of(section), self._document_id is None
        slug, parent_id = sections.slugs[section], self._document_id
        depths: tuple[int, ...] = ()
        slugs: tuple[str, ...] = ()
        if section:
            _, above_id, _, _, _, depths, slugs, _, _ = self.of(sections.parents[section])
            depths, slugs = (*depths, sections.depths[section]), (*slugs, self._anchors[section])
            parent_id = above_id if is_tree else parent_id
        fields = self.known[section] = (
            parent_id,
            f"{self._node_id}#{slug}" if slug else self._node_id,
            path[-1] if path else "" if len(sections.starts) > 1 else self._title,
            path,
            breadcrumbs.SEPARATOR.join(path),
            depths,
            slugs,
            (self.file_name, *path),
            sections.positions[section] if is_tree else None,
        )
        return fields

    def ids(self, pieces: Sequence[Piece]) -> list[str]:
        """The id of each chunk: in the tree strategy that of its node, else the document's with a number."""
        if self._document_id is None:
            return [self.of(piece.section)[1] for piece in pieces]
        return [f"{self._document_id}::ch{number}" for number in range(len(pieces))]


def _with_values(line: str, text: str, tokens: int, sizer: Sizer, variables: Mapping[str, str]) -> tuple[str, int]:
    """The text to embed with the values of its variables, and its tokens; as it is if they exceed the cap."""
    replaced = line + substitute(text, variables)
    count = sizer.count(replaced) if replaced != line + text else tokens
    return (replaced, count) if count <= max(sizer.cap, tokens) else (line + text, tokens)


def _with_repeated(text: str, piece: Piece, sizer: Sizer) -> tuple[str, int]:
    """The text of a piece with what is repeated in it, and how many characters are overlap."""
    text = f"{piece.prefix}{text}{piece.suffix}"
    if piece.overlap_start is None:
        return text, 0
    longer = f"{sizer.text_of(piece.overlap_start, piece.end)}{piece.suffix}"
    return longer, len(longer) - len(text)


def _line_above(  # noqa: PLR0917
    document: Document,
    piece: Piece,
    sizer: Sizer,
    options: Options,
    title: str | None,
    kinds: Sequence[str],
    overlap: str,
) -> str:
    """The breadcrumb line, with a blank line below it, that goes above the text of a piece.

    ``title`` is that of the first heading in it, if there is one.
    """
    lines, section = sizer.breadcrumbs, piece.section
    if title is not None:
        return "" if lines.repeats(title, section) else lines.prefix(section)
    is_in_heading = piece.start < document.section_columns.body_starts[document.section_at(piece.start)]  # it was cut
    if not section or is_in_heading or _WITHOUT_CONTEXT.issuperset(kinds) or _is_short(piece, sizer, options, overlap):
        return lines.prefix(section)
    return "" if lines.path(section)[0] == document.title else lines.prefix(0)


def _is_short(piece: Piece, sizer: Sizer, options: Options, overlap: str) -> bool:
    """Whether a piece has less text of its own than the minimum and its overlap."""
    is_alone = not (piece.prefix or piece.suffix or overlap)
    tokens = piece.tokens if is_alone else sizer.size(piece.start, piece.end)
    return tokens < options.short + (sizer.count(overlap) if overlap else 0)


def node_id(document: Document, section: int, options: Options) -> str:
    """``{tree}:{path}#{slug}``; the document's own node has no fragment."""
    name = f"{options.tree_name}:{UNTITLED if document.path is None else document.path}"
    slug = document.section_columns.slugs[section]
    return f"{name}#{slug}" if slug else name


def _numbered(stable_id: str, others: Container[str]) -> str:
    """``stable_id`` with a number that no other has: a document may repeat itself."""
    return next(each for number in count(2) if (each := f"{stable_id}.{number}") not in others)


def _metadata(document: Document, options: Options, started: float) -> Mapping[str, Any]:
    """Front matter without quire's own names, then the source file, the options and quire's version."""
    pipeline: dict[str, Any] = {"version": __version__}
    metadata = dict(document.source.metadata)
    for name in OWN_METADATA:
        metadata.pop(name, None)
    metadata |= {"chunkingOptions": options.to_dict(), "pipeline": pipeline}
    if document.path is not None:
        metadata["sourceFile"] = document.path
    if options.timestamps:
        metadata["processedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        pipeline["processingTimeMs"] = round((time.perf_counter() - started) * 1000, 3)
    return MappingProxyType(metadata)
