"""The metadata at the top of a Markdown document. Called by ``source``; ``parsing`` starts where this ends.

YAML between ``---`` lines, or TOML between ``+++`` lines, at the very start of the text. ``---`` is also
Markdown's rule, so a YAML block counts only if it is a mapping; ``docs/decisions/front-matter.md`` says more.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from quire.model import BOM, MAX_METADATA, OWN_METADATA, Finding, Span, is_large
from quire.offsets import lines_at
from quire.read.plain_yaml import read_plain

_MAX_DEPTH = 50
_OPENING = re.compile(r"(?:---[ \t]*(?:\r\n?|\n)(?![ \t]*(?:[\r\n]|\Z))|\+\+\+[ \t]*(?:\r\n?|\n))")
_CLOSINGS = {
    fence: [(start + mark, re.compile(re.escape(start + mark) + r"[ \t]*(?=[\r\n]|\Z)"))
            for start in "\n\r" for mark in marks]
    for fence, marks in {"-": ("---", "..."), "+": ("+++",)}.items()
}  # fmt: skip
_OWN = frozenset(OWN_METADATA)
_LINE_END = re.compile(r"\r\n?|\n|")
_KEY_LINE = re.compile(r"""(?:"[^"]*"|'[^']*'|\w[\w.$/-]*(?: [\w.$/-]+){0,3})[ \t]*:(?=[ \t]|\Z)""")
_LINE = re.compile(r"[^\r\n]+")
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")


class FrontMatter(NamedTuple):
    """What stands at the top of a document."""

    body_start: int
    """Where the body starts: after a byte order mark, and after the closing line of well-formed front matter."""
    data: dict[str, Any]
    """The metadata as values that JSON knows."""
    opaque: Span | None = None
    """Broken front matter, from its opening line to the line end of its closing one; it is part of the body."""
    findings: tuple[Finding, ...] = ()
    """What is wrong with it."""


class _BrokenError(Exception):
    """Metadata that cannot be read: the problem, and its line within the block, from 0."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


class _NotMetadataError(Exception):
    """Text between two rules."""


def split(text: str, name: str) -> FrontMatter:
    """Take the front matter off ``text``; ``name`` is the document's name in findings."""
    start = 1 if text.startswith(BOM) else 0
    if not text.startswith(("---", "+++"), start):
        return FrontMatter(start, {})
    opening = _OPENING.match(text, start)
    closing = _closing(text, opening.end() - 1, text[start]) if opening else None
    if opening is None or closing is None:
        return FrontMatter(start, {})
    block = text[opening.end() : closing.start + 1]
    end = _line_end(text, closing.end)
    try:
        data = _yaml(block) if text[start] == "-" else _toml(block)
        _refuse_lost_text(data, block, text[start])
    except _NotMetadataError:
        return FrontMatter(start, {})
    except _BrokenError as broken:
        return FrontMatter(start, {}, opaque=Span(start, end), findings=(_finding(name, broken),))
    if is_large(data):
        return FrontMatter(end, data, findings=(_too_large(name),))
    has_own = not _OWN.isdisjoint(data)
    return FrontMatter(end, data, findings=tuple(_taken(name, data, block, text[start])) if has_own else ())


def _closing(text: str, start: int, fence: str) -> Span | None:
    """The first closing line, from the line end before it to its last character."""
    found: Span | None = None
    for literal, pattern in _CLOSINGS[fence]:
        stop = found.start if found else len(text)
        at = text.find(literal, start, stop)  # far quicker than the pattern where there is none
        match = pattern.search(text, at, stop) if at >= 0 else None
        if match:
            found = Span(*match.span())
    return found


def _line_end(text: str, position: int) -> int:
    match = _LINE_END.match(text, position)
    return match.end() if match else position


def _finding(name: str, broken: _BrokenError) -> Finding:
    message = f"The front matter cannot be read: {broken}. It was kept as text; correct it to have its metadata."
    return Finding(code="frontmatter-malformed", path=name, line=broken.line + 2, message=message)


