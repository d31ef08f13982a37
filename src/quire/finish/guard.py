"""Guardrails for `flow`: chunks that are not worth embedding, by reason. The last stage; after it, the caller.

Mode `raise` refuses the document, `drop` leaves such chunks out and records them, `warn` records them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quire import crumbs
from quire.config import Options
from quire.errors import GuardError
from quire.model import Document, Finding, Piece
from quire.record import Chunk

REASONS = ("empty", "too-short", "too-long", "formatting-only", "heading-only", "code-without-context")
"""Why a chunk is not worth embedding."""

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_CODE_START = re.compile(r" {0,3}(?:`{3}|~{3})| {4}| {0,3}\t")


def guarded(
    document: Document, pieces: Sequence[Piece], chunks: Sequence[Chunk], options: Options
) -> tuple[Sequence[Piece], list[Finding]]:
    """The pieces that are left, and what was found."""
    looked_at = (
        (chunk, list(_reasons(document, piece, chunk, options, is_only=len(pieces) == 1)))
        for piece, chunk in zip(pieces, chunks, strict=True)
    )
    invalid = [(chunk, reasons) for chunk, reasons in looked_at if reasons]
    findings = [_finding(document, chunk, reasons, options) for chunk, reasons in invalid]
    if findings and options.guard == "raise":
        raise GuardError(findings[0].path, findings[0].line, findings[0].message)
    if options.guard == "drop":
        dropped = {chunk.chunk_number for chunk, _ in invalid}
        return [piece for number, piece in enumerate(pieces) if number not in dropped], findings
    return pieces, findings


def _reasons(document: Document, piece: Piece, chunk: Chunk, options: Options, *, is_only: bool) -> Iterator[str]:
    """What is wrong with a chunk; looks at the piece first, for that is cheap."""
    if piece.start >= piece.end:
        yield "empty"
        return
    if not is_only and piece.tokens < options.min_tokens:
        yield "too-short"
    if piece.tokens > options.max_tokens:
        yield "too-long"
    if not _LETTER_OR_DIGIT.search(document.text, piece.start, piece.end):
        yield "formatting-only"
    elif not _has_text(document, piece):
        yield "heading-only"
    elif _is_code(document, piece) and not _has_context(document, piece, chunk, options):
        yield "code-without-context"


def _has_context(document: Document, piece: Piece, chunk: Chunk, options: Options) -> bool:
    """Whether a breadcrumb stands above code; where there surely is room for one, the chunk is not asked."""
    titles = [section.title for section in document.path_to(document.sections[piece.section])]
    line = crumbs.full_line(document.title, titles) if options.breadcrumb_mode != "none" else ""
    most = len(line.encode("utf-8", "replace")) + 2  # no counter has more tokens than bytes
    if line and piece.tokens + most <= options.max_tokens and most <= options.max_tokens // 2:
        return True
    return chunk.embed_text != chunk.original_text


def _has_text(document: Document, piece: Piece) -> bool:
    """Whether there is something besides headings in a piece."""
    first, last = document.section_at(piece.start), document.section_at(piece.end - 1)
    own = (document.sections[number] for number in range(first, last + 1))
    return any(max(each.text_start, piece.start) < min(each.text_end, piece.end) for each in own)


def _is_code(document: Document, piece: Piece) -> bool:
    """Whether there is nothing but code in a piece; its first characters say so first, for blocks are not at hand."""
    if not piece.before and not _CODE_START.match(document.text, piece.start):
        return False
    return all(block.kind == "code" for block in document.blocks_between(piece.start, piece.end))


def _finding(document: Document, chunk: Chunk, reasons: Sequence[str], options: Options) -> Finding:
    what = {"raise": "refused", "drop": "dropped", "warn": "kept"}[options.guard]
    message = f"chunk {chunk.id} is not worth embedding ({', '.join(reasons)}); it is {what}"
    code = f"guard-{what}-{reasons[0]}"
    return Finding(code=code, path=document.source.name, line=chunk.source_position.start_line, message=message)
