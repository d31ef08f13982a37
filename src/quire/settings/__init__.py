"""The user's configuration: quire.toml, pyproject.toml, the user's own file and the environment.

quire_toml  where the files are, and the structs that declare their keys
precedence  which value wins, and where each came from
"""
