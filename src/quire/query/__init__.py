"""Text -> query tree. Knows no engine: the index compiles the tree, the search walks it."""

from quire.query.parse import parse
from quire.query.show import show
from quire.query.tree import leaves

__all__ = ["leaves", "parse", "show"]
