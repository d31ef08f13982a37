"""quire: Markdown into pieces worth retrieving.

The public names, resolved when first used, so that ``import quire`` loads neither the parser nor a tokenizer.
docs/reference/python.md describes them all.
"""

from __future__ import annotations

__version__ = "0.2.0"
DISTRIBUTION = "quire-md"
"""The name to install. The name ``quire`` belongs to another project there."""
ISSUES = "https://github.com/quire-md/quire/issues"
"""Where to report a bug."""

# typing's own costs more than all of this module; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from quire.errors import (
        BusyError,
        EmbedderError,
        GuardError,
        IndexDamagedError,
        InputError,
        MissingExtraError,
        NotFoundError,
        OptionError,
        QueryError,
        QuireError,
        StoreError,
        TokenizerError,
        UndecodableError,
    )
    from quire.indexed import Index
    from quire.model import Block, Document, Finding, Link, Section, Span
    from quire.pipeline import chunk, chunk_dir, chunk_file, parse, verify
    from quire.record import Chunk, Chunks
    from quire.search.hit import Hit, Results
    from quire.search.match_ranges import match_ranges
    from quire.wire.forms import flat
    from quire.write.jsonl import read_jsonl

_HOME = {
    "Block": "model",
    "BusyError": "errors",
    "Chunk": "record",
    "Chunks": "record",
    "Document": "model",
    "EmbedderError": "errors",
    "Finding": "model",
    "GuardError": "errors",
    "Hit": "search.hit",
    "Index": "indexed",
    "IndexDamagedError": "errors",
    "InputError": "errors",
    "Link": "model",
    "MissingExtraError": "errors",
    "NotFoundError": "errors",
    "OptionError": "errors",
    "QueryError": "errors",
    "QuireError": "errors",
    "Results": "search.hit",
    "Section": "model",
    "Span": "model",
    "StoreError": "errors",
    "TokenizerError": "errors",
    "UndecodableError": "errors",
    "chunk": "pipeline",
    "chunk_dir": "pipeline",
    "chunk_file": "pipeline",
    "flat": "wire.forms",
    "match_ranges": "search.match_ranges",
    "parse": "pipeline",
    "read_jsonl": "write.jsonl",
    "verify": "pipeline",
}

__all__ = [
    "Block",
    "BusyError",
    "Chunk",
    "Chunks",
    "Document",
    "EmbedderError",
    "Finding",
    "GuardError",
    "Hit",
    "Index",
    "IndexDamagedError",
    "InputError",
    "Link",
    "MissingExtraError",
    "NotFoundError",
    "OptionError",
    "QueryError",
    "QuireError",
    "Results",
    "Section",
    "Span",
    "StoreError",
    "TokenizerError",
    "UndecodableError",
    "__version__",
    "chunk",
    "chunk_dir",
    "chunk_file",
    "flat",
    "match_ranges",
    "parse",
    "read_jsonl",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'quire' has no attribute {name!r}; it has: {', '.join(__all__)}")
    from importlib import import_module  # noqa: PLC0415  only when a name is first used

    value = getattr(import_module(f"quire.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
