"""Blank characters and blank lines: the only text that may be in no chunk."""

from __future__ import annotations

import re

BLANK = " \t\r\n"
"""The characters that Markdown calls blank. All others, NBSP and form feeds too, are text that must not be lost."""
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")


def text_end(text: str, start: int, end: int) -> int:
    """One past the last character of ``text[start:end]`` that is not blank; ``start`` if there is none."""
    return start + len(text[start:end].rstrip(BLANK))


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The part of ``text[start:end]`` from the start of its first line that is not blank to its last such character.

    Both are ``start`` when all of it is blank.
    """
    inner = text[start:end]
    last = start + len(inner.rstrip(BLANK))
    if last == start:
        return start, start
    after_empty_lines = inner.lstrip("\n")
    if after_empty_lines[0] not in " \t\r":
        return end - len(after_empty_lines), last
    first = _BLANK_LINES.match(text, start, end)
    return first.end() if first else start, last
