"""Document to chunks: one file per strategy, which ``pipeline.py`` calls by its name. See docs/architecture.md."""
