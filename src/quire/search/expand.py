"""Small to big: the sections that ranked pieces are from.

A document is cut again by ``packed``: a section up to the budget is one chunk, a longer one is passages. The chunks
that hold the pieces are the answer, and a parent replaces them by the rule of searches (merge.py).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from msgspec import structs

from quire.cut.chunk_fields import assemble
from quire.cut.packed import packed
from quire.errors import InputError
from quire.model.chunk_record import Chunk, Piece
from quire.model.document import UNTITLED, Document
from quire.model.options import DEFAULT_STRATEGY, PackedOptions, build
from quire.pipeline import parse
from quire.read.source import read_file
from quire.search.search_settings import SearchSettings
from quire.tokens import tokenizers
from quire.tokens.sizer import Sizer

Documents: TypeAlias = str | PathLike[str] | Mapping[str, str] | Callable[[str], str]  # a folder, or texts by path
MAX_TOKENS = 800
_OF_PARSING = ("title", "syntax", "substitutions")
_FIELDS = ("source_path", "sourcePath"), ("char_start", "charStart"), ("char_end", "charEnd")
_RULE = SearchSettings()


class _SectionOptions(PackedOptions, frozen=True):
    """Sections share no chunk; the passages of a long one are those of ``packed`` without options."""

    @property
    def fill_tokens(self) -> int:
        return min(PackedOptions().fill_tokens, self.target_tokens)


class _Place(NamedTuple):
    path: str
    start: int
    end: int
    rank: int

    def is_in(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


def expand(
    pieces: Iterable[Chunk | Mapping[str, Any]], documents: Documents, *, max_tokens: int = MAX_TOKENS, **options: Any
) -> list[Chunk]:
    """The sections of ranked ``pieces``, each once, in the order of their best pieces.

    ``pieces`` are chunks, chunk records or rows of a store. A section above ``max_tokens`` gives only the passages
    around its pieces. If more than half of the children of a section have pieces, and at least two, the parent
    replaces them if it fits. ``documents`` is the folder of the documents, their texts by path, or a function from a
    path to a text. The other options are those of ``quire.chunk`` with ``packed``.
    """
    places: dict[str, list[_Place]] = {}
    for rank, piece in enumerate(pieces):
        place = _place(piece, rank)
        places.setdefault(place.path, []).append(place)
    counter = tokenizers.resolve(options.pop("tokenizer", None), PackedOptions().tokenizer)
    parsing = {name: options.pop(name) for name in _OF_PARSING if name in options}
    sizes = {"max_tokens": max_tokens, "join_tokens": 1, "min_tokens": 0, "tokenizer": counter.name}
    chosen = _SectionOptions(**structs.asdict(build(DEFAULT_STRATEGY, {**sizes, **options})))
    found: list[tuple[int, Chunk]] = []
    for path, inside in places.items():
        document = parse(_text(documents, path), path=path, dialect=chosen.dialect, **parsing)
        sizer = Sizer(document, counter, chosen)
        cut = _with_parents(document, packed(document, sizer, chosen)[0], inside, sizer)
        for chunk in assemble(document, cut, sizer, chosen, started=time.perf_counter()):
            at = chunk.source_position
            if ranks := [place.rank for place in inside if place.is_in(at.char_start, at.char_end)]:
                found.append((min(ranks), chunk))
    return [chunk for _, chunk in sorted(found, key=lambda answer: answer[0])]


def _place(piece: Any, rank: int) -> _Place:
    """Where a piece is from; its fields have the names of rows or of records."""
    if isinstance(piece, Chunk):
        at = piece.source_position
        return _Place(piece.source_path or UNTITLED, at.char_start, at.char_end, rank)
    values = {**piece, **piece.get("sourcePosition", {})} if isinstance(piece, Mapping) else {}
    path, start, end = (values.get(name, values.get(other)) for name, other in _FIELDS)
    if isinstance(path, str) and isinstance(start, int) and isinstance(end, int):
        return _Place(path, start, end, rank)
    advice = f"give chunks, chunk records, or rows with {', '.join(name for name, _ in _FIELDS)}"
    raise InputError(f"piece {rank}", "has no place in a document", advice)


def _text(documents: Documents, path: str) -> str:
    if isinstance(documents, str | PathLike):
        return read_file(Path(documents) / path, path)[0]
    text = documents.get(path) if isinstance(documents, Mapping) else documents(path)
    if not isinstance(text, str):
        raise InputError(path, "is a document of a piece, but not among the documents", "add its text")
    return text


def _with_parents(document: Document, pieces: list[Piece], places: Sequence[_Place], sizer: Sizer) -> list[Piece]:
    """``pieces`` with parents for their children, from the bottom up, where enough of these are found."""
    nodes = document.nodes
    children = Counter(node.parent for node in nodes)
    found = {node.number for node in nodes if any(place.is_in(node.start, node.body_end) for place in places)}
    matching = Counter[int | None]()
    for node in reversed(nodes):
        count = children[node.number]
        half = int(count * _RULE.aggregation_threshold) + 1
        needed = max(half if node.depth else count, _RULE.min_aggregation_matches)
        if matching[node.number] >= needed:
            inside = [at for at, piece in enumerate(pieces) if piece.start < node.end and node.start < piece.end]
            start, end = pieces[inside[0]].start, pieces[inside[-1]].end
            if sizer.fits(start, end):
                whole = Piece(start, end, sizer.section_of(start, end), sizer.size(start, end))
                pieces[inside[0] : inside[-1] + 1] = [whole]
                found.add(node.number)
        matching[node.parent] += node.number in found
    return pieces
