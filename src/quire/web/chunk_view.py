"""The chunks of a document as the page draws them: spans and sizes, without the text, which the page has already.

Positions are characters of the source, as in the records. The last cuts are kept, so that a click on a chunk cuts
nothing again. Of a long document the page asks for the chunks around its view first: these are cut from a part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, TypeAlias

from quire import pipeline
from quire.model import Document, Finding
from quire.offsets import lines_at
from quire.options import STRATEGIES, Options, own_names
from quire.record import Chunk, Chunks
from quire.size import NAMES
from quire.substitutions import flat_values
from quire.validation import fields

_Values: TypeAlias = tuple[tuple[str, str], ...]
"""Substitutions, so that they can be remembered."""
_VERBATIM = ("code", "table", "html", "math", "heading")
"""Blocks that the page sets apart."""
_BEFORE, _LEAD, _AFTER = 50_000, 10_000, 25_000
"""A part starts this many characters before a position, at most and at least, and ends about this many after it."""


@lru_cache(maxsize=4)
def _parsed(text: str, path: str | None, title: str | None, dialect: str | None, values: _Values) -> Document:
    return pipeline.parse(text, path=path, title=title, dialect=dialect, substitutions=dict(values))


def parsed(text: str, path: str | None, options: Mapping[str, Any]) -> Document:
    """A parsed document."""
    values = tuple(flat_values(options.get("substitutions")))
    return _parsed(text, path, options.get("title"), options.get("dialect"), values)


def cut(text: str, path: str | None, strategy: str, **options: Any) -> Chunks:
    """The chunks of a text."""
    values = tuple(flat_values(options.pop("substitutions", None)))
    return _cut(text, path, strategy, values, **options)


@lru_cache(maxsize=4, typed=True)
def _cut(
    text: str, path: str | None, strategy: str, values: _Values, title: str | None = None, **options: Any
) -> Chunks:
    return pipeline.chunk(_parsed(text, path, title, options.get("dialect"), values), strategy, **options)


def option_table() -> dict[str, Any]:
    """Every strategy with its own options and their defaults, and the values to choose from."""
    declared = {name: fields(kind) for name, kind in STRATEGIES.items()}
    choices = {
        option: field.choices for options in declared.values() for option, field in options.items() if field.choices
    }
    return {
        "strategies": {
            name: {option: options[option].default for option in own_names(name) if option != "tree"}
            for name, options in declared.items()
        },
        "common": [*(name for name in fields(Options) if name != "substitutions"), "title"],
        "tokenizers": NAMES,
        "choices": {option: values for option, values in choices.items() if option not in ("slugs", "dialect")},
    }


def document_record(document: Document, findings: Iterable[Finding] = ()) -> dict[str, Any]:
    """The text of a document with the blocks that the page sets apart."""
    return {
        "text": document.text,
        "version": version_of(document.text),
        "path": document.path,
        "title": document.title,
        "bodyStart": document.source.body_start,
        "blocks": [[block.kind, block.start, block.end] for block in document.blocks if block.kind in _VERBATIM],
        "findings": [_finding(finding) for finding in findings],
    }


def version_of(text: str) -> str:
    """Differs for different texts, so that the page notices a file that has changed."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def cut_record(chunks: Chunks) -> dict[str, Any]:
    """The chunks of a cut, one row for each, with the options and findings."""
    options, text = chunks.options, chunks.document.text
    return {
        "version": version_of(text),
        "strategy": options.strategy,
        "options": {name: value for name, value in options.to_dict().items() if name != "strategy"},
        "limits": _limits(options),
        "chunks": [_row(chunk, text) for chunk in chunks],
        "findings": [_finding(finding) for finding in chunks.findings],
    }


