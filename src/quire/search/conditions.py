"""Conditions on the documents of a search: ``status=draft``, ``date>2025``, ``path:release-notes/**``.

A key is one of the front matter, ``path`` or ``tree``. A list satisfies a condition if one of its values does.
"""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

import msgspec

from quire.errors import OptionError
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import FileRecord, FrontMatter
from quire.model.patterns import pattern
from quire.model.trees import Text
from quire.model.validation import check
from quire.read.ignore_files import covers

_CONDITION = pattern(r"\s*([^:=<>]*[^:=<>\s])\s*(?:[:=]|(?=[<>]))(.*\S)", re.DOTALL)
_RANGE = pattern(r"\s*([<>]=?)?\s*(.*)", re.DOTALL)
_RANGES = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_DATE = pattern(r"\d{4}-\d\d")
_Texts = Annotated[Text | list[Text], msgspec.Meta(extra={"rule": "a text that is not empty, or a list of them"})]
PATH, TREE = "path", "tree"  # the keys that are no front matter


def matches_path(tree: str, path: str, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns matches a document."""
    return covers(path, (pattern.removeprefix(f"{tree}:") for pattern in patterns))


def literal_pattern(path: str) -> str:
    """The pattern for exactly this file or folder."""
    return "/" + re.sub(r"[*?\[\\]", r"\\\g<0>", path.lstrip("/"))


class Condition(msgspec.Struct, frozen=True):
    """What a document must have."""

    key: str
    value: str
    sign: str = ""  # one of ``_RANGES``; empty: equal
    prefix: bool = False  # the value is only the beginning of one

    def holds(self, record: FileRecord, values: FrontMatter) -> bool:
        """Whether a document with these values of front matter satisfies it."""
        if self.key == PATH:
            return matches_path(record.tree, record.path, [self.value])
        if self.key == TREE:
            return record.tree == self.value
        return any(map(self._accepts, values.get(self.key, ())))

    def _accepts(self, value: str) -> bool:
        wanted = " ".join(self.value.casefold().split())
        if self.prefix:
            return value.startswith(wanted)
        compare = _RANGES.get(self.sign, operator.eq)
        with suppress(ValueError):
            return bool(compare(float(value), float(wanted))) or (value == wanted and not self.sign)
        if self.sign:  # dates and other texts; a date is not compared with *unknown*
            return value[:1].isdigit() == wanted[:1].isdigit() and bool(compare(value, wanted))
        is_within = _DATE.match(value) and value.startswith((f"{wanted}-", f"{wanted}t", f"{wanted} "))
        return value == wanted or bool(is_within)


def condition(key: str, text: str, *, prefix: bool = False) -> Condition:
    """The condition on a key; ``text`` is a value, perhaps after a sign such as ``>``."""
    name = key.casefold()
    if name in (PATH, TREE):
        return Condition(name, text.strip(), "", prefix)
    sign, value = _RANGE.fullmatch(text).groups()  # type: ignore[union-attr]
    is_prefix = value.endswith("*") and not sign
    return Condition(name, value[: len(value) - is_prefix].strip(), sign or "", prefix or is_prefix)


def conditions(name: str, value: Any) -> list[Condition]:
    """The conditions in a text, a list of texts, or values by key; ``name`` is what messages call them."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        pairs = [(key, wanted if isinstance(wanted, list | tuple) else [wanted]) for key, wanted in value.items()]
        return [condition(key, str(item)) for key, wanted in pairs for item in wanted]
    parsed = []
    for text in value if isinstance(value, Iterable) and not isinstance(value, str) else [value]:
        match = _CONDITION.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise OptionError(f"{name}: {text!r} is no condition", "write status=draft or date>2025", option=name)
        parsed.append(condition(match[1], match[2]))
    return parsed


class Filter(msgspec.Struct, frozen=True):
    """The documents that a search is restricted to."""

    trees: list[str] | None = None
    paths: list[str] | None = None  # patterns
    where: Sequence[Condition] = ()
    without: frozenset[str] = frozenset()  # the ids of documents that are left out

    @classmethod
    def checked(cls, trees: Any = None, path: Any = None, where: Any = None, without: Any = None) -> "Filter":
        """The documents that the arguments of a search choose."""
        left_out = frozenset(one_or_more("without", without) or ())
        return cls(one_or_more("trees", trees), one_or_more("path", path), conditions("where", where), left_out)

    def accepts(self, snapshot: Snapshot, record: FileRecord) -> bool:
        """Whether a document is searched."""
        return (
            (self.trees is None or record.tree in self.trees)
            and (self.paths is None or matches_path(record.tree, record.path, self.paths))
            and record.id not in self.without
            and all(wanted.holds(record, snapshot.front_matter[record.id]) for wanted in self.where)
        )

    def documents(self, snapshot: Snapshot) -> list[str]:
        """The ids of the documents that are searched."""
        return [record.id for record in snapshot.files.values() if self.accepts(snapshot, record)]


def one_or_more(name: str, value: Any) -> list[str] | None:
    """One or more texts, or None. An empty one is an error: it is usually an unset variable."""
    if value is None:  # as in most searches
        return None
    checked: str | list[str] = check(name, value, _Texts)
    return [checked] if isinstance(checked, str) else checked


def known_trees(option: str, wanted: Iterable[str], snapshot: Snapshot) -> None:
    """Refuse a tree that does not exist: nothing would be found."""
    trees = sorted(snapshot.settings.trees)
    for tree in wanted:
        if tree not in trees:
            advice = f"there are: {', '.join(trees) or 'none'}"
            raise OptionError(f"{option}: no tree is called {tree!r}", advice, option=option)


def weights(snapshot: Snapshot, where: Mapping[str, float]) -> Mapping[int, float]:
    """The products of the weights of documents that satisfy conditions, by the numbers of documents."""
    remembered: dict[tuple[tuple[str, float], ...], dict[int, float]] = snapshot.memory["weights"]
    key = tuple(where.items())
    if key not in remembered:
        factors: dict[int, float] = {}
        for text, weight in where.items():
            for document_id in Filter(where=conditions("search.where", text)).documents(snapshot):
                number = snapshot.files[document_id].number
                factors[number] = factors.get(number, 1.0) * weight
        remembered[key] = factors
    return remembered[key]
