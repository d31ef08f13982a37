"""The user's configuration: quire.toml, pyproject.toml, the user's own file and the environment.

quire_toml  where the files are, and the structs that declare their keys
precedence  which value wins, and where each came from
"""

from quire.settings.precedence import (
    CONFIG_VARIABLE,
    DEFAULT,
    INDEX_VARIABLE,
    Settings,
    Value,
    load,
    search_settings,
    variable,
)
from quire.settings.quire_toml import (
    PROJECT_FILE,
    ContextRule,
    QuireToml,
    flat_values,
    json_schema,
    search_fields,
    toml_value,
    tree_name,
)

__all__ = [
    "CONFIG_VARIABLE",
    "DEFAULT",
    "INDEX_VARIABLE",
    "PROJECT_FILE",
    "ContextRule",
    "QuireToml",
    "Settings",
    "Value",
    "flat_values",
    "json_schema",
    "load",
    "search_fields",
    "search_settings",
    "toml_value",
    "tree_name",
    "variable",
]
