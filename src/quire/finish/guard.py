"""Guardrails for `flow`: chunks that are not worth embedding, by reason. The last stage; after it, the caller.

Mode `raise` refuses the document, `drop` leaves such chunks out and records them, `warn` records them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from quire.config import Options
from quire.counter import TokenCounter
from quire.errors import GuardError
from quire.model import Document, Finding
from quire.pieces import Piece
from quire.record import Chunk

Reason = Literal["empty", "too-short", "too-long", "formatting-only", "heading-only", "code-without-context"]
"""Why a chunk is not worth embedding."""

_REMEDY = 'correct it, or cut it with guard="drop" or guard="warn"'
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_CODE_START = re.compile(r" {0,3}(?:`{3}|~{3})| {4}| {0,3}\t")


def guarded(
    document: Document, pieces: Sequence[Piece], chunks: Sequence[Chunk], counter: TokenCounter, options: Options
) -> tuple[Sequence[Piece], list[Finding]]:
    """The pieces that are left, and what was found."""
    guard = _Guard(document, counter, options, is_only=len(pieces) == 1)
    looked_at = ((chunk, list(guard.reasons(piece, chunk))) for piece, chunk in zip(pieces, chunks, strict=True))
    invalid = [(chunk, reasons) for chunk, reasons in looked_at if reasons]
    findings = [_finding(document, chunk, reasons, options) for chunk, reasons in invalid]
    if findings and options.guard == "raise":
        raise GuardError(findings[0].path, findings[0].line, findings[0].message, _REMEDY)
    if options.guard == "drop":
        dropped = {chunk.chunk_number for chunk, _ in invalid}
        return [
            # Nothing is repeated of a chunk that is left out.
            piece._replace(repeated=None) if number - 1 in dropped else piece
            for number, piece in enumerate(pieces)
            if number not in dropped
        ], findings
    return pieces, findings


@dataclass(frozen=True)
class _Guard:
    """Looks at the chunks of one document."""

    document: Document
    counter: TokenCounter
    options: Options
    is_only: bool
    """Whether there is one chunk."""

    def reasons(self, piece: Piece, chunk: Chunk) -> Iterator[Reason]:
        """What is wrong with a chunk; looks at the piece first, for that is cheap."""
        if piece.start >= piece.end:
            yield "empty"
            return
        least = self.options.min_tokens
        if not self.is_only and piece.own_tokens(self.document.text, self.counter.count) < least:
            yield "too-short"
        if piece.tokens > self.options.max_tokens:
            yield "too-long"
        if not _LETTER_OR_DIGIT.search(self.document.text, piece.start, piece.end):
            yield "formatting-only"
        elif not self._has_text(piece):
            yield "heading-only"
        elif self._is_code(piece) and chunk.embed_text == chunk.original_text:  # no breadcrumb says what it is about
            yield "code-without-context"

    def _has_text(self, piece: Piece) -> bool:
        """Whether there is something besides headings in a piece."""
        sections, start, end = self.document.sections, piece.start, piece.end
        for number in range(self.document.section_at(start), len(sections)):
            own = sections[number]
            if own.start >= end:
                break
            if max(own.text_start, start) < min(own.text_end, end):
                return True
        return False

    def _is_code(self, piece: Piece) -> bool:
        """Whether there is nothing but code in a piece; its first characters are looked at first, for that is cheap."""
        if not piece.before and not _CODE_START.match(self.document.text, piece.start):
            return False
        return all(block.kind == "code" for block in self.document.blocks_between(piece.start, piece.end))


def _finding(document: Document, chunk: Chunk, reasons: Sequence[Reason], options: Options) -> Finding:
    what = {"raise": "refused", "drop": "dropped", "warn": "kept"}[options.guard]
    whose = "the document" if options.guard == "raise" else "it"
    message = f"chunk {chunk.id} is not worth embedding ({', '.join(reasons)}); {whose} is {what}"
    code = f"guard-{what}-{reasons[0]}"
    return Finding(code=code, path=document.source.name, line=chunk.source_position.start_line, message=message)
