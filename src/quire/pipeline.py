"""The order of the stages: bytes -> Source -> Document -> Pieces -> Chunks. Every public function but ``Index``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from msgspec import structs

from quire import finish, laws, parsing, read, size, split, validation
from quire import options as run_options
from quire.auto_slugs import choose_slugs, tree_options
from quire.dialects import DialectName
from quire.errors import InputError, OptionError
from quire.model import UNTITLED, Document, Finding, Syntax
from quire.normalize import RegularText
from quire.options import ChunkOptions, FileOptions
from quire.read.discover import discover
from quire.record import Chunk, Chunks
from quire.substitutions import Substitutions
from quire.token_counters import TokenCounter
from quire.trees import OnUndecodable, Patterns

AnyPath: TypeAlias = str | PathLike[str]  # a path as callers may give it
_ARGUMENTS = {"path": str, "title": str, "syntax": Syntax, "dialect": DialectName, "substitutions": Substitutions}
"""The arguments of ``parse`` besides the text, with their types."""


def parse(
    text: str,
    *,
    path: AnyPath | None = None,
    title: str | None = None,
    syntax: Syntax | None = None,
    dialect: str | None = None,
    substitutions: Mapping[str, Any] | None = None,
) -> Document:
    """Parse ``text`` into sections and blocks. ``path`` gives it a name and, by its extension, its syntax.

    ``dialect`` names a documentation generator; ``commonmark`` reads the constructs of none. ``substitutions`` are
    values of template variables: ``{"es": "Elasticsearch"}`` for ``{{es}}``.
    """
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, not {type(text).__name__}; for a file see quire.chunk_file")
    path = str(path) if isinstance(path, PathLike) else path
    variables = dict(substitutions) if isinstance(substitutions, Mapping) else substitutions or {}
    arguments = zip(_ARGUMENTS.items(), (path, title, syntax, dialect, variables or None), strict=True)
    for (name, kind), value in arguments:
        if value is not None and not (kind is str and isinstance(value, str)):
            validation.check(name, value, kind)
    return parsing.document(read.make_source(text, path, syntax, dialect, variables), title)


def chunk(
    text: str | Document,
    strategy: str = run_options.DEFAULT_STRATEGY,
    *,
    path: AnyPath | None = None,
    title: str | None = None,
    syntax: Syntax | None = None,
    tokenizer: object = None,
    **options: Unpack[ChunkOptions],
) -> Chunks:
    """Cut ``text``, or a parsed document, into chunks.

    ``tokenizer`` is a name (``o200k_base``, ``cl100k_base``, ``estimate``), an OpenAI model (``gpt-4o``), a Hugging
    Face tokenizer or its file, or any callable that counts the tokens of a text. The other options:

    content_type: the kind of content; the first part of every id
    breadcrumb_mode: when the breadcrumb line is put above the text to embed
    slugs: the rule for anchors: GitHub's, ASCII only, that of a documentation generator, or auto
    dialect: the Markdown dialect, which also sets the default of slugs; by default all are read
    base_url: the address of the published documents, which gives every chunk a url
    timestamps: add the time of cutting to the metadata
    substitutions: values of template variables, such as {{es}}, by name
    max_tokens: maximum tokens per chunk, breadcrumb included (packed, flow, sections)
    target_tokens: desired tokens of a chunk; in packed, of the pieces of a long block (packed, flow)
    min_tokens: smaller chunks are joined with others where possible (packed, flow, sections)
    merge_siblings: sibling sections may share a chunk (packed)
    overlap_sentences: sentences of the previous chunk that are repeated (flow)
    overlap: repeat sentences within running text only, or also over headings and out of lists (flow)
    normalize: normalize line ends, trailing spaces and repeated blank lines (flow)
    guard: what happens to a chunk that is not worth embedding (flow)
    max_depth: deeper headings are treated as text (sections)
    tree: the first part of node ids; by default the content type (tree)

    ``packed`` also takes ``hard_cap`` and ``target`` for ``max_tokens`` and ``target_tokens``.
    """
    started = time.perf_counter()
    substitutions = options.pop("substitutions", None)
    counter = size.resolve(tokenizer, run_options.default_tokenizer(strategy))
    chosen = run_options.build(strategy, {**options, "tokenizer": counter.name})
    if isinstance(text, str):
        dialect = chosen.dialect
        document = parse(text, path=path, title=title, syntax=syntax, dialect=dialect, substitutions=substitutions)
    elif not isinstance(text, Document):
        raise TypeError(f"quire.chunk takes a text or a Document, not {type(text).__name__}; see quire.chunk_file")
    elif path is title is syntax is None and not substitutions:
        document = text
    else:
        raise OptionError("a parsed document has its path, title, syntax and substitutions", "give them to quire.parse")
    if chosen.slugs == run_options.AUTO_SLUGS:
        chosen = structs.replace(chosen, slugs=choose_slugs({document.path or UNTITLED: document}).rule)
    if document.source.substitutions:
        chosen = structs.replace(chosen, substitutions=document.source.substitutions)
    pieces, findings, sizer = split.pieces_of(document, counter, chosen)
    chunks = finish.assemble(document, pieces, sizer, chosen, started=started)
    if isinstance(chosen, run_options.FlowOptions):
        kept, guarded = finish.guarded(document, pieces, chunks, sizer, chosen)
        findings = [*findings, *guarded]
        if len(kept) < len(pieces):  # the rest is numbered again
            chunks = finish.assemble(document, kept, sizer, chosen, started=started)
    in_order = sorted((*document.findings, *findings), key=attrgetter("line"))
    return Chunks(chunks, document=document, options=chosen, findings=in_order)


def chunk_file(
    file: str | Path,
    strategy: str = run_options.DEFAULT_STRATEGY,
    *,
    path: AnyPath | None = None,
    errors: OnUndecodable = "strict",
    **options: Unpack[FileOptions],
) -> Chunks:
    """Read a file and cut it into chunks. ``path`` names it in ids; by default that is the file's own name."""
    if not isinstance(file, str | PathLike):
        kind = type(file).__name__
        raise TypeError(f"quire.chunk_file takes the path of a file, not {kind}; for a text see quire.chunk")
    name = Path(file).name if path is None else path
    text, findings = read.read_file(Path(file), str(file), errors=errors)
    chunks = chunk(text, strategy, path=name, **options)
    return Chunks(chunks, document=chunks.document, options=chunks.options, findings=(*findings, *chunks.findings))


