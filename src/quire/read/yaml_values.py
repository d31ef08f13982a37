"""YAML of any kind and from anyone to plain values. Called by ``frontmatter`` for what ``plain_yaml`` cannot read.

PyYAML's safe loader runs no code, but it does trust its input in other ways: deep nesting overflows the C stack
and ends the process, aliases can stand for more values than fit in memory, and a date that does not exist is a
bare ``ValueError``. Here each of these is a ``BadYamlError`` with a position, or text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import yaml

MAX_DEPTH = 50
"""How deep values may be nested; libyaml's stack gives out at some 20,000."""
MAX_SIZE = 1_000_000
"""How many values and characters aliases may add up to, beyond those that are written out."""

# With fewer brackets and less indentation (two levels a column at most) no value is nested deeper than MAX_DEPTH.
_FEW_BRACKETS = 24
_INDENTED = re.compile("(?:^|[\r\n\x85\u2028\u2029])[ ?:-]{12}")
_MAX_NUMBER = 400  # characters; longer digit strings take quadratic time to convert
_TAG = "tag:yaml.org,2002:"


class BadYamlError(Exception):
    """What is wrong, and how many characters into the text."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.offset = offset
        """The character at which it was noticed."""


def load(block: str) -> Any:
    """The one value in ``block``, or BadYamlError."""
    try:
        return _load(block)
    except yaml.reader.ReaderError as error:
        raise BadYamlError(error.reason, _character(block, error)) from error
    except yaml.MarkedYAMLError as error:
        raise BadYamlError(_problem(error), _offset(block, error)) from error
    except UnicodeEncodeError as error:
        raise BadYamlError("a lone surrogate is not text", error.start) from error
    except RecursionError as error:
        raise BadYamlError(f"values are nested deeper than {MAX_DEPTH} levels", 0) from error
    except yaml.YAMLError as error:
        raise BadYamlError(str(error), 0) from error


def _load(block: str) -> Any:
    if block.count("[") + block.count("{") > _FEW_BRACKETS or _INDENTED.search(block):
        _check_depth(block)
    loader = _loader_class()(block)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if "*" in block:
            _check_aliases(node, len(block))
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _check_depth(block: str) -> None:
    """Refuse deep nesting by the parser's events, which unlike its nodes are not built by recursion."""
    depth = 0
    for event in yaml.parse(block, Loader=_loader_class()):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise BadYamlError(f"values are nested deeper than {MAX_DEPTH} levels", _index(event.start_mark))
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check_aliases(root: yaml.Node, written: int) -> None:
    """Refuse aliases to themselves, and those that add up to too much, before any value is made of them."""
    known: dict[int, tuple[int, int]] = {}

    def measure(node: yaml.Node) -> tuple[int, int]:
        """How many values and characters ``node`` stands for, and how deep they are nested."""
        if id(node) in known:
            return known[id(node)]
        known[id(node)] = (0, MAX_DEPTH + 1)  # met again before it is measured: it holds itself
        sizes = [measure(child) for child in _children(node)]
        size = len(node.value) + 1 + sum(size for size, _ in sizes)
        depth = 1 + max((depth for _, depth in sizes), default=0)
        if size > MAX_SIZE + 2 * written or depth > MAX_DEPTH + 1:
            raise BadYamlError("its aliases hold themselves or stand for too many values", _index(node.start_mark))
        known[id(node)] = (size, depth)
        return known[id(node)]

    measure(root)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


@cache
def _loader_class() -> Any:
    """The fastest safe loader there is; a number or date that cannot be one is text to it."""

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def lenient(convert: Any) -> Any:
        def construct(loader: Any, node: Any) -> Any:
            if len(node.value) > _MAX_NUMBER:
                return node.value
            try:
                return convert(loader, node)
            except (ArithmeticError, AttributeError, LookupError, ValueError):
                return node.value

        return construct

    for kind in ("bool", "int", "float", "timestamp"):
        Loader.add_constructor(_TAG + kind, lenient(yaml.SafeLoader.yaml_constructors[_TAG + kind]))
    Loader.add_constructor(_TAG + "value", yaml.SafeLoader.construct_yaml_str)  # a bare "="
    return Loader


def _problem(error: yaml.MarkedYAMLError) -> str:
    return ", ".join(part for part in (error.context, error.problem) if part)


def _offset(block: str, error: yaml.MarkedYAMLError) -> int:
    """Where it failed; where the value began if that is where the text ended."""
    marks = [_index(mark) for mark in (error.problem_mark, error.context_mark) if mark]
    return next((index for index in marks if index < len(block)), max(len(block) - 1, 0))


def _index(mark: Any) -> int:
    return int(mark.index)


def _character(block: str, error: yaml.reader.ReaderError) -> int:
    """Position in characters: libyaml counts bytes where PyYAML's own reader counts characters."""
    if not hasattr(yaml, "CSafeLoader"):
        return int(error.position)
    return len(block.encode()[: error.position].decode(errors="ignore"))
