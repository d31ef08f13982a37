"""splintr-rs: 40 to 85 MB a second, its vocabularies compiled in, a wheel for every platform. Neighbour: engines.py."""

from __future__ import annotations

from collections.abc import Callable

from quire.size.surrogates import repaired


def load(encoding: str) -> Callable[[str], int]:
    """A function that counts tokens of ``encoding``."""
    from splintr import Tokenizer  # noqa: PLC0415 - heavy

    encode = Tokenizer.from_pretrained(encoding).encode_ordinary  # the others know special tokens

    def count(text: str) -> int:
        try:
            return len(encode(text))
        except UnicodeEncodeError:
            return len(encode(repaired(text)))

    return count
