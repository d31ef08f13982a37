"""The engine: tantivy, its files and its queries. No other package of quire knows it."""
