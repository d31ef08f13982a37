"""The plain part of YAML that nearly all front matter keeps to. Called by ``frontmatter`` before PyYAML.

PyYAML needs some 50 µs for the few lines at the top of a page, a quarter of what parsing the whole page costs.
Most pages use so little of the language that one regular expression reads it:

- ``key: value`` at the left margin, blank lines, and comments on lines of their own;
- plain text, also over several lines, that cannot be taken for anything else by its start (``Guide``, ``/path``,
  ``20 minutes``); whole numbers; quoted text on one line and without escapes; ``[flow, lists]`` of plain words;
- ``key:`` alone, or above a list of plain lines, an indented mapping of the same kind, or a list of such mappings;
- the block scalars ``|``, ``|-``, ``>`` and ``>-`` in their simplest form.

Everything else is not for this module: it answers None and PyYAML decides. So the subset may be narrow, but
what it does answer is exactly what PyYAML answers; the tests compare the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# Words that YAML 1.1 reads as something else than text. The others of that sort start with a digit, sign or dot.
_WORDS: dict[str, bool | None] = {
    form: value
    for words, value in (("yes true on", True), ("no false off", False), ("null", None))
    for word in words.split()
    for form in (word, word.capitalize(), word.upper())
}
_MAX_DEPTH = 8

# A colon before a blank would start a mapping, a hash after a blank a comment.
_REST = r"[^:#\n]*+(?:(?::(?=[^ \n])|(?<=[^ ])\#)[^:#\n]*+)*+"
_TEXT = rf"(?:[A-Za-z/(\xa1-\U0010ffff]|[0-9]++(?:[ ][A-Za-z]|[A-Zac-df-wyz])){_REST}"
_WORD = r"[A-Za-z/][A-Za-z0-9_/.-]*+(?:[ ]++[A-Za-z0-9_/.-]++)*+"

# Repetition is possessive throughout: no input makes it go back, so the time is linear.
_ENTRY = re.compile(
    rf"""
    (?P<key>[A-Za-z_][A-Za-z0-9_-]{{0,99}}+):(?:
        (?:[ ]*+\n)?+[ ]++(?P<text>{_TEXT}(?:\n[ ]++[^ :#\n]{_REST})*+)\n
      | [ ]++(?:
            (?P<number>0|[1-9][0-9]{{0,17}}+)[ ]*+
          | (?P<quoted>"[^"\\\n]*+"|'[^'\n]*+')[ ]*+
          | \[[ ]*+(?P<flow>{_WORD}(?:,[ ]*+{_WORD})*+)[ ]*+\][ ]*+
          | (?P<style>[|>]-?)[ ]*+\n(?P<block>(?P<margin>[ ]++)[^\n]++(?:\n++(?P=margin)[ ]*+[^ \n][^\n]*+)*+)
        )\n
      | [ ]*+\n(?:
            (?P<list>(?P<dash>[ ]*+-[ ]++){_TEXT}\n(?:(?P=dash){_TEXT}\n)*+)
          | (?P<items>(?P<lead>[ ]*+)-[ ][A-Za-z_][^\n]*+\n(?:(?P=lead)[- ][ ][^\n]*+\n)*+)
          | (?P<mapping>(?P<indent>[ ]++)[A-Za-z_][^\n]*+\n(?:(?P=indent)[^\n]*+\n)*+)
        )?
    )
    | \n
    | \#[^\n]*+\n
    | (?P<beyond>[^\n])
    """,
    re.VERBOSE,
)


def read_plain(block: str) -> dict[str, Any] | None:
    """The mapping in ``block``, or None if it is not in the subset. Every line must end with a line end."""
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    # YAML has its own mind about tabs, controls, surrogates, byte order marks and Unicode's line ends.
    return _mapping(block, 0) if block.replace("\n", "").isprintable() else None


def _mapping(block: str, depth: int) -> dict[str, Any] | None:
    if depth > _MAX_DEPTH:
        return None
    found: dict[str, Any] = {}
    word = _WORDS.get
    for match in _ENTRY.finditer(block):
        key, text = match.group(1, 2)  # key and text, by number: twice as fast as by name
        if text is not None:
            text = text.rstrip(" ")
            found[key] = _folded(text) if "\n" in text else word(text, text)
        elif key is not None:
            read = _VALUES[match.lastgroup or ""]
            found[key] = value = read(match, depth)
            if value is None and read is not _nothing:
                return None
        elif match.lastgroup == "beyond":
            return None
    return found if _WORDS.keys().isdisjoint(found) else None


def _nothing(match: re.Match[str], depth: int) -> None:
    del match, depth


def _list(match: re.Match[str], depth: int) -> list[Any]:
    del depth
    return [_word(item) for item in match["list"][len(match["dash"]) : -1].split("\n" + match["dash"])]


def _items(match: re.Match[str], depth: int) -> list[Any] | None:
    block = _dedented(match["items"], match["lead"])
    items = [_mapping(item.replace("\n  ", "\n") + "\n", depth + 1) for item in block[2:-1].split("\n- ")]
    return items if all(items) else None  # an item may also be empty, which is no mapping


def _block_scalar(match: re.Match[str], depth: int) -> str | None:
    del depth
    style, lines = match["style"], _dedented(match["block"], match["margin"])
    if style[0] == ">":
        if "\n\n" in lines or "\n " in lines:  # blank lines and deeper ones are not folded
            return None
        lines = lines.replace("\n", " ")
    return lines if style[-1] == "-" else lines + "\n"


def _word(text: str) -> str | bool | None:
    text = text.rstrip(" ")
    return _WORDS.get(text, text)


def _folded(text: str) -> str:
    return " ".join([line.strip(" ") for line in text.split("\n")])


def _dedented(lines: str, margin: str) -> str:
    return lines[len(margin) :].replace("\n" + margin, "\n")


_VALUES: dict[str, Callable[[re.Match[str], int], Any]] = {
    "key": _nothing,
    "number": lambda match, _: int(match["number"]),
    "quoted": lambda match, _: match["quoted"][1:-1],
    "flow": lambda match, _: [_word(item.lstrip(" ")) for item in match["flow"].split(",")],
    "block": _block_scalar,
    "list": _list,
    "items": _items,
    "mapping": lambda match, depth: _mapping(_dedented(match["mapping"], match["indent"]), depth + 1),
}
"""How the value of an entry other than text is read, by the name of its group; None if it is not in the subset."""
