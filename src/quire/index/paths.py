"""Names that may hold what UTF-8 cannot, as the index keeps them; and which paths are inside which. Pure.

A file name that is not UTF-8 reaches Python with lone surrogates in it; so may a title in front matter. Neither the
engine nor JSON takes them, so they are written as the bytes they stand for, ``%E9``. That this may make two names one
is looked for by ``plan``, which refuses the second by name.
"""

from __future__ import annotations

import os
import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """``text`` with each lone surrogate as the bytes that it stands for."""
    return text if text.isascii() or not _SURROGATE.search(text) else _SURROGATE.sub(_escaped, text)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it; both as ``os.path.realpath`` gives them."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    how = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", how))
