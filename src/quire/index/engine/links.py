"""Opens the engine's index, also in a folder that may not be written to. Used by ``store``."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import tantivy

_TRIES, _PAUSE = 50, 0.002
"""How often, and after how many seconds, a folder is removed again in which something was made meanwhile."""


def index_in(folder: Path) -> tantivy.Index:
    """The engine's index as it is now; it sees no later commit."""
    if os.access(folder, os.W_OK):
        index = tantivy.Index.open(str(folder))
        index.config_reader("manual", 0)
        return index
    # The engine insists on a lock file. In a folder of links it can have one; it maps the files at once, so the links
    # may go again.
    import secrets  # noqa: PLC0415  hardly any index is in a folder that cannot be written
    from tempfile import gettempdir  # noqa: PLC0415

    links = Path(gettempdir(), f"quire-{secrets.token_hex(8)}")
    try:  # before the folder is made: Ctrl-C may come right after that
        links.mkdir(0o700)
        for file in folder.iterdir():
            if not file.name.endswith(".lock"):
                (links / file.name).symlink_to(file.absolute())
        index = tantivy.Index.open(str(links))
        index.config_reader("manual", 0)
        return index
    finally:
        remove_links(links)


def remove_links(links: Path) -> None:
    """Remove a folder of links.

    A thread of the engine, which looks once whether there is something new, may make its lock file there meanwhile.
    """
    for _ in range(_TRIES):
        shutil.rmtree(links, ignore_errors=True)
        if not links.exists():
            return
        time.sleep(_PAUSE)
