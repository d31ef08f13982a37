"""Where the files of a document go: pure rules from its path to names. obstacles.py looks at what is there.

A name is kept to the character wherever a file system can hold it. Two documents whose places differ only in case or
in the way accents are composed are twins: some file systems take them for one, so quire does everywhere.

Used by all that write chunk files: json_files.py, changes.py, swap.py, journal.py, obstacles.py, and ``quire migrate``.
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
"""The folder in the output folder in which a run keeps what is not yet, or not, part of the output."""
STAGE = f"{STATE}/stage"
"""Where new files wait until all of them are written."""
LOCK = f"{STATE}/lock"
"""What a run holds, so that no other writes to the folder."""
JOURNAL = f"{STATE}/journal"
"""What is to become of the files in the stage, where it takes more than one step."""
README = f"{STATE}/README"
"""Tells people about the folder; while it is there, the folder may be replaced as a whole."""

MOST_BYTES = 255
"""The longest name that file systems take."""
_SUFFIX_BYTES = len("__ch.json") + 8
"""What a chunk's number adds to a name, for up to a hundred million chunks."""

_CHUNK_FILE = re.compile(r"(?s)(?P<stem>.*)__ch(?P<number>0|[1-9][0-9]{0,8})\.json")
_LOOKS_LIKE_ONE = re.compile(r"(?si).*__ch[0-9]+\.json")
_FOR_WINDOWS = re.compile(r'[\x00-\x1f<>:"|?*\\]|[. ]$')
_FORBIDDEN = _FOR_WINDOWS if sys.platform == "win32" else re.compile("[\x00/]")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")


class Place(NamedTuple):
    """Where the files of a document are."""

    folder: str
    """The folder, from the output folder on, with forward slashes; empty for the output folder itself."""
    stem: str
    """What their names start with: all before the chunk's number."""

    def file(self, number: int) -> str:
        """The name of a chunk's file."""
        return f"{self.stem}__ch{number}.json"

    @property
    def shown(self) -> str:
        """How messages name the files."""
        return f"{self.folder}/{self.stem}__ch*.json" if self.folder else f"{self.stem}__ch*.json"


def place_of(path: str | None, content_type: str) -> Place:
    """The place for the document at ``path``: its folders, then ``{contentType}_{docName}``."""
    *folders, name = [part for part in doc_name(path).split("/") if part] or [""]
    kept = "/".join(component(part) for part in folders if part != ".")
    return Place(kept, _fitting(_holdable(f"{content_type}_{name}"), MOST_BYTES - _SUFFIX_BYTES))


def component(name: str) -> str:
    """``name`` as the name of a folder: nothing that leads elsewhere, is quire's own or looks like a chunk file."""
    if name == ".." or twin_key(name) == STATE or _LOOKS_LIKE_ONE.fullmatch(name):
        name = name.replace(".", "%2E")
    if sys.platform == "win32" and _RESERVED.fullmatch(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    return _fitting(_holdable(name), MOST_BYTES)


def twin_key(text: str) -> str:
    """Equal for names that some file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def split_name(name: str) -> tuple[str, int] | None:
    """The stem and the number of a chunk's file; None for the name of anything else."""
    match = _CHUNK_FILE.fullmatch(name)
    return (match["stem"], int(match["number"])) if match else None


def _holdable(name: str) -> str:
    """``name`` with what no file name can hold as ``%`` and its number."""
    name = _FORBIDDEN.sub(lambda match: f"%{ord(match[0]):02X}", name)
    return (
        name if _is_holdable(name) else "".join(char if _is_holdable(char) else f"%u{ord(char):04X}" for char in name)
    )


def _is_holdable(name: str) -> bool:
    """Whether the encoding of file names has all of ``name``: none has lone surrogates, and some is ASCII."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _fitting(name: str, most: int) -> str:
    """``name``, or its beginning and a hash of it all if it has more than ``most`` bytes."""
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    mark = "~" + hashlib.blake2b(encoded, digest_size=8).hexdigest()
    kept = name[: most - len(mark)]
    while len(os.fsencode(kept)) > most - len(mark):
        kept = kept[:-1]
    return kept + mark
