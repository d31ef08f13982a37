"""The records that the index keeps about files, trees and itself. They are part of the engine's commit.

Nodes and file records therefore change together or not at all. File records are spread over a few blobs by the hash of
their ids, so that an update rewrites only the blobs it changes. The times of files are columns in blobs of their
own, because an update that finds nothing to do needs nothing else. A search reads neither.
"""

import re
from array import array
from binascii import crc32
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from quire.index.news_paths import is_news
from quire.model.document import Finding
from quire.model.patterns import pattern
from quire.model.trees import Reading

VERSION = 17  # increase it when older indexes become unreadable or score differently
DEFAULT_FOLDER = ".quire"
TOKENIZER = "o200k_base"  # counts the tokens of nodes
SETTINGS_KEY = "settings"
LINKS_KEY = "links:"  # before the name of a tree: what its links show about its site
FOLDERS_KEY = "folders:"  # before the name of a tree: the times of its folders
FILE_KEYS = tuple(f"files:{shard:02}" for shard in range(24))  # the keys of the blobs with file records
TIMES_KEYS = tuple(f"times:{shard:02}" for shard in range(8))  # those with the times of files

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
    number: int = -1  # unique; identifies its nodes in the engine; -1 without nodes
    problem: Finding | None = None  # why it could not be read
    front_matter: bytes = b"\x80"  # its values, for ``decode_front_matter``; by default an empty map

    @property
    def id(self) -> str:
        """The document's id."""
        return f"{self.tree}:{self.path}"

    @property
    def times(self) -> tuple[int, int, int]:
        """Its size and times: an edit changes one of them."""
        return self.size, self.mtime_ns, self.ctime_ns


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


Signs = dict[tuple[str, str], int]  # how many files, pages and links of a tree are of each kind
LINK_FOUND, LINK_LOST = ("link", "found"), ("link", "lost")  # links to documents, and those that lead nowhere
FILES, FAILED, NODES, TOKENS, NEWS = (("files", kind) for kind in ("all", "failed", "nodes", "tokens", "news"))
EXPECTED = ("files", "expected")  # how many there will be when a build is complete; only until then
_FILES = msgspec.msgpack.Decoder(list[FileRecord])


def decode_files(blobs: Iterable[bytes]) -> dict[str, FileRecord]:
    """The file records in some blobs, by document id."""
    return {record.id: record for blob in blobs for record in _FILES.decode(blob)}


def file_signs(record: FileRecord | None) -> Signs:
    """What a file adds to the signs of its tree."""
    if record is None:
        return {}
    counts = {FILES: 1, FAILED: int(record.problem is not None), NODES: record.nodes, TOKENS: record.tokens}
    return counts | {NEWS: int(is_news(record.path))}


class FileTimes(msgspec.Struct, frozen=True, array_like=True):
    """The sizes and times of some files of a tree, in columns."""

    paths: str  # with a NUL between two
    columns: tuple[bytes, bytes, bytes]  # sizes, mtimes and ctimes: eight bytes each
    unsure: frozenset[str]  # the paths of files that are to be read again, or could not be read

    @classmethod
    def of(cls, records: Sequence[FileRecord]) -> "FileTimes":
        """The columns of some records."""
        columns = zip(*[(record.size, record.mtime_ns, record.ctime_ns) for record in records], strict=True)
        unsure = frozenset(record.path for record in records if record.racy or record.problem)
        return cls(
            "\0".join(record.path for record in records),
            tuple(array("q", column).tobytes() for column in columns),  # type: ignore[arg-type]
            unsure,
        )

    def __iter__(self) -> Iterator[tuple[str, int, int, int]]:
        """The path, size, mtime and ctime of each file."""
        return zip(self.paths.split("\0"), *[array("q", column) for column in self.columns], strict=True)


TimesByTree = dict[str, FileTimes]
decode_times = msgspec.msgpack.Decoder(TimesByTree).decode


def changed_blobs(
    document_ids: Iterable[str],
    find: Callable[[str], FileRecord | None],
    read: Callable[[Sequence[str]], list[bytes]],
) -> Iterator[tuple[str, bytes | None]]:
    """The keys and new contents of the blobs with some documents.

    ``find`` returns the record of a document, None if it is gone, ``read`` the old contents. Blobs are documents of the
    engine and count in its statistics, so one without records is removed: it is None.
    """
    tables = (FILE_KEYS, decode_files, msgspec.msgpack.encode), (TIMES_KEYS, _timed_files, _encoded_times)
    for keys, decode, encode in tables:
        changed: dict[str, list[str]] = defaultdict(list)
        for document_id in document_ids:
            changed[blob_key(document_id, keys)].append(document_id)
        for key, ids in sorted(changed.items()):
            records = {**decode(read([key])), **{document_id: find(document_id) for document_id in ids}}
            inside = [record for _, record in sorted(records.items()) if record is not None]
            yield key, encode(inside) if inside else None


def blob_count(document_ids: Iterable[str], trees: int) -> int:
    """How many blobs an index of some documents has: those of files, of each tree, and the settings."""
    keys = {blob_key(document_id, keys) for document_id in document_ids for keys in (FILE_KEYS, TIMES_KEYS)}
    return len(keys) + 2 * trees + 1


def blob_key(document_id: str, keys: Sequence[str]) -> str:
    """Which of ``keys`` the blob with a document has."""
    return keys[crc32(document_id.encode()) % len(keys)]


def _encoded_times(records: list[FileRecord]) -> bytes:
    trees = {record.tree for record in records}
    by_tree = {tree: FileTimes.of([record for record in records if record.tree == tree]) for tree in sorted(trees)}
    return msgspec.msgpack.encode(by_tree)


def _timed_files(blobs: Iterable[bytes]) -> dict[str, FileRecord]:
    return {
        f"{tree}:{path}": FileRecord(tree, path, size, mtime, ctime, racy=path in columns.unsure)
        for blob in blobs
        for tree, columns in decode_times(blob).items()
        for path, size, mtime, ctime in columns
    }


_MAX_VALUES = 100  # of a key
_MAX_VALUE = 200  # in characters; a longer text is no value that somebody compares
FrontMatter = dict[str, list[str]]
"""The values of front matter by key, both in lower case: texts, numbers, dates and booleans, one or a list of them."""
decode_front_matter = msgspec.msgpack.Decoder(FrontMatter).decode


def encode_front_matter(values: Mapping[str, Any], tags: Iterable[str]) -> bytes:
    """The values of front matter that a condition can name; ``tags`` are those of the document."""
    texts: FrontMatter = {}
    for key, value in (*values.items(), *([("tags", list(tags))] if tags else ())):
        texts[storable(key.casefold())] = [
            storable(" ".join(str(item).casefold().split()))
            for item in (value if isinstance(value, list) else [value])[:_MAX_VALUES]
            if isinstance(item, bool | int | float) or (isinstance(item, str) and len(item) <= _MAX_VALUE)
        ]
    return msgspec.msgpack.encode({key: items for key, items in texts.items() if items})


def storable(text: str) -> str:
    """``text`` with each lone surrogate as its bytes, ``%E9``: neither the engine nor JSON accepts surrogates.

    File names that are not UTF-8 contain them, and front matter may. Two names can become equal this way;
    ``stale_files`` then refuses the second.
    """
    return text if text.isascii() or not _SURROGATE.search(text) else _SURROGATE.sub(_percent_encoded, text)


def _percent_encoded(match: re.Match[str]) -> str:
    errors = "surrogateescape" if "\udc80" <= match[0] <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", errors))
