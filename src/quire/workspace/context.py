"""``quire context``: the documentation that concerns some files, found by their words and by rules in quire.toml."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from msgspec.structs import replace

from quire.errors import NotFoundError
from quire.index.engine.function_words import is_function_word
from quire.model.validation import NO_LIMIT
from quire.read.file_endings import MARKDOWN_EXTENSIONS
from quire.read.ignore_files import covers
from quire.search.hit import Hit, Results
from quire.search.token_budget import token_counter
from quire.workspace.selected_trees import locate
from quire.workspace.settings import ContextRule, Settings
from quire.workspace.workspace import Workspace

_MOST_WORDS = 20
_MOST_TEXT = 1_000_000  # how many characters of a file are read
_NAME = re.compile(r"[^\W\d]\w{2,}(?:[.-]?\w+)*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_DEFINED = re.compile(
    r"\b(?:def|class|function|func|fn|struct|interface|type|enum|const|trait|impl|module|namespace|package|resource)"
    r"\s+(?:\([^)\n]{0,200}\)\s*)?[\"']?(\w{3,})"
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
_PATH, _DEFINITION, _USE = 3.0, 2.0, 0.5
_PART = 0.5  # what a part of a name weighs, compared with the name
OnProblem = Callable[[NotFoundError], object]


class WeightedWord(NamedTuple):
    """A word of the query."""

    text: str
    weight: float  # from 0.1 to 3
    origins: tuple[str, ...]  # ``path``, ``name``, ``text`` or ``rule``


class FileContext(NamedTuple):
    """What is searched for some files."""

    files: Sequence[str]  # paths from the current folder; they need not exist
    words: Sequence[WeightedWord]
    trees: Sequence[str]  # that are searched; none means all
    sections: Sequence[str]  # that are always included

    @classmethod
    def of(cls, texts: Mapping[str, str], settings: Settings) -> Self:
        """The words of files by their paths, and what the rules for these files add."""
        best: dict[str, WeightedWord] = {}  # a word counts most where it weighs most
        used: list[ContextRule] = []
        for name, text in texts.items():
            scope = locate(name, {"": settings.folder})  # patterns are relative to the project
            rules = [rule for rule in settings.context if scope and covers(scope.path, rule.files)]
            used += rules
            for word in _file_words(name, text, [word for rule in rules for word in rule.words]):
                key = word.text.lower()
                best[key] = max(best.get(key, word), word, key=lambda word: word.weight)
        words = sorted(best.values(), key=lambda word: (-word.weight, word.text))[:_MOST_WORDS]
        trees = dict.fromkeys(tree for rule in used for tree in rule.trees)
        sections = dict.fromkeys(section for rule in used for section in rule.sections)
        return cls(tuple(texts), words, tuple(trees), tuple(sections))

    def search(
        self, workspace: Workspace, *, limit: int, max_tokens: int, on_problem: OnProblem = lambda _: None
    ) -> Results:
        """The sections of the rules, then the best others; ``on_problem`` gets errors about the former."""
        left = max_tokens or NO_LIMIT
        hits: list[Hit] = []
        for name in self.sections:
            try:
                hit = workspace.get(name, max_tokens=max(left, 1))
            except NotFoundError as error:
                on_problem(error)
                continue
            if hit.text:
                hits.append(replace(hit, score=1.0))
                left -= hit.tokens + token_counter()(hit.breadcrumb_line)
            else:
                on_problem(NotFoundError(f"{name}: does not fit"))
        if not self.words or left <= 0:
            return Results(hits)
        query = " OR ".join(f'"{word.text}"^{word.weight}' for word in self.words)  # quotes: no word is corrected
        path = [f"{tree}:/" for tree in self.trees]
        scopes = [scope for file in self.files if (scope := locate(file, workspace.folders))]
        records = workspace.documents() if scopes else ()
        own = [record.id for record in records if any(scope.has(record) for scope in scopes)]
        results = workspace.search(query, limit=limit, max_tokens=left, path=path, without=own)
        taken = {hit.id for hit in hits}
        return Results([*hits, *(hit for hit in results if hit.id not in taken)])


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


def _file_words(path: str, text: str, rules: Iterable[str]) -> list[WeightedWord]:
    """The distinctive words of a file, the heaviest first; ``rules`` are words that the user has set for it."""
    weights: Counter[str] = Counter()
    origins: dict[str, dict[str, None]] = {}
    spellings: dict[str, str] = {}
    for word, weight, origin in _weighted(path, text[:_MOST_TEXT], rules):
        key = word.lower()
        weights[key] += weight  # type: ignore[assignment]
        spellings.setdefault(key, word)
        origins.setdefault(key, {})[origin] = None
    best = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_MOST_WORDS]
    return [
        WeightedWord(spellings[key], max(round(_HEAVIEST * weight / best[0][1], 1), 0.1), tuple(origins[key]))
        for key, weight in best
    ]


def _weighted(path: str, text: str, rules: Iterable[str]) -> Iterator[tuple[str, float, str]]:
    for word in rules:
        yield word.replace('"', " "), 2 * _PATH, "rule"
    *folders, file = path.split("/")
    levels = enumerate([file.partition(".")[0], *reversed(folders)], start=1)
    names = [(name, _PATH / level, "path") for level, name in levels]
    is_markdown = file.lower().endswith(tuple(MARKDOWN_EXTENSIONS))
    for name in dict.fromkeys((_HEADING if is_markdown else _DEFINED).findall(text)):
        names += [(part, _DEFINITION, "name") for part in _NAME.findall(name)]
    names += [(name, _USE * math.log1p(number), "text") for name, number in Counter(_NAME.findall(text)).items()]
    for name, weight, origin in names:
        parts = _PARTS.findall(name)
        if len(parts) > 1 and _tells(name):
            yield name, weight, origin
        yield from ((part, weight * _PART if len(parts) > 1 else weight, origin) for part in filter(_tells, parts))


def _tells(word: str) -> bool:
    is_common = word.isdigit() or word.lower() in _COMMON
    return len(word) > 2 and not is_common and not is_function_word(word, ("english",))
