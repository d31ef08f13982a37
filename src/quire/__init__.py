"""quire: Markdown into pieces worth retrieving.

The public names, resolved when first used, so that ``import quire`` loads neither the parser nor a tokenizer.
docs/reference/python.md describes them all.
"""

import sys

__version__ = "0.3.0"
DISTRIBUTION = "quire-md"
"""The name to install. The name ``quire`` belongs to another project there."""
ISSUES = "https://github.com/quire-md/quire/issues"
"""Where to report a bug."""

# typing's own costs more than all of this module; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    # isort: off
    # fmt: off
    from collections.abc import Callable
    from typing import Any

    from quire.errors import (
        BusyError as BusyError, EmbedderError as EmbedderError, GuardError as GuardError,
        IndexDamagedError as IndexDamagedError, InputError as InputError,
        MissingExtraError as MissingExtraError, NotFoundError as NotFoundError, OptionError as OptionError,
        QueryError as QueryError, QuireError as QuireError, StoreError as StoreError,
        TokenizerError as TokenizerError, UndecodableError as UndecodableError,
    )
    from quire.model.document import (
        Block as Block, Document as Document, Finding as Finding, Link as Link, Section as Section,
        Span as Span,
    )
    from quire.model.chunk_record import Chunk as Chunk, Chunks as Chunks
    from quire.output.jsonl import read_jsonl as read_jsonl, write_jsonl as write_jsonl
    from quire.output.record_forms import flat as flat
    from quire.pipeline import (
        chunk as chunk, chunk_dir as chunk_dir, chunk_file as chunk_file, parse as parse, verify as verify,
    )
    from quire.search.cite import Citation as Citation, cite as cite
    from quire.search.expand import expand as expand
    from quire.search.hit import Hit as Hit, Results as Results
    from quire.search.index_api import Index as Index
    from quire.search.match_ranges import match_ranges as match_ranges
    # fmt: on
    # isort: on


def lazy_names(package: str, homes: dict[str, str]) -> "tuple[list[str], Callable[[str], Any]]":
    """``__all__`` and ``__getattr__`` of a package whose names are resolved on first use.

    ``homes`` has the public names of each of its modules.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def resolve(name: str) -> "Any":
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has: {', '.join(sorted(home))}")
        module = __import__(f"{package}.{home[name]}", fromlist=[name])
        return sys.modules[package].__dict__.setdefault(name, getattr(module, name))

    return sorted(home), resolve


_names, __getattr__ = lazy_names(
    __name__,
    {
        "errors": "BusyError EmbedderError GuardError IndexDamagedError InputError MissingExtraError NotFoundError"
        " OptionError QueryError QuireError StoreError TokenizerError UndecodableError",
        "model.document": "Block Document Finding Link Section Span",
        "model.chunk_record": "Chunk Chunks",
        "output.jsonl": "read_jsonl write_jsonl",
        "output.record_forms": "flat",
        "pipeline": "chunk chunk_dir chunk_file parse verify",
        "search.cite": "Citation cite",
        "search.expand": "expand",
        "search.hit": "Hit Results",
        "search.index_api": "Index",
        "search.match_ranges": "match_ranges",
    },
)
__all__ = [*_names, "__version__"]  # noqa: PLE0604  names of this module


def __dir__() -> list[str]:
    return __all__