def part_record(text: str, path: str | None, strategy: str, near: int, **options: Any) -> dict[str, Any]:
    """The chunks around the position ``near``, and under ``part`` the span that they cover.

    The sections around it are cut by themselves, below the headings above them. Away from the edges these are mostly
    the chunks of the whole document; small sections that share a chunk may be joined from another one on.
    """
    document = parsed(text, path, options)
    start, end, headings = _sections_around(document, min(near, len(text)))
    if end - start == len(text) or options.get("guard") == "raise":  # it refuses whole documents
        return cut_record(cut(text, path, strategy, **options))
    part = headings + text[start:end]
    source = document.source
    parsed_part = pipeline.parse(
        part, path=path, title=document.title, dialect=source.dialect, substitutions=source.substitutions
    )
    others = {name: options[name] for name in options if name not in ("title", "substitutions")}
    chunks = pipeline.chunk(parsed_part, strategy, **others)
    record, shift = cut_record(chunks), start - len(headings)
    lines = lines_at(text, [start])[0] - lines_at(part, [len(headings)])[0]
    rows = [
        [first + shift, last + shift, line + lines, last_line + lines, *others]
        for first, last, line, last_line, *others in record["chunks"]
    ][start > 0 : len(chunks) - (end < len(text))]  # those at the edges lack neighbours
    span = [rows[0][0] if start else 0, rows[-1][1] if end < len(text) else end] if rows else [start, start]
    return {**record, "version": version_of(text), "chunks": rows, "findings": [], "part": span}


def _sections_around(document: Document, position: int) -> tuple[int, int, str]:
    """Where the sections around a position start and end, and the headings above the first of them."""
    sections, text = document.sections, document.text
    before = [section for section in sections if position - _BEFORE <= section.start <= position - _LEAD]
    inside = sections[max(document.section_at(position - _LEAD), 0)]
    first = min(before, key=lambda section: (section.depth, -section.start), default=inside)
    end = next((start for start in document.section_columns.starts if start >= position + _AFTER), len(text))
    headings = [text[section.start : section.body_start].strip() for section in document.path_to(first)[:-1]]
    return first.start if first.depth else 0, end, "".join(f"{heading}\n\n" for heading in headings)


def _limits(options: Options) -> dict[str, int]:
    sizes = {"minimum": options.minimum, "target": getattr(options, "target_tokens", 0), "cap": options.cap or 0}
    return {name: size for name, size in sizes.items() if size}


def _row(chunk: Chunk, text: str) -> list[Any]:
    """Start, end, first and last line, tokens, tokens to embed, breadcrumb line, then what ``added`` returns."""
    place, stats = chunk.source_position, chunk.token_stats
    numbers = [place.char_start, place.char_end, place.start_line, place.end_line, stats.tokens, stats.embed_tokens]
    return [*numbers, chunk.breadcrumb_line, *added(chunk, text)]


def added(chunk: Chunk, text: str) -> list[str | None]:
    """The text that quire added: breadcrumb, overlap, opening (a fence, a table's header) and closing.

    The fifth is the chunk's own text where it differs from the source, because white space was normalised.
    """
    embedded = chunk.embed_text
    breadcrumb = len(chunk.embed_prefix)
    start = breadcrumb + chunk.overlap_chars
    own = text[chunk.source_position.char_start : chunk.source_position.char_end]
    at = embedded.find(own, start)
    if at < 0:
        return [embedded[:breadcrumb], embedded[breadcrumb:start], "", "", embedded[start:]]
    return [
        embedded[:breadcrumb], embedded[breadcrumb:start], embedded[start:at], embedded[at + len(own) :], None,
    ]  # fmt: skip


def chunk_record(chunk: Chunk) -> dict[str, Any]:
    """The record of a chunk without its texts, which the page puts together from the row."""
    return {name: value for name, value in chunk.to_dict().items() if name not in ("embedText", "originalText")}


def violations(chunks: Chunks) -> list[list[Any]]:
    """What ``quire verify`` finds in a cut."""
    return [_finding(finding) for finding in pipeline.verify(chunks.document.text, chunks)]


def _finding(finding: Finding) -> list[Any]:
    return [finding.line, finding.code, finding.message]
