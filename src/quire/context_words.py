"""The distinctive words of a source or Markdown file: of its path, of the names it defines, and of its text.

They make one weighted query, so that a search finds the documentation that concerns the file. How rare a word is in the
documentation need not be known here: the ranking of the search takes care of it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from quire.index.engine.function_words import is_function_word
from quire.read.source import MARKDOWN_EXTENSIONS

MOST_WORDS = 20
_MOST_TEXT = 1_000_000
"""How many characters of a file are read."""
_NAME = re.compile(r"[^\W\d]\w{2,}(?:[.-]?\w+)*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_DEFINED = re.compile(
    r"\b(?:def|class|function|func|fn|struct|interface|type|enum|const|trait|impl|module|namespace|package|resource)"
    r"\s+(?:\([^)\n]*\)\s*)?[\"']?(\w{3,})"
)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+)$", re.MULTILINE)
_COMMON = frozenset(
    """abstract all and any api args array assert async await base bool boolean break case catch char class com config
    const continue core data def default delete dict dir doc docs else elif end enum error except export extends false
    file files final finally float for from func function get global http https id if impl implements import in include
    index init input int integer interface internal is item items key kwargs lambda len let lib list local main map
    match mod module name new nil none not null number object off on option options org other output override package
    param params pass path pkg print private protected pub public raise read readme result return self set shared size
    source src start static str string struct super switch temp test tests text this throw tmp todo true try tuple type
    types undefined use user util utils value values var vector void when where while width with www yield""".split()  # noqa: SIM905  shorter than a list of strings
)
"""Words of programs that tell nothing about their subject."""
_HEAVIEST = 3.0
_PATH, _DEFINITION, _USE = 3.0, 2.0, 1.0
_PART = 0.5
"""What a part of a name weighs, compared with the name."""


class WeightedWord(NamedTuple):
    """A word of the query."""

    text: str
    weight: float
    """From 0.1 to 3."""
    origins: tuple[str, ...]
    """``path``, ``name``, ``text`` or ``rule``."""


def context_words(path: str, text: str, rules: Iterable[str] = ()) -> list[WeightedWord]:
    """The distinctive words of a file, the heaviest first; ``rules`` are words that the user has set for it."""
    weights: dict[str, float] = {}
    origins: dict[str, dict[str, None]] = {}
    spellings: dict[str, str] = {}
    for word, weight, origin in _weighted(path, text[:_MOST_TEXT], rules):
        key = word.lower()
        weights[key] = weights.get(key, 0.0) + weight
        spellings.setdefault(key, word)
        origins.setdefault(key, {})[origin] = None
    best = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
    top = best[0][1] if best else 1.0
    return [
        WeightedWord(spellings[key], max(round(_HEAVIEST * weight / top, 1), 0.1), tuple(origins[key]))
        for key, weight in best
    ]


def merged_words(files: Iterable[Sequence[WeightedWord]]) -> list[WeightedWord]:
    """The words of several files as those of one: a word counts most where it weighs most."""
    best: dict[str, WeightedWord] = {}
    for word in (word for words in files for word in words):
        if word.text.lower() not in best or word.weight > best[word.text.lower()].weight:
            best[word.text.lower()] = word
    return sorted(best.values(), key=lambda word: (-word.weight, word.text))[:MOST_WORDS]


def query_of(words: Iterable[WeightedWord]) -> str:
    """One query of all words: any of them may match. Quotes keep a word from being corrected."""
    return " OR ".join(f'"{word.text}"^{word.weight}' for word in words)


def changed_files(diff: str) -> dict[str, str]:
    """The files of a git diff, each with its changed lines and the headings of its hunks."""
    files: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in diff.splitlines():
        if line.startswith(("+++ ", "--- ")):
            name = line[4:].split("\t")[0].strip('"')
            if name != "/dev/null":
                lines = files.setdefault(re.sub(r"^[abciwo]/", "", name), [])
        elif line.startswith("@@"):
            lines.append(line.rpartition("@@")[2])
        elif line.startswith(("+", "-")):
            lines.append(line[1:])
    return {name: "\n".join(lines) for name, lines in files.items()}


def _weighted(path: str, text: str, rules: Iterable[str]) -> Iterator[tuple[str, float, str]]:
    for word in rules:
        yield word.replace('"', " "), 2 * _PATH, "rule"
    *folders, file = path.split("/")
    for depth, name in enumerate([file.partition(".")[0], *reversed(folders)]):
        for word, weight in _words(name):
            yield word, weight * _PATH / (depth + 1), "path"
    is_markdown = file.lower().endswith(tuple(MARKDOWN_EXTENSIONS))
    for name in dict.fromkeys((_HEADING if is_markdown else _DEFINED).findall(text)):
        for part in _NAME.findall(name):
            for word, weight in _words(part):
                yield word, weight * _DEFINITION, "name"
    uses = Counter(_NAME.findall(text))
    for name, number in uses.items():
        for word, weight in _words(name):
            yield word, weight * _USE * math.log1p(number) / 2, "text"


def _words(name: str) -> Iterator[tuple[str, float]]:
    """A name and its parts, without words that tell nothing."""
    parts = _PARTS.findall(name)
    if len(parts) != 1 and _tells(name):
        yield name, 1.0
    for part in parts:
        if _tells(part):
            yield part, 1.0 if len(parts) == 1 else _PART


def _tells(word: str) -> bool:
    return (
        len(word) > 2
        and not word.isdigit()
        and word.lower() not in _COMMON
        and not is_function_word(word, ("english",))
    )
