"""What the index knows of the files it was made from, and how it was made. Kept in the engine's own commit. Pure.

So there is one truth: nodes and what is known of their files change in the same step or not at all. The files are
spread over a few records by the hash of their ids; a change writes only the records that it touches.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from quire.model import Finding

VERSION = 3
"""Changes with everything that makes what is stored here or in a node mean something else."""

NAME = ".quire"
"""What the folder of an index is called where nobody says otherwise."""
LANGUAGE = "english"
"""What the words of a tree are stemmed as where nobody says otherwise."""
TOKENIZER = "o200k_base"
"""What counts the tokens of nodes."""
SETTINGS = "settings"
"""The key of the record that says how the index was made."""
SHARDS = 32
KEYS = tuple(f"files:{shard:02}" for shard in range(SHARDS))
"""The keys of the records that say what is known of the files."""


class Note(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A finding about a file, which is known already."""

    code: str
    """The finding's code."""
    line: int
    """The 1-based line; 0 for the whole file."""
    message: str
    """One sentence."""


class FileRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of one file."""

    tree: str
    """The tree that it is in."""
    path: str
    """Its path in the tree, with forward slashes."""
    size: int
    """Its size in bytes when it was read."""
    mtime_ns: int
    """When it was last written to."""
    ctime_ns: int
    """When its name, rights or content last changed: it tells an edit that was given an old date."""
    digest: bytes
    """The hash of its bytes; empty if they could not be read."""
    racy: bool
    """Whether it was written to so shortly before it was read that a later edit may have left the same times."""
    title: str
    """The document's title."""
    nodes: int
    """How many nodes it has; 0 if it could not be read."""
    tokens: int
    """How many tokens it has."""
    number: int
    """By this its nodes are known to the engine; no other file has it."""
    outline: bytes = b""
    """Its heading tree, so that merging reads no node."""
    notes: tuple[Note, ...] = ()
    """What reading it found; of many only the first."""
    failed: bool = False
    """Whether it could not be read, for the reason that its note gives."""

    @property
    def id(self) -> str:
        """The document's id."""
        return f"{self.tree}:{self.path}"

    def findings(self, name: str | None = None) -> Iterator[Finding]:
        """The notes as findings, under the name by which the user knows the file."""
        for note in self.notes:
            yield Finding(code=note.code, path=name or self.path, line=note.line, message=note.message)


class Tree(msgspec.Struct, frozen=True, array_like=True):
    """A folder of documents under a name."""

    folder: bytes
    """Where it is, as the system spells it: relative to the folder that holds the index if it is inside, else
    absolute. So an index moves with its documents."""
    language: str
    """The language of its documents."""
    include: tuple[str, ...] = ()
    """Patterns for the documents to take; all where there are none."""
    exclude: tuple[str, ...] = ()
    """Patterns for the documents to leave out."""


class Settings(msgspec.Struct, frozen=True, array_like=True):
    """How an index was made. What differs from what is wanted today makes it anew."""

    schema: int
    """The version of the engine's fields."""
    quire: str
    """The version of quire, since any may read documents differently."""
    tokenizer: str
    """What counted the tokens."""
    languages: tuple[str, ...]
    """The languages that it has fields for, in order; a tree that was removed may have been the only one in one."""
    trees: dict[str, Tree]
    """The trees by name."""


def languages_of(trees: Mapping[str, Tree]) -> tuple[str, ...]:
    """The languages of some trees, each once, in order."""
    return tuple(sorted({tree.language for tree in trees.values()}))


FileTable = Mapping[str, FileRecord]
"""What is known of the files, by document id."""


def key_of(document_id: str) -> str:
    """The key of the record that a file is in."""
    return KEYS[crc32(document_id.encode()) % SHARDS]


def encoded(records: Iterable[FileRecord]) -> bytes:
    """The content of one record; the same files in any order give the same bytes."""
    return _ENCODER.encode(sorted(records, key=lambda record: (record.tree, record.path)))


def decoded(blobs: Iterable[bytes]) -> dict[str, FileRecord]:
    """The files in some records, by document id."""
    return {record.id: record for blob in blobs for record in _FILES.decode(blob)}


def encoded_settings(settings: Settings) -> bytes:
    """The content of the settings record."""
    return _ENCODER.encode(settings)


def decoded_settings(blob: bytes) -> Settings:
    """What ``encoded_settings`` made."""
    return _SETTINGS.decode(blob)


_ENCODER = msgspec.msgpack.Encoder()
_FILES = msgspec.msgpack.Decoder(list[FileRecord])
_SETTINGS = msgspec.msgpack.Decoder(Settings)
