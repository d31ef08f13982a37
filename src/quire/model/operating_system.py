"""What differs between Linux, macOS and Windows: folders, names, links, Ctrl-C. ``output/`` has the files."""

import os
import signal
import sys
import unicodedata
from _blake2 import blake2b  # hashlib would load OpenSSL
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

_USER_FOLDERS: Mapping[str, tuple[str, str, str]] = {
    "cache": ("LOCALAPPDATA", "XDG_CACHE_HOME", "~/.cache"),
    "config": ("APPDATA", "XDG_CONFIG_HOME", "~/.config"),
    "data": ("LOCALAPPDATA", "XDG_DATA_HOME", "~/.local/share"),
}
"""The variable on Windows, the variable elsewhere, and the folder if that is not set."""


def user_folder(kind: Literal["cache", "config", "data"], environment: Mapping[str, str] = os.environ) -> Path | None:
    """The folder of quire for the user's caches, settings or data; None if there is no home folder."""
    on_windows, elsewhere, default = _USER_FOLDERS[kind]
    folder = environment.get(on_windows if sys.platform == "win32" else elsewhere, "") or os.path.expanduser(default)  # noqa: PTH111
    return Path(folder, "quire") if os.path.isabs(folder) else None  # noqa: PTH117


def digest(texts: Sequence[str]) -> str:
    """40 digits, also for the name of a folder. Nobody can make other texts that have the same."""
    return blake2b(repr([*texts]).encode(), digest_size=20).hexdigest()


def application_folder() -> str:
    """The folder of the settings of desktop applications; it may start with ``~``."""
    if sys.platform == "win32":
        return os.environ.get("APPDATA", "~")
    return "~/Library/Application Support" if sys.platform == "darwin" else "~/.config"


def temporary_folder() -> Path:
    """The folder for temporary files. ``tempfile`` knows it, too, but takes longer to import than a search."""
    names = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    return Path(next(filter(None, names), "/tmp" if os.path.isdir("/tmp") else os.curdir))  # noqa: S108, PTH112


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, as far as possible."""
    import shutil  # noqa: PLC0415  it takes longer to import than a search

    shutil.rmtree(folder, ignore_errors=True)


def case_folded(text: str) -> str:
    """A text that is equal for names that some file system treats as equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Start processes without Ctrl-C, which reaches all processes of a terminal. Windows has no such mask."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
