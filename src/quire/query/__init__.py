"""Query text to a query tree. The index compiles the tree; nothing here knows the search engine."""

from quire.query.parse import parse, show
from quire.query.query_tree import leaves

__all__ = ["leaves", "parse", "show"]
