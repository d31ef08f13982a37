"""toktok-rs: 60 to 200 MB a second, its vocabulary compiled in. Neighbour: engines.py."""

from __future__ import annotations

from collections.abc import Callable

from quire.size.surrogates import repaired


def load(encoding: str) -> Callable[[str], int]:
    """A function that counts tokens of ``encoding``."""
    # The one public function starts a thread for every call, 30 µs for a line that takes 0.1 µs to count; should this
    # name go away, the ImportError brings in the next engine.
    from toktok import _encoding  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy

    counted: Callable[[str], int] = _encoding(encoding).count

    def count(text: str) -> int:
        try:
            return counted(text)
        except UnicodeEncodeError:
            return counted(repaired(text))

    return count
