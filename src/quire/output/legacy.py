"""Records of the old format to the current one. Fields that the old format lacks are derived from others."""

import re
from collections.abc import Mapping
from typing import Any

from quire.errors import InputError
from quire.model import breadcrumbs
from quire.model.chunk_record import OTHER_NAMES, Chunk, renamed
from quire.model.validation import check_record
from quire.output.chunk_json import optional
from quire.parsing.slugs import github_slug
from quire.tokens.token_counters import estimated

_FIRST_NAMES = {"displayMarkdown": "originalText", "charOffsets": "sourcePosition", "headingTrail": "headerPath"}
RENAMED: Mapping[str, str] = {**_FIRST_NAMES, **OTHER_NAMES}
"""Old names to current ones; ``tokenCount`` and ``charOffsets.sourceLength`` are handled separately."""

_COUNT, _STATS = "tokenCount", "tokenStats"
_MARKS = re.compile(r"(?:^|(?<= > ))#{1,6}(?:[ \t]+|$)")
"""The marks of a heading, or of each heading in a breadcrumb. The old format keeps them and has no ``headerDepths``."""


def migrate(record: Mapping[str, Any], title: str | None = None, *, name: str = "<record>") -> dict[str, Any]:
    """``record`` in the current format; ``title`` is its ``fileTitle`` if it has none. Errors call it ``name``."""
    if not isinstance(record, Mapping):
        raise InputError(name, "is not a chunk record", "a record is one JSON object")
    record = {key: value for key, value in record.items() if key != "fileTitle" or value is not None}
    current = renamed(record, RENAMED)
    position, stats = current.get("sourcePosition"), current.get(_STATS, {})
    if isinstance(position, Mapping):
        current["sourcePosition"] = renamed(position, {"sourceLength": "totalChars"})
    if _COUNT in current and isinstance(stats, Mapping):
        current[_STATS] = {"tokens": current.pop(_COUNT), **stats}  # where quire writes it
    check_record(current, optional(Chunk), name=name)
    migrated = _filled(current, title)
    check_record({"fileTitle": "", **migrated}, Chunk, name=name)
    if "fileTitle" not in migrated:
        raise InputError(name, "has no fileTitle, which names the document", "give it (--title, or title= in Python)")
    return migrated


def _filled(record: dict[str, Any], title: str | None) -> dict[str, Any]:
    """``record`` with its missing fields derived where possible; its types are valid."""
    if title is not None:
        record.setdefault("fileTitle", title)
    if "headerPath" not in record and "headerBreadcrumb" in record:
        record["headerPath"] = [part for part in record["headerBreadcrumb"].split(breadcrumbs.SEPARATOR) if part]
    if "headerPath" in record:
        _fill_headings(record, record["headerPath"])
    stats = record.get(_STATS)
    if stats is not None and "estimatedTokens" not in stats:
        record[_STATS] = {**stats, "estimatedTokens": estimated(record.get("originalText", ""))}
    return record


def _fill_headings(record: dict[str, Any], path: list[str]) -> None:
    if "headerDepths" not in record:
        marks = [_MARKS.match(title) for title in path]
        depths = [len(mark[0].rstrip()) if mark else min(at, 6) for at, mark in enumerate(marks, start=1)]
        path = [_MARKS.sub("", title) for title in path]
        texts = {name: record[name] for name in ("sectionTitle", "headerBreadcrumb") if name in record}
        record |= {name: _MARKS.sub("", text) for name, text in texts.items()}
        record |= {"headerPath": path, "headerDepths": depths}
    record.setdefault("headerBreadcrumb", breadcrumbs.SEPARATOR.join(path))
    record.setdefault("sectionTitle", path[-1] if path else "")
    if "headerSlugs" not in record:
        slugs = [github_slug(title) for title in path]
        record["headerSlugs"] = [*slugs[:-1], record.get("sectionSlug") or slugs[-1]] if slugs else slugs
    record.setdefault("sectionSlug", record["headerSlugs"][-1] if record["headerSlugs"] else "")
