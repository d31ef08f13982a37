"""The index: nodes of documents in the search engine, kept up to date. ``quire.search.index_api`` is the entry point.

``update_plan`` compares the request with the index, ``update`` writes what changed. Only engine/ knows the engine.
"""
