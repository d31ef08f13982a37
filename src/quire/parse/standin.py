"""The text that the parser reads in place of the source: same length, same blocks, none of the parser's traps.

Before: read/. After: blocks.py, which can take every position the parser reports as a character of the body.
The parser reports UTF-8 bytes; here every non-ASCII character becomes one ASCII character that has no meaning
in Markdown, so bytes are characters. No block of Markdown starts or ends with a non-ASCII character, so the
blocks stay the same; text is always taken from the source.
"""

from __future__ import annotations

import re

from quire.model import Source

# The parser takes a closing fence followed by a tab for code, and a delimiter row with a tab for text. A tab
# there means what a space means. Tabs of an indentation are left alone: they have a width.
_TAB_AFTER_FENCE = re.compile(r"(?<=[`~])[ \t]*\t[ \t]*(?=[\r\n]|\Z)")
_TAB_IN_DELIMITER_ROW = re.compile(r"(?:[|:]|--)[-:| \t]*\t[-:| \t]*(?=[\r\n]|\Z)")
_TAB_TO_SPACE = str.maketrans("\t", " ")


def stand_in(source: Source) -> str:
    """What the parser reads for the Markdown of ``source``."""
    start = source.markdown_start
    body = as_ascii(source.text[start:] if start else source.text)
    if "\t" in body:
        body = _TAB_AFTER_FENCE.sub(_spaces, body)
        if "|" in body:
            body = _TAB_IN_DELIMITER_ROW.sub(_spaces, body)
    return body


def as_ascii(text: str) -> str:
    """``text`` with one ASCII character for each character."""
    if text.isascii():
        return text
    ascii_text = text.encode("ascii", "replace").decode("ascii")
    if ascii_text.count("<?") == text.count("<?") and ascii_text.count("?>") == text.count("?>"):
        return ascii_text
    # A replaced character beside "<" or ">" would open or close a processing instruction.
    return re.sub(r"[^\x00-\x7f]", "x", text)


def _spaces(match: re.Match[str]) -> str:
    return match.group().translate(_TAB_TO_SPACE)
