"""What differs between Linux, macOS and Windows: folders, names, links, Ctrl-C. ``output/`` has the files."""

import os
import signal
import sys
import unicodedata
from _blake2 import blake2b  # hashlib would load OpenSSL
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
    folder = environment.get(on_windows if sys.platform == "win32" else elsewhere, "") or expanded(default)
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
    for path, folders, files in os.walk(folder, topdown=False):
        for remove, names in ((os.unlink, files), (os.rmdir, folders)):
            for name in names:
                with suppress(OSError):
                    remove(os.path.join(path, name))  # noqa: PTH118
    with suppress(OSError):
        folder.rmdir()


def expanded(path: str) -> str:
    """``path`` with the home folder for ``~``, if that is known."""
    return os.path.expanduser(path)  # noqa: PTH111  Path's fails where there is no home


def is_link_or_junction(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a symbolic link or, on Windows from Python 3.12 on, a junction."""
    is_junction = getattr(entry, "is_junction", None)
    return entry.is_symlink() or bool(is_junction and is_junction())


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
