"""The guard of `flow`: chunks that are not worth embedding, by reason."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from quire.errors import GuardError
from quire.model.chunk_record import Chunk, Piece
from quire.model.document import Document, Finding
from quire.model.options import FlowOptions
from quire.tokens.sizer import Sizer

Reason = Literal["too-short", "formatting-only", "heading-only", "code-without-context"]
"""Why a chunk is not worth embedding."""

_ADVICE = 'correct it, or cut it with guard="drop" or guard="warn"'
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def guarded(
    document: Document, pieces: Sequence[Piece], chunks: Sequence[Chunk], sizer: Sizer, options: FlowOptions
) -> tuple[Sequence[Piece], list[Finding]]:
    """The pieces that are left, and the findings."""
    outcome = {"raise": "refused", "drop": "dropped", "warn": "kept"}[options.guard]
    what = "the document" if options.guard == "raise" else "it"
    findings: list[Finding] = []
    kept: list[Piece] = []
    is_after_dropped = False
    for piece, chunk in zip(pieces, chunks, strict=True):
        reasons = [*_reasons(document, piece, chunk, sizer, options, is_only=len(pieces) == 1)]
        if reasons:
            message = f"chunk {chunk.id} is not worth embedding ({', '.join(reasons)}); {what} is {outcome}"
            path, line, code = document.source.name, chunk.source_position.start_line, f"guard-{outcome}-{reasons[0]}"
            if options.guard == "raise":
                raise GuardError(path, line, message, _ADVICE)
            findings.append(Finding(code=code, path=path, line=line, message=message))
        if is_after_dropped:  # nothing of a dropped chunk is repeated
            tokens = sizer.size(piece.start, piece.end, piece.prefix, piece.suffix)
            piece = piece._replace(overlap_start=None, tokens=tokens)  # noqa: PLW2901
        is_after_dropped = bool(reasons) and options.guard == "drop"
        if not is_after_dropped:
            kept.append(piece)
    return kept, findings


def _reasons(
    document: Document, piece: Piece, chunk: Chunk, sizer: Sizer, options: FlowOptions, *, is_only: bool
) -> Iterator[Reason]:
    stats = chunk.token_stats
    own_is_short = stats.tokens < options.min_tokens or piece.prefix or piece.suffix or chunk.overlap_chars
    if not is_only and own_is_short and sizer.size(piece.start, piece.end) < options.min_tokens:
        yield "too-short"
    if not _LETTER_OR_DIGIT.search(document.text, piece.start, piece.end):
        yield "formatting-only"
    elif chunk.node_types == ("heading",):
        yield "heading-only"
    elif chunk.node_types == ("code",) and chunk.embed_text == chunk.original_text:  # no breadcrumb gives context
        yield "code-without-context"
