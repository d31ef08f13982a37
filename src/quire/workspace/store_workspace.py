"""``StoreWorkspace``: the sections in a store, for commands and servers that have none of the documents at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from quire.errors import OptionError
from quire.model.trees import Tree
from quire.search.hit import Results
from quire.search.index_api import Update
from quire.stores.node_index import NodeIndex
from quire.workspace.selection import Scope
from quire.workspace.settings import Settings
from quire.workspace.workspace import Workspace


class StoreWorkspace(Workspace):
    """A store as a workspace. It is never updated from here."""

    def __init__(
        self, settings: Settings, target: str, paths: Sequence[str], on_message: Callable[[str], None]
    ) -> None:
        if paths:
            raise OptionError(f"{paths[0]}: a store is searched whole", "leave out paths, or use --path")
        self.settings, self.kind, self.is_index_named = settings, "named", True
        self.index = NodeIndex.open(target, settings=settings.search)
        self.index_folder = Path(self.index.label)  # as messages show it
        self.trees = {name: Tree(path=str(info.folder)) for name, info in self.index.trees().items()}
        self.scopes = tuple(map(Scope, self.trees))
        self.failed, self.note, self.say = (), "", on_message
        self._lock, self._checked, self._temporary = Lock(), 0.0, None
        self._tree_options = cache(settings.tree_options)

    @property
    def missing(self) -> dict[str, Path]:
        """No tree is missing: the documents need not be here."""
        return {}

    def refresh(self, on_progress: object = None) -> Update:
        """Nothing to do: each search looks for the last version of the store."""
        return Update()

    def left_out(self) -> str:
        """Unknown here."""
        return ""

    def search(
        self, query: str, *, path: Sequence[str] = (), like: str = "", text: str = "", **options: Any
    ) -> Results:
        """As in ``Workspace``; the patterns are checked for the candidates only."""
        options["path"] = [each for glob in path for each in self._patterns(glob.rstrip("/"))] or None
        if like or text:
            results = self.index.similar(like, text=text, trees=self.selected_trees, **options)
        else:
            results = self.index.search(query, trees=self.selected_trees, **options)
        results[:] = map(self._with_url, results)
        return results
