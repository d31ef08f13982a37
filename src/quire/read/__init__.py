"""Bytes to ``Source``: the first stage, before ``parsing``."""