def chunk_dir(
    path: AnyPath,
    strategy: str = run_options.DEFAULT_STRATEGY,
    *,
    errors: OnUndecodable = "strict",
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    **options: Unpack[FileOptions],
) -> Iterator[Chunks]:
    """Read the documents of a folder, one at a time, in the order of their paths, and cut each into chunks.

    Takes the documents that ``quire chunk`` would, named by their paths in the folder; ``include`` and ``exclude`` are
    patterns for these paths. Variables have the values of the generator's files, then of ``substitutions``.
    ``slugs="auto"`` reads all documents first. An invalid folder or option is an error at
    once, an unreadable document when its turn comes.
    """
    if not isinstance(path, str | PathLike):
        raise TypeError(f"quire.chunk_dir takes the path of a folder, not {type(path).__name__}")
    folder = str(path)
    if Path(folder).is_file():
        raise InputError(folder, "is a file, not a folder", "see quire.chunk_file")
    chunk("", strategy, **options)
    included, excluded = patterns("include", include), patterns("exclude", exclude)
    read.decode(b"", folder, errors)
    files, skipped, _ = discover(folder, include=included, exclude=excluded)
    if unread := next((entry for entry in skipped if entry.is_error), None):
        raise InputError(unread.path, unread.reason)
    values: Any = tree_options(options, files, Path(folder))
    return (chunk_file(file.file, strategy, path=file.path, errors=errors, **values) for file in files)


def verify(text: str, chunks: Sequence[Chunk], *, tokenizer: object = None) -> list[Finding]:
    """Check the laws: an empty list, or what is wrong with ``chunks`` of ``text``.

    Counts are checked with ``tokenizer``, else with the one that the chunks were made with, if it has a name.
    """
    _check_chunks(chunks)
    document = _rebuilt(text, chunks)
    counter = size.resolve(tokenizer, run_options.DEFAULT_TOKENIZER) if tokenizer is not None else _counter_of(chunks)
    findings = chunks.findings if isinstance(chunks, Chunks) else None
    return laws.violations(laws.Case(document, chunks, RegularText(document).span, counter, findings))


def _check_chunks(chunks: Any) -> None:
    """TypeError if they are not chunks: records that were read from JSON are none yet."""
    is_list = isinstance(chunks, Sequence) and not isinstance(chunks, str)
    others = [chunk for chunk in chunks if not isinstance(chunk, Chunk)] if is_list else [chunks]
    if others:
        what = f"takes the Chunk records of a text, as a list, not {type(others[0]).__name__}"
        raise TypeError(f"quire.verify {what}; quire.wire.decode makes them of JSON")


def _rebuilt(text: str, chunks: Sequence[Chunk]) -> Document:
    """The document parsed anew, so that the check does not trust what made the chunks."""
    arguments: dict[str, Any] = {}
    if isinstance(chunks, Chunks):
        names = ("path", "syntax", "dialect", "substitutions")
        arguments = {name: getattr(chunks.document.source, name) for name in names}
        arguments["title"] = chunks.document.title
    elif chunks:
        metadata = chunks[0].metadata
        options = metadata.get("chunkingOptions", {})
        arguments = {name: options.get(name) for name in ("dialect", "substitutions")}
        arguments |= {"path": metadata.get("sourceFile"), "title": chunks[0].file_title}
    return parse(text, **arguments)


def _counter_of(chunks: Sequence[Chunk]) -> TokenCounter | None:
    """The counter that the chunks were made with, if its name says which it is."""
    name = chunks[0].metadata.get("chunkingOptions", {}).get("tokenizer") if chunks else None
    return size.resolve(name, run_options.DEFAULT_TOKENIZER) if name in size.NAMES else None


def patterns(name: str, value: Any) -> tuple[str, ...]:
    """One pattern for paths, or several; OptionError if ``value`` is neither."""
    checked = validation.check(name, value, Patterns)
    return (checked,) if isinstance(checked, str) else checked
