"""The page, its style and its script, as files of the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

ASSETS = ("inspector.css", "inspector.js", "icon.svg")
"""The files that the page loads."""
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@cache
def asset(name: str) -> bytes:
    """The bytes of a file."""
    return files(__name__).joinpath(name).read_bytes()
