"""The names of chunk files: pure rules from a document's path to ``{folder}/{contentType}_{docName}__ch{n}.json``.

A name is kept to the character if file systems can hold it. Names that differ only in case or in the composition of
accents count as equal, because some file systems treat them as equal.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import unicodedata
from typing import NamedTuple

from quire.model import doc_name

STATE = ".quire"
"""The folder in the output folder for files that are not output."""
STAGE = f"{STATE}/stage"
"""New files until all of them are written."""
LOCK = f"{STATE}/lock"
"""Held by a run, so that no other writes to the folder."""
README = f"{STATE}/README"
"""Explains the folder to people. If it exists, the folder may be replaced as a whole."""

MOST_BYTES = 255
"""The longest name that file systems accept."""
_SUFFIX_BYTES = len("__ch.json") + 8
"""The length that a chunk's number adds to a name, for up to a hundred million chunks."""

_CHUNK_FILE = re.compile(r"(?s)(?P<stem>.*)__ch(?P<number>0|[1-9][0-9]{0,8})\.json")
_LIKE_CHUNK_FILE = re.compile(r"(?si).*__ch[0-9]+\.json")
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"|?*\\]|[. ]$' if sys.platform == "win32" else "[\x00/]")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")


class FileNames(NamedTuple):
    """The names of a document's files."""

    folder: str
    """Relative to the output folder, with forward slashes; empty for the output folder itself."""
    stem: str
    """The names up to ``__ch``."""

    def file(self, number: int) -> str:
        """The name of a chunk's file."""
        return f"{self.stem}__ch{number}.json"

    @property
    def pattern(self) -> str:
        """All of them, in messages."""
        return f"{self.folder}/{self.stem}__ch*.json" if self.folder else f"{self.stem}__ch*.json"


def file_names(path: str | None, content_type: str) -> FileNames:
    """The names of the files of the document at ``path``."""
    *folders, name = [part for part in doc_name(path).split("/") if part] or [""]
    kept = "/".join(folder_name(part) for part in folders if part != ".")
    return FileNames(kept, _shortened(_escaped(f"{content_type}_{name}"), MOST_BYTES - _SUFFIX_BYTES))


def folder_name(name: str) -> str:
    """``name`` for a folder: it stays inside the output, and is neither quire's own name nor like a chunk file's."""
    if name == ".." or case_folded(name) == STATE or _LIKE_CHUNK_FILE.fullmatch(name):
        name = name.replace(".", "%2E")
    if sys.platform == "win32" and _RESERVED.fullmatch(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    return _shortened(_escaped(name), MOST_BYTES)


def case_folded(text: str) -> str:
    """A text that is equal for names that some file system treats as equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def split_name(name: str) -> tuple[str, int] | None:
    """The stem and the number of a chunk file's name; None for other names."""
    match = _CHUNK_FILE.fullmatch(name)
    return (match["stem"], int(match["number"])) if match else None


def _escaped(name: str) -> str:
    """``name`` with characters that a file name cannot hold as ``%`` and their number."""
    return "".join(map(_encodable, _FORBIDDEN.sub(lambda match: f"%{ord(match[0]):02X}", name)))


def _encodable(char: str) -> str:
    try:
        os.fsencode(char)
    except UnicodeEncodeError:  # a lone surrogate, or the encoding of file names is ASCII
        return f"%u{ord(char):04X}"
    return char


def _shortened(name: str, most: int) -> str:
    """``name``, or its beginning and a hash if it has more than ``most`` bytes."""
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    mark = "~" + hashlib.blake2b(encoded, digest_size=8).hexdigest()
    kept = name[: most - len(mark)]
    while len(os.fsencode(kept)) > most - len(mark):
        kept = kept[:-1]
    return kept + mark
