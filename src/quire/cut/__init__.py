"""Document to chunks: one file per strategy, which ``pipeline.py`` calls by its name; docs/architecture.md has the steps."""
