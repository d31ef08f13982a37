"""The chunks of a document as the page draws them: spans and sizes, without the text, which the page has already."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from quire import pipeline
from quire.model.breadcrumbs import reader_line
from quire.model.chunk_record import Chunk, Chunks
from quire.model.document import Document, Finding
from quire.model.offsets import lines_at
from quire.model.options import STRATEGIES, Options, own_names
from quire.model.validation import fields
from quire.tokens.tokenizers import NAMES

_OF_PARSING = ("title", "dialect", "substitutions")  # the options that parsing takes
_VERBATIM = ("code", "table", "html", "math", "heading")  # blocks that the page sets apart
_BEFORE, _LEAD, _AFTER = 50_000, 10_000, 25_000
"""A part starts this many characters before a position, at most and at least, and ends about this many after it."""


@lru_cache(maxsize=4)
def _parsed(text: str, path: str | None, **options: Any) -> Document:
    return pipeline.parse(text, path=path, **{**options, "substitutions": dict(options.get("substitutions", ()))})


def parsed(text: str, path: str | None, options: Mapping[str, Any]) -> Document:
    """A parsed document; substitutions are pairs, so that it can be remembered."""
    return _parsed(text, path, **{name: options[name] for name in _OF_PARSING if options.get(name) is not None})


@lru_cache(maxsize=4, typed=True)
def cut(text: str, path: str | None, strategy: str, **options: Any) -> Chunks:
    """The chunks of a text."""
    return pipeline.chunk(parsed(text, path, options), strategy, **_of_cutting(options))


def _of_cutting(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in options if name not in ("title", "substitutions")}


def option_table() -> dict[str, Any]:
    """Every strategy with its own options and their defaults, and the values to choose from."""
    strategies: dict[str, Any] = {}
    choices: dict[str, Any] = {}
    for name, kind in STRATEGIES.items():
        options = fields(kind)
        strategies[name] = {option: options[option].default for option in own_names(name) if option != "tree"}
        choices |= {option: field.choices for option, field in options.items() if field.choices}
    choices = {option: values for option, values in choices.items() if option not in ("slugs", "dialect")}
    common = [*(name for name in fields(Options) if name != "substitutions"), "title"]
    return {"strategies": strategies, "common": common, "tokenizers": NAMES, "choices": choices}


def page_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the page starts with."""
    return {name: options[name] for name in options if options[name] is not None and name != "substitutions"}


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
    sizes = {"minimum": options.minimum, "target": getattr(options, "target_tokens", 0), "cap": options.cap or 0}
    return {
        "version": version_of(text),
        "strategy": options.strategy,
        "options": {name: value for name, value in options.to_dict().items() if name != "strategy"},
        "limits": {name: size for name, size in sizes.items() if size},
        "chunks": [_row(chunk, text) for chunk in chunks],
        "findings": [_finding(finding) for finding in chunks.findings],
    }


def part_record(text: str, path: str | None, strategy: str, near: int | None, **options: Any) -> dict[str, Any]:
    """The chunks around the position ``near``, and under ``part`` the span that they cover; without it, all chunks.

    The sections around it are cut by themselves, below the headings above them. Away from the edges these are mostly
    the chunks of the whole document; small sections that share a chunk may be joined from another one on.
    """
    document = parsed(text, path, options)
    start, end, headings = (0, len(text), "") if near is None else _sections_around(document, min(near, len(text)))
    if end - start == len(text) or options.get("guard") == "raise":  # it refuses whole documents
        return cut_record(cut(text, path, strategy, **options))
    part = headings + text[start:end]
    source: dict[str, Any] = {name: getattr(document.source, name) for name in ("dialect", "substitutions")}
    parsed_part = pipeline.parse(part, path=path, title=document.title, **source)
    chunks = pipeline.chunk(parsed_part, strategy, **_of_cutting(options))
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


def _row(chunk: Chunk, text: str) -> list[Any]:
    """Start, end, first and last line, tokens, tokens to embed, breadcrumb line, then the text that quire added.

    That is the breadcrumb, the overlap, the opening (a fence, a table's header) and the closing. The last is the
    chunk's own text where it differs from the source, because white space was normalised.
    """
    span, stats, embedded = chunk.source_position, chunk.token_stats, chunk.embed_text
    numbers = [span.char_start, span.char_end, span.start_line, span.end_line, stats.tokens, stats.embed_tokens]
    breadcrumb = len(chunk.embed_prefix)
    start = breadcrumb + chunk.overlap_chars
    source = text[span.char_start : span.char_end]
    at = embedded.find(source, start)
    added = ["", "", embedded[start:]] if at < 0 else [embedded[start:at], embedded[at + len(source) :], None]
    line = reader_line(chunk.file_title, chunk.header_path)
    return [*numbers, line, embedded[:breadcrumb], embedded[breadcrumb:start], *added]


def chunk_record(chunk: Chunk) -> dict[str, Any]:
    """The record of a chunk without its texts, which the page puts together from the row."""
    return {name: value for name, value in chunk.to_dict().items() if name not in ("embedText", "originalText")}


def violations(chunks: Chunks) -> list[list[Any]]:
    """What ``quire verify`` finds in a cut."""
    return [_finding(finding) for finding in pipeline.verify(chunks.document.text, chunks)]


def _finding(finding: Finding) -> list[Any]:
    return [finding.line, finding.code, finding.message]
