"""The documentation that concerns some files: their words make one query, and rules in quire.toml add to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from quire.context_words import WeightedWord, context_words, merged_words, query_of
from quire.errors import NotFoundError
from quire.index.file_records import TOKENIZER
from quire.read.ignore import covers
from quire.search.hit import Hit, Results
from quire.settings.precedence import Settings
from quire.settings.quire_toml import ContextRule
from quire.validation import NO_LIMIT
from quire.workspace.tree_paths import Scope, locate
from quire.workspace.workspace import Workspace


class FileContext(NamedTuple):
    """What is searched for some files."""

    files: Sequence[str]
    """Paths from the current folder; they need not exist."""
    words: Sequence[WeightedWord]
    trees: Sequence[str]
    """The trees that are searched; none means all."""
    sections: Sequence[str]
    """Sections that are always included."""

    @classmethod
    def of(cls, texts: Mapping[str, str], settings: Settings) -> FileContext:
        """The words of files by their paths, and what the rules for these files add."""
        rules = {name: _rules(name, settings) for name in texts}
        words = merged_words(
            context_words(name, text, [word for rule in rules[name] for word in rule.words])
            for name, text in texts.items()
        )
        every = [rule for each in rules.values() for rule in each]
        trees = dict.fromkeys(tree for rule in every for tree in rule.trees)
        sections = dict.fromkeys(section for rule in every for section in rule.sections)
        return cls(tuple(texts), words, tuple(trees), tuple(sections))

    def search(
        self,
        workspace: Workspace,
        *,
        limit: int,
        max_tokens: int,
        on_problem: Callable[[NotFoundError], None] = lambda _: None,
    ) -> Results:
        """The sections of the rules, then the best others; ``on_problem`` gets errors about the former."""
        most = max_tokens or NO_LIMIT
        hits: list[Hit] = []
        for name in self.sections:
            try:
                hit = workspace.get(name, max_tokens=max(most - sum(map(budget_tokens, hits)), 1))
            except NotFoundError as error:
                on_problem(error)
                continue
            if hit.text:
                hits.append(replace(hit, score=1.0))
            else:
                on_problem(NotFoundError(f"{name}: does not fit"))
        left = most - sum(map(budget_tokens, hits))
        if not self.words or left <= 0:
            return Results(hits)
        path = self._other_documents(workspace) or [f"{tree}:/" for tree in self.trees]
        results = workspace.search(query_of(self.words), limit=limit, max_tokens=left, path=path)
        taken = {hit.id for hit in hits}
        return Results([*hits, *(hit for hit in results if hit.id not in taken)])

    def _other_documents(self, workspace: Workspace) -> list[str]:
        """Patterns for the documents of the trees that are not ``files``; none if no file is a document."""
        scopes = [scope for scope in map(workspace.locate, self.files) if scope]
        if not scopes:
            return []
        return [
            Scope(record.tree, record.path).pattern
            for record in workspace.documents()
            if record.tree in (self.trees or workspace.trees)
            and not any(scope.has(record.tree, record.path) for scope in scopes)
        ]


def budget_tokens(hit: Hit) -> int:
    """The tokens of a hit that a budget counts: those of its text and its breadcrumb."""
    from quire.size import resolve  # noqa: PLC0415  a search without a budget loads no tokenizer

    return hit.tokens + resolve(None, TOKENIZER).count(hit.breadcrumb_line)


def _rules(name: str, settings: Settings) -> list[ContextRule]:
    """The rules for a file, whose path is relative to the current folder; patterns are relative to the project."""
    scope = locate(name, {"": settings.folder})
    return [rule for rule in settings.context if scope and covers(scope.path, rule.files)]
