"""The plain part of YAML that nearly all front matter keeps to. Called by ``frontmatter`` before PyYAML.

PyYAML needs some 80 µs for the few lines at the top of a page, a quarter of what parsing the whole page costs.
Most pages use so little of the language that one regular expression reads it:

- ``key: value`` at the left margin, blank lines, and comments on lines of their own;
- values on one line: plain text that starts with a letter, ``/``, ``(`` or beyond ASCII; whole numbers;
  quoted text without escapes; ``[flow, lists]`` of plain words;
- ``key:`` alone, or above a list of plain items, or above an indented mapping of the same kind;
- the block scalars ``|``, ``|-``, ``>`` and ``>-`` in their simplest form.

Everything else is not for this module: it answers None and PyYAML decides. So the subset may be narrow, but
what it does answer is exactly what PyYAML answers; the tests compare the two.
"""

from __future__ import annotations

import re
from typing import Any

# Words that YAML 1.1 reads as something else than text. The others of that sort start with a digit, sign or dot.
_WORDS: dict[str, bool | None] = {
    form: value
    for words, value in (("yes true on", True), ("no false off", False), ("null", None))
    for word in words.split()
    for form in (word, word.capitalize(), word.upper())
}
_MAX_DEPTH = 8

# Tabs, control characters, surrogates, byte order marks, and line ends that only YAML knows.
_FOREIGN = re.compile("[^\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")

# A colon before a blank would start a mapping, a hash after a blank a comment.
_REST = r"[^:#\n]*(?:(?::(?=[^ \n])|(?<=[^ ])\#)[^:#\n]*)*"
_TEXT = rf"[A-Za-z/(\xa0-\U0010ffff]{_REST}"
_WORD = r"[A-Za-z/][A-Za-z0-9_/.-]*(?:[ ]+[A-Za-z0-9_/.-]*[A-Za-z0-9_/.])*"

_ENTRY = re.compile(
    rf"""
    (?P<key>[A-Za-z_][A-Za-z0-9_-]{{0,99}}):(?:
        (?:[ ]+|[ ]*\n[ ]+)(?P<text>{_TEXT}(?:\n[ ]+[^ :#\n]{_REST})*)\n
      | [ ]+(?:
            (?P<number>0|[1-9][0-9]{{0,17}})[ ]*
          | (?P<quoted>"[^"\\\n]*"|'[^'\n]*')[ ]*
          | \[[ ]*(?P<flow>{_WORD}(?:,[ ]*{_WORD})*)[ ]*\][ ]*
          | (?P<style>[|>]-?)[ ]*\n (?P<block>(?P<margin>[ ]+)[^ \n][^\n]*(?:\n+(?P=margin)[ ]*[^ \n][^\n]*)*)
        )\n
      | [ ]*\n(?:
            (?P<list>(?P<dash>[ ]*-[ ]+){_TEXT}\n(?:(?P=dash){_TEXT}\n)*)
          | (?P<mapping>(?P<indent>[ ]+)[A-Za-z_][^\n]*\n(?:(?P=indent)[^\n]*\n)*)
        )?
    )
    | \n
    | \#[^\n]*\n
    """,
    re.VERBOSE,
)


def read_plain(block: str) -> dict[str, Any] | None:
    """The mapping in ``block``, or None if it is not in the subset. Every line ends with a line end."""
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    return None if _FOREIGN.search(block) else _mapping(block, 0)


def _mapping(block: str, depth: int) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    end = 0
    for match in _ENTRY.finditer(block):
        if match.start() != end:
            return None
        end = match.end()
        key = match["key"]
        if key is None:
            continue
        kind = match.lastgroup
        if kind == "text":
            value: Any = match["text"].rstrip(" ")
            value = _folded(value) if "\n" in value else _WORDS.get(value, value)
        elif kind == "list":
            dash = match["dash"]
            value = [_word(item) for item in match["list"][len(dash) : -1].split("\n" + dash)]
        else:
            value = _rare(match, depth)
            if value is None and kind != "key":
                return None
        if key in _WORDS:
            return None
        found[key] = value
    return found if end == len(block) else None


def _rare(match: re.Match[str], depth: int) -> Any:
    """The value of an entry that is neither text nor a list of text."""
    kind = match.lastgroup
    if kind == "number":
        return int(match["number"])
    if kind == "quoted":
        return match["quoted"][1:-1]
    if kind == "flow":
        return [_word(item.strip(" ")) for item in match["flow"].split(",")]
    if kind == "block":
        return _block_scalar(match["style"], match["margin"], match["block"])
    if kind == "mapping" and depth < _MAX_DEPTH:
        indent = match["indent"]
        return _mapping(match["mapping"][len(indent) :].replace("\n" + indent, "\n"), depth + 1)
    return None


def _folded(text: str) -> str:
    return " ".join([line.strip(" ") for line in text.split("\n")])


def _word(text: str) -> str | bool | None:
    text = text.rstrip(" ")
    return _WORDS.get(text, text)


def _block_scalar(style: str, margin: str, block: str) -> str | None:
    lines = block[len(margin) :].replace("\n" + margin, "\n")
    if style[0] == ">":
        if "\n\n" in lines or "\n " in lines:  # blank and deeper lines are not folded
            return None
        lines = lines.replace("\n", " ")
    return lines if style[-1] == "-" else lines + "\n"
