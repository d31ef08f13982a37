"""Where the text of chunks stands in a document: in order, in solid places. Neighbours: truth.py, judge.py.

A chunk that is verbatim but for white space is found at once. One that is not is looked for line by line, and what is
then still missing character by character, so that a tool which changed one character is blamed for one character.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from benchmarks.peers.truth import Span, solid

_SHORT = 40
"""Text shorter than this may stand anywhere, so it is not looked for far away."""
_NEAR = 400
_FAR = 20_000
_LARGEST = 4_000
"""What is longer is not compared character by character."""


def align(document: str, pieces: Sequence[str], start: int = 0) -> list[tuple[Span, ...]]:
    """For each of ``pieces`` the spans of ``document``, which is solid, that hold its text, from ``start`` on."""
    at = start
    found = []
    for piece in pieces:
        spans = tuple(_piece(document, piece, at))
        at = spans[-1].end if spans else at
        found.append(spans)
    return found


def _piece(document: str, piece: str, at: int) -> Iterator[Span]:
    whole = solid(piece)
    found = _find(document, whole, at)
    if found is None:
        yield from _lines(document, piece, at)
    elif whole:
        yield Span(found, found + len(whole))


def _find(document: str, text: str, at: int) -> int | None:
    """The next place of ``text``, unless it is so short and so far that it may be another."""
    reach = _NEAR if len(text) < _SHORT else _FAR + len(text)
    found = document.find(text, at, at + reach + len(text))
    return None if found < 0 else found


def _lines(document: str, piece: str, at: int) -> Iterator[Span]:
    pending = ""
    for line in map(solid, piece.split("\n")):
        is_next = bool(line) and not pending and document.startswith(line, at)
        found = at if is_next else _find(document, line, at) if len(line) >= _SHORT else None
        if found is None:
            pending += line
            continue
        yield from _characters(document, pending, at, found)
        yield Span(found, found + len(line))
        pending, at = "", found + len(line)
    yield from _characters(document, pending, at, min(len(document), at + 2 * len(pending)))


def _characters(document: str, text: str, start: int, end: int) -> Iterator[Span]:
    """What ``text`` and a part of the document have in common."""
    if not text or max(len(text), end - start) > _LARGEST:
        return
    for _, at, length in SequenceMatcher(None, text, document[start:end], autojunk=False).get_matching_blocks():
        if length:
            yield Span(start + at, start + at + length)
