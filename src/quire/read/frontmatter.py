"""The metadata at the top of a Markdown document: YAML between ``---`` lines, or TOML between ``+++`` lines.

``---`` is also Markdown's thematic break, so a YAML block counts only if it is a mapping; see
``docs/decisions/front-matter.md``.
"""

import binascii
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from quire.model.document import BOM, OWN_METADATA, Finding, Span
from quire.model.patterns import pattern
from quire.read import yaml_values
from quire.read.yaml_values import MalformedError

MAX_METADATA = 8_000  # longer front matter, in characters, is not repeated in the records of its document
_MAX_SIZE = 1_000_000  # how many values and characters aliases may add up to, beyond those that are written out
_OPENING = pattern(r"(?:---[ \t]*(?:\r\n?|\n)(?![ \t]*(?:[\r\n]|\Z))|\+\+\+[ \t]*(?:\r\n?|\n))")
_MARKS = {"-": r"---|\.\.\.", "+": r"\+\+\+"}
_CLOSINGS = {mark: pattern(rf"[\r\n](?:{marks})[ \t]*+(?:\r\n?|\n|\Z)") for mark, marks in _MARKS.items()}
_FIRST_LINE = pattern(r"(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*([^\r\n]*)")
_KEY_LINE = pattern(r"""(?:"[^"]*"|'[^']*'|\w[\w.$/-]*(?: [\w.$/-]+){0,3})[ \t]*:(?=[ \t]|\Z)""")
_TOML_PLACE = pattern(r" \(at (?:line (\d+), column \d+|end of document)\)")
_LONG_TOML_KEY = pattern(r"""(?<![\w\\-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){32}""")
_TAG_KEYS = ("tags", "tag", "keywords")


class FrontMatter(NamedTuple):
    """The front matter of a document."""

    body_start: int  # where the body starts: after a byte order mark and well-formed front matter
    data: dict[str, Any]  # the metadata, as JSON values
    malformed_frontmatter: Span | None = None  # malformed front matter with its marks; it stays in the body
    findings: tuple[Finding, ...] = ()


def split(text: str, name: str) -> FrontMatter:
    """Take the front matter off ``text``; findings call the document ``name``."""
    start = 1 if text.startswith(BOM) else 0
    opening = _OPENING.match(text, start)
    closing = _CLOSINGS[text[start]].search(text, opening.end() - 1) if opening else None
    if opening is None or closing is None:
        return FrontMatter(start, {})
    block, end = text[opening.end() : closing.start() + 1], closing.end()
    try:
        data = _yaml(block) if text[start] == "-" else _toml(block)
    except MalformedError as error:
        message = f"The front matter cannot be read: {error}. It is treated as text; fix it to get its metadata."
        finding = Finding(code="frontmatter-malformed", path=name, line=error.line + 2, message=message)
        return FrontMatter(start, {}, malformed_frontmatter=Span(start, end), findings=(finding,))
    if data is None:
        return FrontMatter(start, {})
    # A short block makes much only of aliases.
    if (len(block) > MAX_METADATA // 10 or "*" in block) and len(str(data)) > MAX_METADATA:
        message = f"front matter of more than {MAX_METADATA:,} characters; the chunks' metadata is without it"
        finding = Finding(code="frontmatter-too-large", path=name, line=1, message=message)
        return FrontMatter(end, data, findings=(finding,))
    reserved = "front matter key {!r} is reserved by quire, so it is left out of metadata; rename it".format
    messages = [reserved(key) for key in OWN_METADATA if key in data]
    findings = [Finding(code="frontmatter-reserved", path=name, line=1, message=message) for message in messages]
    return FrontMatter(end, data, findings=tuple(findings))


def _yaml(block: str) -> dict[str, Any] | None:
    """The metadata in ``block``; None if it is text between two thematic breaks."""
    if (plain := yaml_values.load_plain(block)) is not None:
        return plain
    try:
        value = yaml_values.load(block)
    except MalformedError:
        first = _FIRST_LINE.match(block)
        if not first or not _KEY_LINE.match(first[1]):
            return None
        raise
    if value is None and not block.strip():
        return {}
    if not isinstance(value, dict) or not value:
        return None  # also comments alone: "# Title" between two thematic breaks is a heading
    return _JsonValues(block).mapping(value, 1)


def _toml(block: str) -> dict[str, Any]:
    block = block.replace("\r\n", "\n").replace("\r", "\n")
    try:
        table = load_toml(block)
    except ValueError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1] or max(block.count("\n"), 1)) - 1 if place else 0
        raise MalformedError(_TOML_PLACE.sub("", str(error)), line) from error
    return _JsonValues(block).mapping(table, 1)


def load_toml(text: str) -> dict[str, Any]:
    """The table in ``text``. ValueError has the problem, with its position as in ``tomllib``'s messages."""
    import tomllib  # noqa: PLC0415  few documents and few folders have TOML

    long_key = _LONG_TOML_KEY.search(text)
    if long_key:  # tomllib takes quadratic time for them
        line = text.count("\n", 0, long_key.start()) + 1
        raise ValueError(f"A dotted key has more than 32 parts (at line {line}, column 1)")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("Its values are nested too deep") from error


class _JsonValues:
    """Turns the values of YAML and TOML into those of JSON, and refuses aliases that stand for too many values."""

    def __init__(self, block: str) -> None:
        self._left = _MAX_SIZE + 2 * len(block)

    def mapping(self, values: dict[Any, Any], depth: int) -> dict[str, Any]:
        return {key if type(key) is str else _key(key): self.value(value, depth) for key, value in values.items()}

    def value(self, value: Any, depth: int) -> Any:
        is_text = type(value) is str
        self._left -= len(value) + 1 if is_text else 1
        if self._left < 0:
            raise MalformedError("its aliases stand for too many values", 0)
        if is_text:
            return value
        if isinstance(value, set):
            value = sorted(value, key=repr)
        if isinstance(value, list | dict):
            if depth > yaml_values.MAX_DEPTH:
                raise MalformedError(f"its values are nested deeper than {yaml_values.MAX_DEPTH} levels", 0)
            if isinstance(value, dict):
                return self.mapping(value, depth + 1)
            return [self.value(item, depth + 1) for item in value]
        return _json_scalar(value)


def _key(key: Any) -> str:
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(_json_scalar(key))


def _json_scalar(value: Any) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):  # beyond 64 bits JSON libraries round, or refuse
        return value if -(2**63) <= value < 2**64 else f"{value}" if value.bit_length() < 10_000 else hex(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return binascii.b2a_base64(value, newline=False).decode("ascii") if isinstance(value, bytes) else value.isoformat()


def tags(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The tags in front matter, a list or a text with commas, without duplicates."""
    tags: dict[str, None] = {}
    for value in map(metadata.get, _TAG_KEYS):
        values = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
        texts = [str(item) for item in values if isinstance(item, str | int | float) and not isinstance(item, bool)]
        tags |= dict.fromkeys(tag for text in texts if (tag := " ".join(text.split())))
    return tuple(tags)
