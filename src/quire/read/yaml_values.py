"""YAML from any author to Python values: ``load_plain`` without PyYAML, which takes long to import, ``load`` with it.

PyYAML's safe loader runs no code, but deep nesting overflows its C stack and ends the process, and a date that does not
exist is a bare ``ValueError``. Here nesting is limited, and such a date is text.
"""

from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from typing import Any

from quire.model.offsets import lines_at
from quire.model.patterns import pattern

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
    rf"({_TEXT}\n(?:[ ]*+{_TEXT}\n)*+)|\[([^][{{}}\\\n]*+)\][ ]*+\n"
    r"|([|>])(-?+)\n([ ]++)([^ \n][^\n]*+(?:\n\5[^ \n][^\n]*+)*+)\n"
)
_NUMERIC = pattern(r"[-+0-9a-fA-FinNtTxXzZ_.: ]*")  # all that is a number or a time, and perhaps other text
_FLOAT = pattern(r"[0-9]{1,15}\.[0-9]{1,15}")
_DATE = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:Z|[-+][0-9]{2}:[0-9]{2}))?")
_VALUES = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False, "null": None}
_VALUES |= {form: value for word, value in _VALUES.items() for form in (word.capitalize(), word.upper())}
_MAX_PLAIN_DEPTH = 10
MAX_DEPTH = 50
_MAX_NUMBER = 400  # in characters: longer digit strings take quadratic time to convert
_TAG = "tag:yaml.org,2002:"


class MalformedError(Exception):
    """Metadata that cannot be read: the problem, and its line in the block, from 0."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(" ".join(problem.split()).rstrip("."))
        self.line = line


class _OtherYamlError(Exception):
    """The block needs a YAML parser."""


def load_plain(block: str) -> dict[str, Any] | None:
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
        if key and key not in _VALUES:
            values[key] = _text_value(line) if line else _value_below(lines, depth)
        elif key or other:
            raise _OtherYamlError
    return values or None


def _value_below(lines: str, depth: int) -> Any:
    """The value of a key: what is behind it in its line, and the indented lines below."""
    if lines[0] != "\n":
        return _long_text(lines)
    below = lines.lstrip(" \n")
    if not below:
        return None
    if depth > _MAX_PLAIN_DEPTH:
        raise _OtherYamlError
    below = _dedented(below, len(lines) - 1 - len(below))
    if below[0] == "-":
        return _list(below, depth + 1)
    return _mapping(below, depth + 1) if below[0] == "#" or _KEY_START.match(below) else _long_text(below)


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
            values.append(_long_text(lines))
    return values


def _dedented(lines: str, indent: int) -> str:
    """``lines`` without the indentation of all but the first."""
    dedented = lines.replace("\n" + " " * indent, "\n")
    if len(lines) - len(dedented) != indent * (lines.count("\n") - 1):
        raise _OtherYamlError
    return dedented


def _long_text(lines: str) -> Any:
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
    if first not in ".0123456789" or not _NUMERIC.fullmatch(text):
        return _VALUES.get(text, text)
    if text.isdecimal() and len(text) < 19 and (first != "0" or text == "0"):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    date = _DATE.fullmatch(text)
    if not date:
        raise _OtherYamlError
    with suppress(ValueError):
        return datetime.fromisoformat(text).isoformat() if date[1] else text
    return text


def load(block: str) -> Any:
    """The one value in ``block``, or MalformedError. Values behind aliases are shared, not copied."""
    import yaml  # noqa: PLC0415  it takes longer to import than a document to parse

    if forbidden := yaml.reader.Reader.NON_PRINTABLE.search(block):
        line = lines_at(block, [forbidden.start()])[0] - 1
        raise MalformedError(f"the character U+{ord(forbidden[0]):04X} is not allowed", line)
    depth, loader = 0, _loader_class()(block)
    try:
        event: Any
        for event in yaml.parse(block, type(loader)):  # deep nesting would overflow the stack
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise MalformedError(f"values are nested deeper than {MAX_DEPTH} levels", event.start_mark.line)
        return loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        marks = [mark.index for mark in (error.problem_mark, error.context_mark) if mark]
        # Where the value began, if parsing failed at the end of the text.
        offset = next((index for index in marks if index < len(block)), max(len(block) - 1, 0))
        problem = "a tab where YAML takes only spaces" if block[offset : offset + 1] == "\t" else problem
        raise MalformedError(problem, lines_at(block, [offset])[0] - 1) from error
    finally:
        loader.dispose()


@cache
def _loader_class() -> Any:
    """PyYAML's safe loader, but what cannot be converted is text."""
    import yaml  # noqa: PLC0415

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def flatten_mapping(self, node: Any) -> None:
            super().flatten_mapping(node)
            node.value = [*dict.fromkeys(reversed(node.value))][::-1]  # values merged twice would multiply

    def text_if_impossible(construct: Any, loader: Any, node: Any) -> Any:
        if len(node.value) > _MAX_NUMBER and not node.tag.endswith(":binary"):
            return node.value
        try:
            return construct(loader, node)
        except (ArithmeticError, AttributeError, LookupError, ValueError, yaml.YAMLError):
            return loader.construct_scalar(node)

    constructors = dict(Loader.yaml_constructors)
    for kind in ("bool", "int", "float", "timestamp", "binary"):
        Loader.add_constructor(_TAG + kind, partial(text_if_impossible, constructors[_TAG + kind]))
    for kind, other in {"value": "str", "merge": "str", "omap": "seq", "pairs": "seq"}.items():
        Loader.add_constructor(_TAG + kind, constructors[_TAG + other])
    return Loader
