"""YAML from any author to Python values. Called by ``frontmatter``; importing PyYAML is slow, so only when needed.

PyYAML's safe loader runs no code, but deep nesting overflows its C stack and ends the process, and a date that does not
exist is a bare ``ValueError``. This module takes PyYAML's events and builds the values itself: nesting is limited, and
an impossible date or number is text. That takes a third of the time of PyYAML's own constructor.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.events import AliasEvent, MappingEndEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent, StreamEndEvent
from yaml.resolver import Resolver

MAX_DEPTH = 50
_MAX_NUMBER = 400
"""In characters: longer digit strings take quadratic time to convert."""
_TAG = "tag:yaml.org,2002:"
_CONVERTED = frozenset(_TAG + kind for kind in ("null", "bool", "int", "float", "timestamp", "binary"))
_TEXT = frozenset(("!", *(_TAG + kind for kind in ("str", "value", "merge"))))
_COLLECTIONS = frozenset((None, "!", *(_TAG + kind for kind in ("map", "seq", "set", "omap", "pairs"))))
_RESOLVER: Any = Resolver()
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_IS_C = _LOADER is not yaml.SafeLoader
"""libyaml counts positions in bytes, PyYAML's own reader in characters."""


class BadYamlError(Exception):
    """YAML that cannot be read."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.offset = offset
        """The character at which the problem was noticed."""


def load(block: str) -> Any:
    """The one value in ``block``, or BadYamlError. Values behind aliases are shared, not copied."""
    try:
        loader = _LOADER(block)
        try:
            return _Values(loader).document()
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        offset = len(block.encode()[: error.position].decode(errors="ignore")) if _IS_C else error.position
        raise _forbidden(block, offset) from error
    except yaml.MarkedYAMLError as error:
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        marks = [mark.index for mark in (error.problem_mark, error.context_mark) if mark]
        # Where the value began, if parsing failed at the end of the text.
        offset = next((index for index in marks if index < len(block)), max(len(block) - 1, 0))
        # libyaml has two wordings for a tab, PyYAML's own reader another.
        raise BadYamlError(
            "a tab where YAML takes only spaces" if block[offset] == "\t" else problem, offset
        ) from error
    except UnicodeEncodeError as error:
        raise _forbidden(block, error.start) from error


class _Values:
    """Builds values from the events of a loader."""

    def __init__(self, loader: Any) -> None:
        self._next = loader.get_event
        self._anchors: dict[str, Any] = {}

    def document(self) -> Any:
        self._next()  # the start of the stream
        if isinstance(self._next(), StreamEndEvent):
            return None
        value = self._value(self._next(), 0)
        self._next()  # the end of the document
        after = self._next()
        if not isinstance(after, StreamEndEvent):
            raise _bad("expected a single document in the stream", after)
        return value

    def _value(self, event: Any, depth: int) -> Any:
        kind = type(event)
        if kind is ScalarEvent:
            value = _scalar(event)
        elif kind is AliasEvent:
            if event.anchor not in self._anchors:
                raise _bad(f"found undefined alias {event.anchor!r}", event)
            return self._anchors[event.anchor]
        elif depth >= MAX_DEPTH:
            raise _bad(f"values are nested deeper than {MAX_DEPTH} levels", event)
        elif event.tag not in _COLLECTIONS:
            raise _unknown_tag(event)
        elif kind is SequenceStartEvent:
            value = []
            while type(item := self._next()) is not SequenceEndEvent:
                value.append(self._value(item, depth + 1))
        else:
            value = self._mapping(depth + 1)
            value = sorted(value, key=repr) if event.tag == f"{_TAG}set" else value
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _mapping(self, depth: int) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        while type(event := self._next()) is not MappingEndEvent:
            key = self._value(event, depth)
            if isinstance(key, list | dict):
                raise _bad("found unhashable key", event)
            value = self._value(self._next(), depth)
            if key == "<<" and type(event) is ScalarEvent and event.implicit[0]:
                for mapping in reversed(value) if isinstance(value, list) else [value]:
                    if not isinstance(mapping, dict):
                        raise _bad("expected a mapping for merging", event)
                    merged.update(mapping)
            else:
                values[key] = value
        return merged | values if merged else values


def _scalar(event: Any) -> Any:
    is_text = len(event.value) > _MAX_NUMBER or not event.implicit[0]
    if event.tag is None and not is_text:
        return plain_value(event.value)
    if event.tag is None or event.tag in _TEXT:
        return event.value
    if event.tag not in _CONVERTED:
        raise _unknown_tag(event)
    return _converted(event.tag, event.value)


@lru_cache(maxsize=4096)
def plain_value(text: str) -> Any:
    """The value of text without quotes and tag."""
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    return text if tag in _TEXT else _converted(tag, text)


def _converted(tag: str, text: str) -> Any:
    if len(text) > _MAX_NUMBER and tag != f"{_TAG}binary":
        return text
    try:
        return SafeConstructor.yaml_constructors[tag](SafeConstructor(), yaml.ScalarNode(tag, text))
    except (ArithmeticError, AttributeError, LookupError, ValueError, yaml.YAMLError):
        return text


def _forbidden(block: str, offset: int) -> BadYamlError:
    return BadYamlError(f"the character U+{ord(block[offset]):04X} is not allowed", offset)


def _bad(problem: str, event: Any) -> BadYamlError:
    return BadYamlError(problem, event.start_mark.index)


def _unknown_tag(event: Any) -> BadYamlError:
    return _bad(f"could not determine a constructor for the tag {event.tag!r}", event)
