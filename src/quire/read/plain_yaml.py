"""The YAML that most front matter is written in: keys with text, numbers, lists and mappings, in block style.

Anything else is left to PyYAML, which takes several times as long, and longer still to import.
"""

import binascii
import math
from typing import Any

from quire.patterns import pattern

# Text without quotes up to the end of its line; ": " and " #" would end it.
_TEXT = r"[\w/(.][^:#\n]*+(?:(?::(?=[^ \n])|(?<=[^ \n])\#)[^:#\n]*+)*+"
_WORD = r"""[\w/][\w./ -]*+|"[^"\\\n]*+"|'[^'\n]*+'"""
_LINE = rf"""({_TEXT}|"[^"\\\n]*+"|'[^'\n]*+')[ ]*+\n(?![ ])"""
_OTHER = r"([\s\S]++)"
_KEY = r"([A-Za-z_][\w./-]*+):(?=[ \n])[ ]*+"
_KEY_START = pattern(_KEY)
_ENTRY = pattern(rf"{_KEY}(?:{_LINE}(?!-[ ])|([^\n]*+\n(?:(?:[ ]|-[ ])[^\n]*+\n)*+))|\#[^\n]*+\n|\n|{_OTHER}")
_ITEM = pattern(rf"(-[ ]++)(?:{_LINE}|([^ \n][^\n]*+\n(?:[ ][^\n]*+\n)*+))|{_OTHER}")
_WORDS = pattern(rf"[ ]*+(?:({_WORD})[ ]*+(?:,|\Z)|{_OTHER})")
_SCALAR = pattern(
    rf"({_TEXT}\n(?:[ ]++{_TEXT}\n)++)|\[([^][{{}}\\\n]*+)\][ ]*+\n"
    r"|([|>])(-?+)\n([ ]++)([^ \n][^\n]*+(?:\n\5[^ \n][^\n]*+)*+)\n"
)
_VALUES = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False, "null": None}
_VALUES |= {form: value for word, value in _VALUES.items() for form in (word.capitalize(), word.upper())}
_MAX_DEPTH = 10


class _OtherYamlError(Exception):
    """The block needs a YAML parser."""


def load(block: str) -> dict[str, Any] | None:
    """The mapping in ``block``; None if it has none, or if it needs a YAML parser."""
    if not block.replace("\n", "").isprintable():
        return None
    try:
        return _mapping(block, 1)
    except _OtherYamlError:
        return None


def _mapping(block: str, depth: int) -> dict[str, Any] | None:
    """The mapping in ``block``; None if there are only comments."""
    values: dict[str, Any] = {}
    for key, line, lines, other in _ENTRY.findall(block):
        if other or key in _VALUES or depth > _MAX_DEPTH:
            raise _OtherYamlError
        if key:
            values[key] = _text_value(line) if line else _value(lines, depth)
    return values or None


def _value(lines: str, depth: int) -> Any:
    """The value of a key: what is behind it in its line, and the indented lines below."""
    if lines[0] != "\n":
        return _scalar(lines)
    below = lines.lstrip(" \n")
    if not below:
        return None
    below = _dedented(below, len(lines) - 1 - len(below))
    return _list(below, depth + 1) if below[0] == "-" else _mapping(below, depth + 1)


def _list(block: str, depth: int) -> list[Any]:
    values: list[Any] = []
    for dash, line, lines, other in _ITEM.findall(block):
        if other:
            raise _OtherYamlError
        if line:
            values.append(_text_value(line))
        elif _KEY_START.match(lines):
            values.append(_mapping(_dedented(lines, len(dash)), depth + 1))
        else:
            values.append(_scalar(lines))
    return values


def _dedented(lines: str, indent: int) -> str:
    """``lines`` without the indentation of all but the first."""
    dedented = lines.replace("\n" + " " * indent, "\n")
    if len(lines) - len(dedented) != indent * (lines.count("\n") - 1):
        raise _OtherYamlError
    return dedented


def _scalar(lines: str) -> Any:
    """The value of text over several lines, or of a list in brackets."""
    match = _SCALAR.fullmatch(lines)
    if match is None:
        raise _OtherYamlError
    text, words, style, strip, indent, below = match.groups()
    if text:
        return _text_value(" ".join([line.strip(" ") for line in text[:-1].split("\n")]))
    if style:
        return below.replace(f"\n{indent}", "\n" if style == "|" else " ") + ("" if strip else "\n")
    values = _WORDS.findall(words) if words.strip(" ") else []
    if any(other for _, other in values):
        raise _OtherYamlError
    return [_text_value(word) for word, _ in values]


def _text_value(text: str) -> Any:
    """The value of text in a line, with or without quotes."""
    first = text[0]
    if first in "\"'":
        return text[1:-1]
    text = text.rstrip(" ")
    if first not in ".0123456789":
        return _VALUES.get(text, text)
    if text.isdecimal() and text.isascii() and len(text) < 19 and (first != "0" or text == "0"):
        return int(text)
    from quire.read import yaml_values  # noqa: PLC0415  only for other numbers and dates

    return json_scalar(yaml_values.plain_value(text))


def json_scalar(value: Any) -> Any:
    """The value of JSON for a scalar of YAML or TOML."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):  # beyond 64 bits JSON libraries round, or refuse
        return value if -(2**63) <= value < 2**64 else f"{value}" if value.bit_length() < 10_000 else hex(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return binascii.b2a_base64(value, newline=False).decode("ascii") if isinstance(value, bytes) else value.isoformat()
