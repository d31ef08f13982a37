"""Opens the engine's index, also in a folder that cannot be written."""

import os
from pathlib import Path

import tantivy

from quire.model.operating_system import remove_folder, temporary_folder


def open_index(folder: Path) -> tantivy.Index:
    """The engine's index as it is now; it does not see later commits."""
    if os.access(folder, os.W_OK):
        return _open_writable(folder)
    # The engine needs a lock file, so a read-only index is opened through a temporary folder of links. It maps the
    # files at once, so the links can be removed again.
    links = temporary_folder() / f"quire-{os.urandom(8).hex()}"
    try:  # before the folder is made: Ctrl-C may come right after that
        links.mkdir(0o700)
        for file in folder.iterdir():
            if not file.name.endswith(".lock"):
                (links / file.name).symlink_to(file.absolute())
        return _open_writable(links)
    finally:
        remove_folder(links)


def _open_writable(folder: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(folder))
    index.config_reader("manual", 0)
    return index
