"""Bytes to ``Source``: the first stage, before ``parsing``."""

from quire.read.source import decode, make_source, read_file

__all__ = ["decode", "make_source", "read_file"]