def _too_large(name: str) -> Finding:
    message = f"front matter of more than {MAX_METADATA:,} characters; the chunks' metadata is without it"
    return Finding(code="frontmatter-too-large", path=name, line=1, message=message)


def _taken(name: str, data: dict[str, Any], block: str, fence: str) -> Iterator[Finding]:
    """A finding for each name that quire's own metadata has."""
    lines = block.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    top = lines if fence == "-" else list(_without_tables(lines))
    pattern = r"""["']?{}["']?[ \t]*:""" if fence == "-" else r"""[ \t]*\[{{0,2}}[ \t]*["']?{}(?![\w-])"""
    for key in filter(_OWN.__contains__, data):
        is_key = re.compile(pattern.format(key)).match
        line = next((number for number, each in enumerate(top) if is_key(each)), -1)
        message = (
            f"The front matter has {key!r}, a name that belongs to quire's own metadata. "
            "It was left out of the chunks' metadata; rename it to have it there."
        )
        yield Finding(code="frontmatter-reserved", path=name, line=line + 2, message=message)


def _without_tables(lines: Iterable[str]) -> Iterator[str]:
    """The lines of TOML, with empty ones for what stands in tables: names there are other names."""
    in_table = False
    for line in lines:
        is_table = line.lstrip().startswith("[")
        in_table = in_table or is_table
        yield line if is_table or not in_table else ""


def _yaml(block: str) -> dict[str, Any]:
    plain = read_plain(block)
    if plain is not None:
        return plain
    from quire.read import yaml_values  # noqa: PLC0415  PyYAML takes longer to import than a document to read

    try:
        value = yaml_values.load(block)
        return _mapping({} if value is None else value)
    except yaml_values.BadYamlError as error:
        if not _looks_like_metadata(block):
            raise _NotMetadataError from error
        raise _BrokenError(_sentence(str(error)), lines_at(block, [error.offset])[0] - 1) from error


def _refuse_lost_text(data: dict[str, Any], block: str, fence: str) -> None:
    """A block of nothing but comments may as well be a heading between two rules: it holds text, but no metadata."""
    if fence == "-" and not data and block.strip():
        raise _NotMetadataError


def _toml(block: str) -> dict[str, Any]:
    from quire.read import toml_values  # noqa: PLC0415  few documents have TOML

    block = block.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return _mapping(toml_values.load(block))
    except ValueError as error:
        raise _BrokenError(_sentence(_TOML_PLACE.sub("", str(error))), _toml_line(str(error), block)) from error


def _toml_line(message: str, block: str) -> int:
    place = _TOML_PLACE.search(message)
    if place is None:
        return 0
    return int(place[1]) - 1 if place[1] else max(block.count("\n") - 1, 0)


def _looks_like_metadata(block: str) -> bool:
    lines = (match[0] for match in _LINE.finditer(block))
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return _KEY_LINE.match(first) is not None


def _sentence(problem: str) -> str:
    return " ".join(problem.split()).rstrip(".")


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _NotMetadataError
    return {_key(key): _plain(each, 1) for key, each in value.items()}


def _plain(value: Any, depth: int) -> Any:
    """``value`` in the types that JSON knows."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if depth > _MAX_DEPTH:
        raise _BrokenError(f"its values are nested deeper than {_MAX_DEPTH} levels", 0)
    if isinstance(value, dict):
        return {_key(key): _plain(each, depth + 1) for key, each in value.items()}
    return [_plain(each, depth + 1) for each in _ordered(value)]


def _ordered(values: Iterable[Any]) -> Iterable[Any]:
    return sorted(values, key=repr) if isinstance(values, set) else values


def _number(value: float) -> float | str:
    if isinstance(value, int):  # beyond 64 bits JSON libraries round, or refuse
        return value if -(2**63) <= value < 2**64 else f"{value}" if value.bit_length() < 10_000 else hex(value)
    return value if math.isfinite(value) else str(value)


def _key(key: Any) -> str:
    """A mapping's key as JSON writes it."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(_plain(key, 0))
