"""The text that the parser reads in place of the source: same length, same blocks, none of the parser's traps.

Before: read/. After: events.py; every position that the parser reports is then a character of the source.
The parser reports UTF-8 bytes; here every non-ASCII character becomes one ASCII character that has no meaning
in Markdown, so bytes are characters. No block of Markdown starts or ends with a non-ASCII character, so the
blocks stay the same; text is always taken from the source.
"""

from __future__ import annotations

import re

from quire.parsing import tables

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_DELIMITER = re.compile(r"[|:]|--")
_TABS_TO_SPACES = str.maketrans("\t", " ")
_FEEDS_TO_INERT = str.maketrans("\x0b\x0c", "\x7f\x7f")


def stand_in(text: str) -> str:
    """What the parser reads for some lines of Markdown; what is made of a line depends only on the next one."""
    plain = plain_lines(_as_ascii(text))
    return tables.shown(plain) if "|" in plain else plain


def _as_ascii(text: str) -> str:
    """``text`` with one ASCII character for each character, and no white space that only the parser knows."""
    ascii_text = text if text.isascii() else _encoded(text)
    if "\x0c" in ascii_text or "\x0b" in ascii_text:
        return ascii_text.translate(_FEEDS_TO_INERT)
    return ascii_text


def _encoded(text: str) -> str:
    encoded = text.encode("ascii", "replace").decode("ascii")
    if ("<?" in encoded or "?>" in encoded) and _beside_angle(text):
        # A question mark that stands for another character must not open or close a processing instruction;
        # a control character does nothing.
        return re.sub(r"[^\x00-\x7f]", "\x7f", text)
    return encoded


def _beside_angle(text: str) -> bool:
    """Whether a character that is not ASCII stands behind ``<`` or before ``>``."""
    behind = "".join([part[:1] for part in text.split("<")[1:]])
    before = "".join([part[-1:] for part in text.split(">")[:-1]])
    return not (behind.isascii() and before.isascii())


def plain_lines(text: str) -> str:
    """``text`` with line ends and tabs that the parser understands; nothing moves."""
    if "\r" in text:
        # The parser does not take a lone carriage return for a line end everywhere.
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    if "\t" in text:
        text = "\n".join([_untabbed(line) if "\t" in line else line for line in text.split("\n")])
    return text


def _untabbed(line: str) -> str:
    """``line`` with spaces for the tabs that the parser stumbles over, where a tab means what a space means.

    It misses a closing fence before a tab, hashes that close a heading beside a tab, and a delimiter row with a tab
    in it. Tabs of an indentation stay: they have a width.
    """
    if _HEADING.match(line):
        return line.translate(_TABS_TO_SPACES)
    text = line.rstrip(" \t")
    if text.endswith(("`", "~")):
        return text + line[len(text) :].translate(_TABS_TO_SPACES)
    row = len(line.rstrip("-:| \t"))
    first = _DELIMITER.search(line, row)
    return line[: first.start()] + line[first.start() :].translate(_TABS_TO_SPACES) if first else line
