"""The order of the stages: bytes -> Source -> Document -> Pieces -> Chunks. Every public function but ``Index``."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from msgspec import structs

from quire.cut import laws
from quire.cut.chunk_fields import assemble
from quire.cut.guard import guarded
from quire.cut.normalize import RegularText, regular_text
from quire.errors import InputError, OptionError
from quire.links.auto_slugs import choose_slugs, tree_options
from quire.model import options as run_options
from quire.model import validation
from quire.model.chunk_record import Chunk, Chunks, Piece
from quire.model.dialects import DialectName
from quire.model.document import UNTITLED, Document, Finding, Syntax
from quire.model.options import ChunkOptions, FileOptions
from quire.model.substitutions import Substitutions
from quire.model.trees import OnUndecodable, Patterns
from quire.parsing.blocks import parse_source
from quire.read.discover import Discovery
from quire.read.source import make_source, read_file
from quire.tokens import tokenizers
from quire.tokens.sizer import Sizer
from quire.tokens.token_counters import TokenCounter

AnyPath: TypeAlias = str | PathLike[str]  # a path as callers may give it
_Strategy: TypeAlias = Callable[[Document, Sizer, run_options.Options], tuple[Sequence[Piece], Sequence[Finding]]]
_TYPES = {"syntax": Syntax, "dialect": DialectName, "substitutions": Substitutions, "errors": OnUndecodable}
"""The types of arguments that are not texts."""
_MOST_PATH = 4096  # characters of a path


def parse(
    text: str,
    *,
    path: AnyPath | None = None,
    title: str | None = None,
    syntax: Syntax | None = None,
    dialect: str | None = None,
    substitutions: Mapping[str, Any] | None = None,
    page_marker: str | None = None,
) -> Document:
    """Parse ``text`` into sections and blocks. ``path`` gives it a name and, by its extension, its syntax.

    ``dialect`` names a documentation generator; ``commonmark`` reads the constructs of none. ``substitutions`` are
    values of template variables: ``{"es": "Elasticsearch"}`` for ``{{es}}``. ``page_marker`` is a regular expression
    for lines that begin a page.
    """
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, not {type(text).__name__}; for a file see quire.chunk_file")
    path = str(path) if isinstance(path, PathLike) else path
    variables = dict(substitutions) if isinstance(substitutions, Mapping) else substitutions or {}
    _check_arguments(
        path=path, title=title, syntax=syntax, dialect=dialect, substitutions=variables or None, page_marker=page_marker
    )
    source = make_source(text, path, syntax, dialect, variables, page_marker=page_marker or "")
    if path is None and len(text) < _MOST_PATH:  # a path that was probably to be read
        name = text.strip()
        if os.path.isfile(name) or ("/" in name and os.path.isdir(name)):  # noqa: PTH112, PTH113  Path's may fail
            problem = "the text is only a path; quire.chunk_file and quire.chunk_dir read what is there"
            finding = Finding(code="path-as-text", path=source.name, line=1, message=problem)
            source = structs.replace(source, findings=(finding, *source.findings))
    return parse_source(source, title)


def _check_arguments(**values: Any) -> None:
    for name, value in values.items():
        if value is not None and (name in _TYPES or not isinstance(value, str)):
            validation.check(name, value, _TYPES.get(name, str))


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

    max_tokens: maximum tokens per chunk, breadcrumb included (packed: 1024, flow: 512, sections: 800)
    target_tokens: desired tokens of a chunk; in packed, of the pieces of a long block (packed: 256, flow: 400)
    min_tokens: smaller chunks are joined with others where possible (packed: 64, flow: 64, sections: 100)
    join_tokens: sections share a chunk up to so many tokens; with a size, the cap (packed: 96)
    merge_siblings: sibling sections may share a chunk (packed: on)
    content_type: the kind of content; the first part of every id [default: doc]
    breadcrumb_mode: when the breadcrumb line is put above the text to embed [default: conditional]
    slugs: the rule for anchors: GitHub's, ASCII only, that of a documentation generator, or auto [default: github]
    dialect: the Markdown dialect, which also sets the default of slugs; by default all are read
    base_url: the address of the published documents, which gives every chunk a url
    page_marker: a regular expression for lines that begin a page, besides those of known converters
    timestamps: add the time of cutting to the metadata
    substitutions: values of template variables, such as {{es}}, by name
    overlap_sentences: sentences of the previous chunk that are repeated (flow: 2)
    overlap: repeat sentences within running text only, or also over headings and out of lists (flow: prose)
    normalize: normalize line ends, trailing spaces and repeated blank lines (flow: on)
    guard: what happens to a chunk that is not worth embedding (flow: warn)
    max_depth: deeper headings are treated as text (sections: 3)
    tree: the first part of node ids; by default the content type (tree)

    ``packed`` also takes ``hard_cap`` and ``target`` for ``max_tokens`` and ``target_tokens``.
    """
    started = time.perf_counter()
    substitutions = options.pop("substitutions", None)
    counter, chosen = _built_options(strategy, tokenizer, options)
    if isinstance(text, str):
        reading: Any = {"dialect": chosen.dialect, "substitutions": substitutions, "page_marker": chosen.page_marker}
        document = parse(text, path=path, title=title, syntax=syntax, **reading)
    elif not isinstance(text, Document):
        raise TypeError(f"quire.chunk takes a text or a Document, not {type(text).__name__}; see quire.chunk_file")
    elif path is title is syntax is None and not substitutions:
        document = text
    else:
        raise OptionError("a parsed document has its path, title, syntax and substitutions", "give them to quire.parse")
    if chosen.slugs == run_options.AUTO_SLUGS:
        chosen = structs.replace(chosen, slugs=choose_slugs({document.path or UNTITLED: document}))
    if document.source.substitutions:
        chosen = structs.replace(chosen, substitutions=document.source.substitutions)
    pieces, findings, sizer = _pieces(document, counter, chosen)
    chunks = assemble(document, pieces, sizer, chosen, started=started)
    if isinstance(chosen, run_options.FlowOptions):
        kept, dropped = guarded(document, pieces, chunks, sizer, chosen)
        findings = [*findings, *dropped]
        if len(kept) < len(pieces):  # the rest is numbered again
            chunks = assemble(document, kept, sizer, chosen, started=started)
    in_order = sorted((*document.findings, *findings), key=attrgetter("line"))
    return Chunks(chunks, document=document, options=chosen, findings=in_order)


