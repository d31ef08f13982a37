"""A large set of documents: pages of the shared data in copies, each with other words.

In a copy, 30 % of the words of five letters or more are replaced, each word everywhere by the same other one, so that
words are as frequent as in as many real pages. Addresses and keys of front matter stay, so that links lead somewhere.
``python -m benchmarks.copies FOLDER COUNT`` writes COUNT files. The same call writes the same files.
"""

from __future__ import annotations

import re
import string
import sys
from binascii import crc32
from functools import cache
from pathlib import Path

from benchmarks import measure

_WORD = re.compile(r"(?<![\w/.#-])[A-Za-z]{5,}(?![\w/.:-])")
_VOWELS, _CONSONANTS = "aeiou", "".join(sorted(set(string.ascii_lowercase) - set("aeiou")))
_REPLACED = 0.3


def write_copies(folder: Path, count: int) -> int:
    """Write ``count`` files, and return their size in bytes."""
    documents = [page for page in measure.documents("linkqa", "wild") if page[1].strip()]
    size = 0
    for number in range(count):
        copy, at = divmod(number, len(documents))
        path, text = documents[at]
        file = folder / f"copy-{copy:02}" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        size += file.write_bytes(_WORD.sub(lambda word, copy=copy: _other(copy, word[0]), text).encode())
    return size


@cache
def _letters(copy: int) -> dict[int, int]:
    """Each letter as another one of the same kind; none for the first copy."""
    pairs = [
        (kind, kind[shift:] + kind[:shift])
        for kind, shift in ((_VOWELS, copy % len(_VOWELS)), (_CONSONANTS, copy % len(_CONSONANTS)))
    ]
    old, new = ("".join(each) for each in zip(*pairs, strict=True))
    return str.maketrans(old + old.upper(), new + new.upper())


@cache
def _other(copy: int, word: str) -> str:
    is_replaced = crc32(f"{copy} {word.lower()}".encode()) < _REPLACED * 2**32
    return word.translate(_letters(copy)) if is_replaced else word


if __name__ == "__main__":
    print(write_copies(Path(sys.argv[1]), int(sys.argv[2])))
