"""Files of an index that are damaged although their checksums fit."""

from __future__ import annotations

import json
from binascii import crc32
from collections.abc import Callable
from pathlib import Path


def content_length(data: bytes) -> int:
    """The length of what a file holds; behind it stand the checksum and the engine's version."""
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def forge(file: Path, changed: Callable[[bytes], bytes]) -> None:
    """Change what a file holds, and its checksum.

    In place: an open index has the file mapped, and reading what was cut off ends the process.
    """
    data = file.read_bytes()
    length = content_length(data)
    content = changed(data[:length])
    footer = json.dumps({**json.loads(data[length:-8]), "crc": crc32(content)}).encode()
    with file.open("r+b") as stream:
        stream.write(content + footer + len(footer).to_bytes(4, "little") + data[-4:])
        stream.truncate()