def _built_options(
    strategy: str, tokenizer: object, options: Mapping[str, Any]
) -> tuple[TokenCounter, run_options.Options]:
    counter = tokenizers.resolve(tokenizer, run_options.default_tokenizer(strategy))
    return counter, run_options.build(strategy, {**options, "tokenizer": counter.name})


def check_options(strategy: str, options: Mapping[str, Any], errors: object = "strict") -> None:
    """Raise the error that ``chunk_file`` would raise for these options, whatever the file is."""
    values: dict[str, Any] = {"title": None, "syntax": None, "substitutions": None, "tokenizer": None, **options}
    title, syntax, substitutions, tokenizer = (values.pop(name) for name in list(values)[:4])
    _built_options(strategy, tokenizer, values)
    variables = dict(substitutions) if isinstance(substitutions, Mapping) else substitutions
    _check_arguments(title=title, syntax=syntax, substitutions=variables, errors=errors)


def _pieces(
    document: Document, counter: TokenCounter, options: run_options.Options
) -> tuple[Sequence[Piece], Sequence[Finding], Sizer]:
    """The pieces of a document, findings about cuts that could not keep every rule, and what knows their sizes."""
    is_normalized = isinstance(options, run_options.FlowOptions) and options.normalize
    sizer = Sizer(document, counter, options, regular_text(document) if is_normalized else None)
    pieces, findings = _strategy(options.strategy)(document, sizer, options)
    cap = 1 << 62 if options.strategy == "sections" else sizer.cap  # where a block stays whole
    seen = 0
    for start, end, _, tokens, *_ in pieces:
        assert seen <= start < end, "pieces overlap or are empty"
        assert tokens <= cap, "a piece exceeds the cap"
        seen = end
    return pieces, findings, sizer


