"""Pieces into chunk records: every field of every chunk, made in one pass over the pieces."""

import time
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count
from types import MappingProxyType
from typing import Any
from zlib import crc32

from msgspec import structs

from quire import __version__
from quire.model import breadcrumbs
from quire.model.chunk_record import Chunk, Piece, SourcePosition, TokenStats
from quire.model.document import OWN_METADATA, UNTITLED, Document, doc_name
from quire.model.offsets import bytes_at, lines_at
from quire.model.options import Options
from quire.model.page_markers import NOTEBOOK, cell_lines, pages_of, without_markers
from quire.model.page_urls import page_url
from quire.model.substitutions import substitute
from quire.parsing.slugs import section_anchors
from quire.tokens.sizer import Sizer
from quire.tokens.token_counters import CHARACTERS_A_TOKEN

MDAST_NAMES: Mapping[str, str] = {
    "quote": "blockquote",
    "footnote": "footnoteDefinition",
    "rule": "thematicBreak",
    "reference": "definition",
    "directive": "containerDirective",
}
"""mdast's names for kinds of block, where they differ from quire's."""
_WITHOUT_CONTEXT = frozenset({"code", "table", "list"})  # blocks that do not say what they are about
_LONGEST_SLUG = 64  # as many characters of an anchor are in a stable id


def assemble(
    document: Document, pieces: Sequence[Piece], sizer: Sizer, options: Options, *, started: float
) -> list[Chunk]:
    """A chunk for each of ``pieces``, in order."""
    source, path, file_title, sections = document.text, document.path, document.title, document.section_columns
    kinds, block_starts, block_ends, _ = document.block_columns
    section_starts, section_titles, size = sections.starts, tuple(sections.titles), len(source)
    anchors = tuple(section_anchors(document, options.slugs))
    headings = _Headings(document, anchors, sizer, options)
    content_type, strategy, of_document = options.content_type, options.strategy, headings.document_id
    ids = [f"{of_document}::ch{at}" if of_document else headings[piece[2]][1] for at, piece in enumerate(pieces)]
    neighbours = [None, *ids, None]
    variables, has_pages = document.source.substitutions, bool(document.source.markers)
    metadata = _metadata(document, options, started)
    # The document as one chunk is known by its file name alone.
    whole = (headings.file_name,) if strategy == "packed" and len(pieces) == 1 else None
    in_bytes = bytes_at(source, [edge for piece in pieces for edge in piece[:2]])
    in_lines = lines_at(source, [edge for piece in pieces for edge in (piece[0], piece[1] - 1)])
    page = page_url(options.base_url, path, options.dialect, document.frontmatter) if options.base_url else None
    name = f"{content_type}:{UNTITLED if path is None else path}"
    stable_ids: set[str] = set()
    is_fixed = options.breadcrumb_mode != "conditional" or strategy == "tree"
    chunks: list[Chunk] = []
    rows = zip(pieces, in_bytes[::2], in_bytes[1::2], in_lines[::2], in_lines[1::2], strict=True)
    for number, (piece, first_byte, last_byte, first_line, last_line) in enumerate(rows):
        start, end, section, tokens, before, behind, overlap_start = piece
        text, overlap = sizer.text_of(start, end), 0
        if before or behind or overlap_start is not None:
            body = text if overlap_start is None else sizer.text_of(overlap_start, end)
            text, overlap = f"{before}{body}{behind}", len(body) - len(text)
        first = bisect_left(section_starts, start, 1)
        last = bisect_left(section_starts, end, first)
        anchor = anchors[first if first < last and section_starts[first] == start else first - 1]
        fragment = f"#{anchor}" if anchor else ""
        text_hash = crc32(text[overlap:].encode("utf-8", "surrogatepass"))
        stable_id = f"{name}{fragment[:_LONGEST_SLUG]}~{text_hash:08x}"
        if stable_id in stable_ids:  # a document may repeat itself
            numbered = (f"{stable_id}.{copy}" for copy in count(2))
            stable_id = next(numbered_id for numbered_id in numbered if numbered_id not in stable_ids)
        stable_ids.add(stable_id)
        types = tuple(dict.fromkeys(kinds[bisect_right(block_ends, start) : bisect_left(block_starts, end)]))
        if is_fixed:
            line = sizer.breadcrumbs.prefix(section)
        else:
            title = section_titles[first] if first < last else None
            line = _conditional_line(document, piece, sizer, options, title, types, text[:overlap])
        embed_text, embed_tokens = line + text, sizer.size_below(line, piece, text) if line else tokens
        if embed_tokens > sizer.cap and tokens <= sizer.cap:  # a block that stays whole leaves no room
            line, embed_text, embed_tokens = "", text, tokens
        if variables or has_pages:
            embed_text, embed_tokens = _embedded(document, line, text, embed_tokens, sizer)
        parent_id, node, section_title, header_path, breadcrumb_text, depths, slugs, breadcrumb, position = headings[
            section
        ]
        if not section_title and first < last:  # text above the first heading, with headings below it
            section_title = section_titles[first]
        chunks.append(
            Chunk(
                id=ids[number],
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
                prev_id=neighbours[number],
                next_id=neighbours[number + 2],
                node_types=_mdast_names(types),
                metadata=metadata,
                strategy=strategy,
                overlap_chars=overlap,
                added_chars=len(line) + len(before) + len(behind) + overlap,
                breadcrumb=whole or breadcrumb,
                contained_headings=section_titles[first:last],
                contained_slugs=anchors[first:last],
                position=position,
            )
        )
    return [structs.replace(chunk, **_places(document, chunk)) for chunk in chunks] if has_pages else chunks


