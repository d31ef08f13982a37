"""The documents that a command or a server works on: settings, trees, the index, and bringing it up to date.

settings   quire.toml, environment and defaults; the repositories that the user agreed to fetch
workspace  ``Workspace``: updates, searches within what was named; ``StoreWorkspace``: the sections in a store
selection  which trees, which index and which documents paths stand for; indexes in the user's cache folder
context    the documentation that concerns some files
git_trees  fetching the trees of git repositories
"""