@cache
def _strategy(name: str) -> _Strategy:
    """The strategy with this name; its module is loaded on first use."""
    function: _Strategy = getattr(import_module(f"quire.cut.{name}"), name)
    return function


def chunk_file(
    file: str | Path,
    strategy: str = run_options.DEFAULT_STRATEGY,
    *,
    path: AnyPath | None = None,
    errors: OnUndecodable = "strict",
    **options: Unpack[FileOptions],
) -> Chunks:
    """Read a file and cut it into chunks. ``path`` names it in ids; by default that is the file's own name."""
    name = Path(file).name if path is None else path
    text, findings = read_file(Path(file), str(file), errors=errors)
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
    ``slugs="auto"`` reads all documents first. An invalid folder or option is an error at once.
    """
    folder = os.fspath(path)
    check_options(strategy, options, errors)
    discovery = Discovery(folder, patterns("include", include), patterns("exclude", exclude))
    if unread := next((entry for entry in discovery.skipped if entry.is_error), None):
        raise InputError(unread.path, unread.reason)
    files = discovery.documents
    values: Any = tree_options(options, files, Path(folder))
    return (chunk_file(file.file, strategy, path=file.path, errors=errors, **values) for file in files)


def verify(text: str, chunks: Sequence[Chunk], *, tokenizer: object = None) -> list[Finding]:
    """Check the laws: an empty list, or what is wrong with ``chunks`` of ``text``.

    Counts are checked with ``tokenizer``, else with the one that the chunks were made with, if it has a name.
    """
    others = [each for each in chunks if not isinstance(each, Chunk)] if isinstance(chunks, Sequence) else [chunks]
    if others:  # records that were read from JSON are no chunks yet
        what = f"takes the Chunk records of a text, as a list, not {type(others[0]).__name__}"
        raise TypeError(f"quire.verify {what}; quire.output.decode makes them of JSON")
    document = _rebuilt(text, chunks)
    if tokenizer is None and chunks:
        name = chunks[0].metadata.get("chunkingOptions", {}).get("tokenizer")
        tokenizer = name if name in tokenizers.NAMES else None
    counter = None if tokenizer is None else tokenizers.resolve(tokenizer, run_options.DEFAULT_TOKENIZER)
    findings = chunks.findings if isinstance(chunks, Chunks) else None
    return laws.violations(laws.Case(document, chunks, RegularText(document).span, counter, findings))


def _rebuilt(text: str, chunks: Sequence[Chunk]) -> Document:
    """The document parsed anew, so that the check does not trust what made the chunks."""
    arguments: dict[str, Any] = {}
    if isinstance(chunks, Chunks):
        names = ("path", "syntax", "dialect", "substitutions", "page_marker")
        arguments = {name: getattr(chunks.document.source, name) for name in names}
        arguments["title"] = chunks.document.title
    elif chunks:
        metadata = chunks[0].metadata
        options = metadata.get("chunkingOptions", {})
        arguments = {name: options.get(name) for name in ("dialect", "substitutions", "page_marker")}
        arguments |= {"path": metadata.get("sourceFile"), "title": chunks[0].file_title}
    return parse(text, **arguments)


def patterns(name: str, value: Any) -> tuple[str, ...]:
    """One pattern for paths, or several; OptionError if ``value`` is neither."""
    checked = validation.check(name, value, Patterns)
    return (checked,) if isinstance(checked, str) else checked
