"""The user's configuration: quire.toml, pyproject.toml, the user's own file and the environment.

quire_toml  where the files are, which keys they may have
precedence  which value wins, and where each came from
"""

from __future__ import annotations

from quire.settings.precedence import Settings, Value, load, search_settings, variable
from quire.settings.quire_toml import PROJECT_FILE, SEARCH_KEYS, ContextRule, Tree, shown, tree_name

__all__ = [
    "PROJECT_FILE",
    "SEARCH_KEYS",
    "ContextRule",
    "Settings",
    "Tree",
    "Value",
    "load",
    "search_settings",
    "shown",
    "tree_name",
    "variable",
]
