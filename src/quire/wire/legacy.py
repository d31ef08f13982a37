"""Records under the names of old, turned into today's and back. Pure; ``quire migrate`` reads and writes the files.

Renames lose nothing: ``migrate(legacy(record)) == record``. What old records do not have is worked out where the
record itself says it, and guessed where it does not; ``guessed`` says which fields those are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from quire import crumbs
from quire.errors import InputError
from quire.record import Chunk, SourcePosition, TokenStats
from quire.wire.record import ABSENT
from quire.wire.schema import camel

RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "displayMarkdown": "originalText",
        "charOffsets": "sourcePosition",
        "heading": "sectionTitle",
        "headerHierarchy": "headerBreadcrumb",
        "headingTrail": "headerPath",
        "sectionId": "sectionSlug",
    }
)
"""Fields by their old names, with today's; ``tokenCount`` and ``charOffsets.sourceLength`` move as well."""

_WHOLE_LENGTH, _TOTAL = "sourceLength", "totalChars"
_COUNT, _STATS = "tokenCount", "tokenStats"


def is_legacy(record: Mapping[str, Any]) -> bool:
    """Whether a record has a name of old."""
    place = record.get("sourcePosition", record.get("charOffsets"))
    return not {*RENAMED, _COUNT}.isdisjoint(record) or (isinstance(place, Mapping) and _WHOLE_LENGTH in place)


def is_current(record: Mapping[str, Any]) -> bool:
    """Whether a record is in today's form already: no name of old, and nothing missing."""
    return not is_legacy(record) and not missing(record)


def missing(record: Mapping[str, Any]) -> list[str]:
    """The fields that today's form needs and ``record`` does not have."""
    absent = [name for name in _needed(Chunk) if name not in record]
    for inner, kind in (("sourcePosition", SourcePosition), ("tokenStats", TokenStats)):
        held = record.get(inner)
        if isinstance(held, Mapping):
            absent += [f"{inner}.{name}" for name in _needed(kind) if name not in held]
    return absent


def guessed(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields that ``migrate`` would fill with a guess, because nothing in the record says what they are."""
    path = record.get("headerPath", record.get("headingTrail"))
    unknown = () if path == [] else ("headerDepths", "headerSlugs")
    guesses = unknown if path is not None else ("headerPath", *unknown)
    return tuple(name for name in guesses if name not in record)


def migrate(record: Mapping[str, Any], title: str | None = None, *, name: str = "<record>") -> dict[str, Any]:
    """``record`` in today's form; ``title`` is its ``fileTitle`` where it has none."""
    if not isinstance(record, Mapping):
        raise InputError(name, "is not a chunk record; a record is one JSON object")
    if is_current(record):
        return dict(record)
    made = _filled(_renamed(record, name), title)
    absent = missing(made)
    if "fileTitle" in absent:
        raise InputError(name, "has no fileTitle, which names the document; give it (--title, or title= in Python)")
    if absent:
        raise InputError(name, f"is not a chunk record: has no {', '.join(absent)}; make it anew from its document")
    return made


def legacy(record: Mapping[str, Any]) -> dict[str, Any]:
    """``record`` under the names of old; what those have no name for stays as it is."""
    old_names = {new: old for old, new in RENAMED.items()}
    made = {old_names.get(key, key): value for key, value in record.items()}
    if isinstance(made.get("charOffsets"), Mapping):
        made["charOffsets"] = _swap_key(made["charOffsets"], _TOTAL, _WHOLE_LENGTH)
    stats = made.get(_STATS)
    if isinstance(stats, Mapping) and "tokens" in stats:
        made[_COUNT] = stats["tokens"]
        made[_STATS] = {key: value for key, value in stats.items() if key != "tokens"}
    return made


def _renamed(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in record.items():
        _put(made, RENAMED.get(key, key), value, name)
    place = made.get("sourcePosition")
    if isinstance(place, Mapping):
        made["sourcePosition"] = _swap_key(place, _WHOLE_LENGTH, _TOTAL)
    if _COUNT in made:
        stats = made.get(_STATS)
        counted = dict(stats) if isinstance(stats, Mapping) else {}
        _put(counted, "tokens", made.pop(_COUNT), name)
        made[_STATS] = counted
    return made


def _put(record: dict[str, Any], key: str, value: Any, name: str) -> None:
    """Set a field that may have come under its other name; both must say the same."""
    if record.setdefault(key, value) != value:
        raise InputError(name, f"field {key}: comes under its old and its new name with two values; remove one")


def _swap_key(record: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in record.items()}


def _filled(record: dict[str, Any], title: str | None) -> dict[str, Any]:
    """``record`` with what it lacks, as far as it is known or can be guessed."""
    if title is not None:
        record.setdefault("fileTitle", title)
    if "headerPath" not in record and isinstance(record.get("headerBreadcrumb"), str):
        record["headerPath"] = [part for part in record["headerBreadcrumb"].split(crumbs.SEPARATOR) if part]
    if _is_texts(record.get("headerPath")):
        _fill_headings(record, record["headerPath"])
    stats, text = record.get(_STATS), record.get("originalText")
    if isinstance(stats, dict | Mapping) and isinstance(text, str):
        record[_STATS] = {"estimatedTokens": -(-len(text) // 4), **stats}
    return record


def _fill_headings(record: dict[str, Any], path: list[str]) -> None:
    record.setdefault("headerBreadcrumb", crumbs.SEPARATOR.join(path))
    record.setdefault("sectionTitle", path[-1] if path else "")
    record.setdefault("headerDepths", [min(depth, 6) for depth in range(1, len(path) + 1)])
    if "headerSlugs" not in record:
        record["headerSlugs"] = _slugs(path, record.get("sectionSlug"))
    slugs = record["headerSlugs"]
    record.setdefault("sectionSlug", slugs[-1] if slugs else "")


def _slugs(path: list[str], own: Any) -> list[str]:
    """GitHub's anchors; the last is the section's own where the record has it."""
    from quire.parsing.slugs import github_slug  # noqa: PLC0415  loads the parser

    made = [github_slug(title) for title in path]
    return [*made[:-1], own] if made and isinstance(own, str) and own else made


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _needed(kind: Any) -> list[str]:
    return [camel(each) for each in kind.__dataclass_fields__ if each not in ABSENT[kind]]
