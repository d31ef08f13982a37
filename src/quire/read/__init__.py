"""Bytes to ``Source``: the first stage, before ``parsing``.

discover     paths from a command line -> files, by patterns and ``ignore`` files
source       a file -> text, text -> Source
substitution_files  the values of template variables that a generator's files have
frontmatter  the metadata at the top of a document, with ``plain_yaml`` and ``yaml_values``
"""

from __future__ import annotations

from quire.read.discover import discover
from quire.read.source import decode, make_source, read_file

__all__ = ["decode", "discover", "make_source", "read_file"]
