"""Release notes, changelogs and blogs, by their paths. They mention everything; the manual explains it."""

import re
from functools import cache

from quire.index.engine.snapshot import Match, Snapshot
from quire.index.file_records import FILES, NEWS
from quire.index.news_paths import is_news
from quire.model.patterns import pattern
from quire.model.query_tree import Query, leaves

_ASKED = pattern(
    r"""\b(?:release[-_\s]?notes?|change[-_\s]?logs?|news|blogs?|announce(?:d|ments?)
      | (?:latest|last|newest|new|next|recent|current)\ (?:release|version)s?
      | what\W?s\ new|what\ (?:has\ )?changed|new\ in)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_VERSION = pattern(r"(?<![\w.])v?(\d+(?:[._]\d+)+)", re.IGNORECASE)
_SEPARATORS = pattern(r"[\W_]+")
_MOSTLY = 0.5  # a tree with a larger share of news is about news


class HeldBack:
    """The nodes that are news, for one query."""

    def __init__(self, snapshot: Snapshot, query: Query, factor: float) -> None:
        text = " ".join([leaf.text for leaf in leaves(query)])
        is_off = factor == 1 or _ASKED.search(text) is not None
        self._snapshot = snapshot
        self._versions = [_SEPARATORS.sub(" ", version) for version in _VERSION.findall(text)]
        self.path = cache(lambda number: "" if is_off else _news_path(snapshot, number))

    def has(self, match: Match) -> bool:
        """Whether a node of such a document is held back: it does not have a version of the query in its names."""
        if not self._versions:
            return True
        outline = self._snapshot.outlines(match.number)
        positions = (match.position, *outline.ancestors(match.position))
        names = [_SEPARATORS.sub(" ", self.path(match.number)), *[" ".join(outline.titles[at]) for at in positions]]
        version = rf"(?<!\w)(?<!\d )v?(?:{'|'.join(self._versions)})(?!\d)"
        return not any(re.search(version, name, re.IGNORECASE) for name in names)


def _news_path(snapshot: Snapshot, number: int) -> str:
    """The path of a document that may be held back; empty for others."""
    tree, _, path = snapshot.document_id(number).partition(":")
    path = path if is_news(path) else ""
    is_mostly_news: dict[str, bool] = snapshot.memory["news"]  # by tree
    if path and tree not in is_mostly_news:
        signs = snapshot.signs(tree)
        is_mostly_news[tree] = signs.get(NEWS, 0) > _MOSTLY * signs.get(FILES, 0)
    return path if path and not is_mostly_news[tree] else ""
