"""The documents that a command or a server works on: settings, trees, the index, and bringing it up to date.

workspace  ``Workspace``: updates, searches within what was named
selection  which trees and which index
tree_paths paths of the user <-> documents of trees
context    the documentation that concerns some files
git_trees  fetching the trees of git repositories
cache      indexes of folders without a quire.toml, in the user's cache folder
"""

from quire.workspace.tree_paths import display_path
from quire.workspace.workspace import Workspace

__all__ = ["Workspace", "display_path"]
