"""The records that the index keeps about files, trees and itself. They are part of the engine's commit.

Nodes and file records therefore change together or not at all. File records are spread over a few blobs by the hash of
their ids, so that an update rewrites only the blobs it changes.
"""

import re
from binascii import crc32
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from quire.model import Finding
from quire.patterns import pattern
from quire.trees import Reading

VERSION = 13  # increase it when older indexes become unreadable or score differently
DEFAULT_FOLDER = ".quire"
TOKENIZER = "o200k_base"  # counts the tokens of nodes
SETTINGS_KEY = "settings"
LINKS_KEY = "links:"  # before the name of a tree: what its links show about its site
FOLDERS_KEY = "folders:"  # before the name of a tree: the times of its folders
_SHARDS = 32
FILE_KEYS = tuple(f"files:{shard:02}" for shard in range(_SHARDS))  # the keys of the blobs with file records

_SURROGATE = pattern("[\ud800-\udfff]")


class FileRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file in the index."""

    tree: str
    path: str  # in the tree, with forward slashes
    size: int  # in bytes
    mtime_ns: int
    ctime_ns: int  # detects an edit that restored the old mtime
    racy: bool  # written so shortly before it was read that a later edit may leave the same times
    digest: bytes = b""  # of its bytes; empty if they could not be read
    title: str = ""
    nodes: int = 0  # 0 if it could not be read
    tokens: int = 0
    number: int = -1  # unique; identifies its nodes in the engine
    outline: bytes = b""  # its heading tree, so that merging reads no nodes
    notes: tuple[Finding, ...] = ()  # the first findings from reading it
    failed: bool = False  # it could not be read; its only note says why
    front_matter: bytes = b""  # its values, for ``decode_front_matter``
    keys: tuple[str, ...] = ()  # the addresses that links to it may have

    @property
    def id(self) -> str:
        """The document's id."""
        return f"{self.tree}:{self.path}"

    def findings(self, name: str | None = None) -> list[Finding]:
        """The notes as findings about ``name``, by default its path."""
        return [msgspec.structs.replace(note, path=name) if name else note for note in self.notes]


class TreeRecord(msgspec.Struct, frozen=True, array_like=True):
    """A named folder of documents."""

    folder: bytes  # relative to the parent of the index folder if it is inside, so that both can be moved together
    language: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    slugs: str = "github"  # the rule for anchors, or "auto"
    dialect: str = ""  # of Markdown; empty if it was not given
    auto_slugs: str = ""  # the rule that "auto" has chosen; empty until then
    reading: Reading = Reading()
    variables: dict[str, str] = {}  # the values of template variables, from its settings and the generator's files
    variable_files: tuple[tuple[bytes, int], ...] = ()  # these files and their times
    auto_dialect: str = ""  # the dialect that its headings show

    @property
    def slug_rule(self) -> str:
        """The rule for anchors that is tried first."""
        return self.auto_slugs or self.slugs

    @property
    def used_dialect(self) -> str | None:
        """The dialect in which its documents are read."""
        return self.dialect or self.auto_dialect or None


FolderTimes = dict[bytes, tuple[int, int]]
"""When the folders and ignore files of a tree were changed. While all are the same, no document comes or goes."""


class IndexSettings(msgspec.Struct, frozen=True, array_like=True):
    """How an index was made. If it would be made differently today, it is rebuilt."""

    quire: str  # the version of quire, as each may read documents differently
    languages: tuple[str, ...]  # sorted; may include the language of a removed tree
    trees: dict[str, TreeRecord]


def languages_of(trees: Mapping[str, TreeRecord]) -> tuple[str, ...]:
    """The languages of the trees, sorted, without duplicates."""
    return tuple(sorted({tree.language for tree in trees.values()}))


FileTable = Mapping[str, FileRecord]  # file records by document id


Signs = dict[tuple[str, str], int]  # how many pages and links of a tree are of each kind
LINK_FOUND, LINK_LOST = ("link", "found"), ("link", "lost")  # links to documents, and those that lead nowhere
_FILES = msgspec.msgpack.Decoder(list[FileRecord])


def decode_files(blobs: Iterable[bytes]) -> dict[str, FileRecord]:
    """The file records in some blobs, by document id."""
    return {record.id: record for blob in blobs for record in _FILES.decode(blob)}


def changed_blobs(
    files: FileTable, changed: set[str], read: Callable[[Sequence[str]], list[bytes]]
) -> Iterator[tuple[str, bytes | None]]:
    """The keys and new contents of the blobs with some documents; ``read`` returns the old contents.

    Blobs are documents of the engine and count in its statistics, so one without records is removed: it is None.
    """
    blobs: dict[str, list[FileRecord]] = {_key(document_id): [] for document_id in changed}
    old = decode_files(read(list(blobs)))
    for document_id in sorted((changed | old.keys()) & files.keys()):
        blobs[_key(document_id)].append(files[document_id])
    for key, records in sorted(blobs.items()):
        yield key, msgspec.msgpack.encode(records) if records else None


def _key(document_id: str) -> str:
    return FILE_KEYS[crc32(document_id.encode()) % _SHARDS]


_MAX_VALUES = 100  # of a key
_MAX_VALUE = 200  # in characters; a longer text is no value that somebody compares
FrontMatter = dict[str, list[str]]
"""The values of front matter by key, both in lower case: texts, numbers, dates and booleans, one or a list of them."""
_FRONT_MATTER = msgspec.msgpack.Decoder(FrontMatter)


def encode_front_matter(values: Mapping[str, Any], tags: Iterable[str]) -> bytes:
    """The values of front matter that a condition can name; ``tags`` are those of the document."""
    texts: FrontMatter = {}
    for key, value in (*values.items(), *([("tags", list(tags))] if tags else ())):
        texts[storable(key.casefold())] = [
            storable(" ".join(str(item).casefold().split()))
            for item in (value if isinstance(value, list) else [value])[:_MAX_VALUES]
            if isinstance(item, bool | int | float) or (isinstance(item, str) and len(item) <= _MAX_VALUE)
        ]
    texts = {key: items for key, items in texts.items() if items}
    return msgspec.msgpack.encode(texts) if texts else b""


def decode_front_matter(data: bytes) -> FrontMatter:
    """The values of front matter by key."""
    return _FRONT_MATTER.decode(data) if data else {}


def storable(text: str) -> str:
    """``text`` with each lone surrogate as its bytes, ``%E9``: neither the engine nor JSON accepts surrogates.

    File names that are not UTF-8 contain them, and front matter may. Two names can become equal this way;
    ``stale_files`` then refuses the second.
    """
    return text if text.isascii() or not _SURROGATE.search(text) else _SURROGATE.sub(_percent_encoded, text)


def _percent_encoded(match: re.Match[str]) -> str:
    errors = "surrogateescape" if "\udc80" <= match[0] <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", errors))
