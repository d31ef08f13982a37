"""The first stage: bytes to ``Source``; ``parsing`` comes next.

``discover`` turns what was named on a command line into files, ``source`` turns a file into text, ``frontmatter``
takes the metadata off its top, with ``plain_yaml`` for what is simple and ``yaml_values`` for the rest; ``toml_values``
and ``globs`` read TOML and patterns, for settings and the search too.
"""

from __future__ import annotations

from quire.read.discover import discover
from quire.read.source import decode, make_source, read_file

__all__ = ["decode", "discover", "make_source", "read_file"]
