"""What the user has set: quire.toml, pyproject.toml, the user's own file and the environment, as one frozen record.

keys.py    every value there is: its type, its range, what it means
files.py   where the files are, and what is in them
load.py    one value each, with where it came from

Neighbours: the surfaces read it; the index and the search know nothing of files.
"""

from __future__ import annotations

from quire.settings.files import PROJECT_FILE, Tree
from quire.settings.load import Settings, Value, load

__all__ = ["PROJECT_FILE", "Settings", "Tree", "Value", "load"]