@lru_cache(maxsize=1024)
def _mdast_names(kinds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([MDAST_NAMES.get(kind, kind) for kind in kinds])


class _Headings(dict[int, tuple[Any, ...]]):
    """The fields that the chunks of a section share, by its number, made once for each section."""

    def __init__(self, document: Document, anchors: Sequence[str], sizer: Sizer, options: Options) -> None:
        super().__init__()
        self._sections, self._path_of, self._title = document.section_columns, sizer.breadcrumbs.path, document.title
        self._anchors = anchors
        self._node_id = node_id(document, 0, options)
        # The id of a chunk is this with a number; in the tree strategy it is that of its node.
        self.document_id = None if options.strategy == "tree" else f"{options.content_type}:{doc_name(document.path)}"
        path = document.path
        self.file_name = UNTITLED if path is None else path.rstrip("/").removesuffix("/.").rpartition("/")[2]

    def __missing__(self, section: int) -> tuple[Any, ...]:
        sections, path, is_tree = self._sections, self._path_of(section), self.document_id is None
        slug, parent_id = sections.slugs[section], self.document_id
        depths: tuple[int, ...] = ()
        slugs: tuple[str, ...] = ()
        if section:
            _, above_id, _, _, _, depths, slugs, _, _ = self[sections.parents[section]]
            depths, slugs = (*depths, sections.depths[section]), (*slugs, self._anchors[section])
            parent_id = above_id if is_tree else parent_id
        fields = self[section] = (
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


def _conditional_line(  # noqa: PLR0917
    document: Document,
    piece: Piece,
    sizer: Sizer,
    options: Options,
    title: str | None,
    kinds: Sequence[str],
    overlap: str,
) -> str:
    """The breadcrumb line above a piece, with a blank line below it; ``title`` is that of the first heading in it.

    The full line for a piece with a heading, with only code, tables or lists, or with little text; the title alone for
    prose from the middle of a section; nothing where the line would only repeat the first heading.
    """
    lines, section = sizer.breadcrumbs, piece.section
    if title is not None:
        return "" if lines.repeats(title, section) else lines.prefix(section)
    is_in_heading = piece.start < document.section_columns.body_starts[document.section_at(piece.start)]  # it was cut
    if not section or is_in_heading or _WITHOUT_CONTEXT.issuperset(kinds):
        return lines.prefix(section)
    is_alone = not (piece.prefix or piece.suffix or overlap)
    tokens = piece.tokens if is_alone else sizer.size(piece.start, piece.end)
    if tokens < options.minimum + (sizer.count(overlap) if overlap else 0):
        return lines.prefix(section)
    return "" if lines.path(section)[0] == document.title else lines.prefix(0)


def _places(document: Document, chunk: Chunk) -> dict[str, Any]:
    """The pages of a chunk, or the cells of a notebook."""
    place = chunk.source_position
    span = document.text, document.source.markers, place.char_start, place.char_end
    if document.path is None or not document.path.lower().endswith(NOTEBOOK):
        return {"pages": pages_of(*span)}
    return {"cells": pages_of(*span), "cell_lines": cell_lines(*span)}


def _embedded(document: Document, line: str, text: str, tokens: int, sizer: Sizer) -> tuple[str, int]:
    """The text to embed with the values of its variables and without markers; as it is if that exceeds the cap."""
    source = document.source
    embedded = without_markers(substitute(text, source.substitutions), source.page_marker)
    number = sizer.count(line + embedded) if embedded != text else tokens
    return (line + embedded, number) if number <= max(sizer.cap, tokens) else (line + text, tokens)


def node_id(document: Document, section: int, options: Options) -> str:
    """``{tree}:{path}#{slug}``; the document's own node has no fragment."""
    name = f"{options.tree_name}:{UNTITLED if document.path is None else document.path}"
    slug = document.section_columns.slugs[section]
    return f"{name}#{slug}" if slug else name


def _metadata(document: Document, options: Options, started: float) -> Mapping[str, Any]:
    """Front matter without quire's own names, then the source file, the options and quire's version."""
    pipeline: dict[str, Any] = {"version": __version__}
    metadata = {name: value for name, value in document.source.metadata.items() if name not in OWN_METADATA}
    metadata |= {"chunkingOptions": options.to_dict(), "pipeline": pipeline}
    if document.path is not None:
        metadata["sourceFile"] = document.path
    if options.timestamps:
        metadata["processedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        pipeline["processingTimeMs"] = round((time.perf_counter() - started) * 1000, 3)
    return MappingProxyType(metadata)
