"""quire: Markdown into pieces worth retrieving.

The public names, resolved when first used, so that ``import quire`` loads neither the parser nor a tokenizer.
docs/reference/python.md describes them all.
"""

__version__ = "0.2.0"
DISTRIBUTION = "quire-md"
"""The name to install. The name ``quire`` belongs to another project there."""
ISSUES = "https://github.com/quire-md/quire/issues"
"""Where to report a bug."""

_HOME = {
    name: module
    for module, names in {
        "errors": "BusyError EmbedderError GuardError IndexDamagedError InputError MissingExtraError NotFoundError"
        " OptionError QueryError QuireError StoreError TokenizerError UndecodableError",
        "index_api": "Index",
        "model": "Block Document Finding Link Section Span",
        "pipeline": "chunk chunk_dir chunk_file parse verify",
        "record": "Chunk Chunks",
        "search.hit": "Hit Results",
        "search.match_ranges": "match_ranges",
        "wire.record_forms": "flat",
        "write.jsonl": "read_jsonl",
    }.items()
    for name in names.split()
}
"""The module of each public name."""
__all__ = sorted([*_HOME, "__version__"])  # noqa: PLE0605  type checkers read the imports

# typing's own costs more than all of this module; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from quire.errors import (  # noqa: I001  an alias marks a public name
        BusyError as BusyError,
        EmbedderError as EmbedderError,
        GuardError as GuardError,
        IndexDamagedError as IndexDamagedError,
        InputError as InputError,
        MissingExtraError as MissingExtraError,
        NotFoundError as NotFoundError,
        OptionError as OptionError,
        QueryError as QueryError,
        QuireError as QuireError,
        StoreError as StoreError,
        TokenizerError as TokenizerError,
        UndecodableError as UndecodableError,
    )
    from quire.index_api import Index as Index
    from quire.model import (
        Block as Block,
        Document as Document,
        Finding as Finding,
        Link as Link,
        Section as Section,
        Span as Span,
    )
    from quire.pipeline import (
        chunk as chunk,
        chunk_dir as chunk_dir,
        chunk_file as chunk_file,
        parse as parse,
        verify as verify,
    )
    from quire.record import Chunk as Chunk, Chunks as Chunks
    from quire.search.hit import Hit as Hit, Results as Results
    from quire.search.match_ranges import match_ranges as match_ranges
    from quire.wire.record_forms import flat as flat
    from quire.write.jsonl import read_jsonl as read_jsonl


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'quire' has no attribute {name!r}; it has: {', '.join(__all__)}")
    value = getattr(__import__(f"quire.{_HOME[name]}", fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
