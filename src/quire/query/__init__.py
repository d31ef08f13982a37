"""Text -> query tree. Knows no engine: the index compiles the tree, the search walks it."""
