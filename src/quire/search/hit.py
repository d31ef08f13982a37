"""What a search returns: ``Hit`` and ``Results``."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from quire.model.document import Span
from quire.search.search_settings import MAX_TERMS

_MAX_KEYS = 50  # how many keys a message names

How = Literal["match", "parent", "aggregated"]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One section that matches a query, whole unless a token budget shortened it."""

    id: str  # the node's id, for ``Index.get``
    score: float  # 1 for the best node; comparable only within one search
    title: str  # its heading, or the document's title
    breadcrumb: tuple[str, ...]  # the titles from the document's to its own
    breadcrumb_line: str  # the same on one line: ``> Title › Parent › Node``
    text: str  # its heading and its own text, then what is below it, as far as the token budget allows
    tree: str  # its tree
    path: str  # the document, relative to the tree's folder
    language: str  # the language of its tree
    depth: int  # 0 for a whole document, else the heading level
    span: Span  # heading and everything below it, in characters of the source
    byte_span: Span  # the same in bytes of UTF-8
    lines: tuple[int, int]  # its first and last 1-based line
    tokens: int  # the token count of ``text``; with ``complete=False`` an upper bound
    complete: bool = True  # whether ``text`` is the whole section, with everything below it
    parts: tuple[Span, ...] = ()  # the spans of the source that ``text`` shows; one if it is complete
    pages: tuple[int, ...] = ()  # the first and last page, if a converter marked pages in the document
    cells: tuple[int, ...] = ()  # the first and last cell, from 1, if the document is a notebook
    url: str = ""  # its address on the published page, if its tree has a ``base_url``
    how: How = "match"  # whether it matched by itself, replaces matches below it, or replaces its children
    constituents: tuple[str, ...] = ()  # the ids of the nodes that matched in it, the best first; its own if it did
    explanation: Mapping[str, Any] = {}  # with ``explain=True``: how its score and its merging came about

    def __hash__(self) -> int:
        return hash((self.id, self.score, self.text))


class Results(list[Hit]):
    """The hits, the best first, with details of the search."""

    query: str = ""  # as typed
    ignored_terms: int = 0  # how many terms of the query were ignored because it has more than ``MAX_TERMS``
    corrections: Mapping[str, Sequence[str]] = MappingProxyType({})
    """Words that do not occur, with the words searched instead; ``auth*`` stands for words that start so."""
    below_cutoff: int = 0  # how many results were left out because they score much less than the best
    over_budget: int = 0  # how many results were left out because they do not fit the token budget
    unknown_words: Sequence[str] = ()  # words that do not occur, and for which nothing was searched instead
    progress: tuple[int, int] = (0, 0)  # documents in the index, and how many there will be after the first build
    unknown_keys: Sequence[str] = ()  # keys of conditions that no front matter has; then nothing is found
    known_keys: Sequence[str] = ()  # if there are unknown keys: those that documents have
    phases: Mapping[str, Any] = MappingProxyType({})  # what each phase of the search counted

    def __init__(self, hits: Iterable[Hit] = (), **details: Any) -> None:
        super().__init__(hits)
        vars(self).update(details)

    def notes(self) -> list[str]:
        """What to tell the user about words and keys that do not occur, and about terms that were ignored."""
        keys = ", ".join(self.known_keys[:_MAX_KEYS]) or "none"
        done, expected = self.progress
        notes = [f"{done:,} of {expected:,} documents indexed so far"] if done < expected else []
        notes += [f'no front matter has the key "{key}"; there are: {keys}' for key in self.unknown_keys]
        if self.ignored_terms:
            notes.append(f"only {MAX_TERMS} terms of the query were searched; {self.ignored_terms:,} were ignored")
        for word, instead in self.corrections.items():
            words = " or ".join(f'"{other}"' for other in instead)
            notes.append(f'no match for "{word}"; showing results for {words}')
        return notes + [f'no match for "{word}"' for word in self.unknown_words if self]
