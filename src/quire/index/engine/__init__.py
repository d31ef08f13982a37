"""The engine: tantivy, and nobody else in quire imports it."""
