"""The engine's schema. Before: ``fields`` says what there is, ``analysis`` cuts it. After: ``writer``, ``store``."""

from __future__ import annotations

import tantivy

from quire.index.engine import analysis
from quire.index.engine.fields import BLOB, DOC, FLAGS, ID, NODE, NUMBER, POSITION, RECORD, TEXT, TREE, field

VERSION = 5
"""Changes with everything that makes an index of another version unreadable or its scores different."""


def build(languages: tuple[str, ...]) -> tantivy.Schema:
    """The schema of an index whose trees are in these languages."""
    builder = tantivy.SchemaBuilder()
    for name in (ID, DOC, TREE, FLAGS, RECORD):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(NUMBER, fast=True)
    builder.add_unsigned_field(POSITION, indexed=True, fast=True)
    builder.add_bytes_field(NODE, stored=True)
    builder.add_bytes_field(BLOB, stored=True)
    for language in languages:
        for name in TEXT:
            builder.add_text_field(field(name, language), tokenizer_name=analysis.name(language))
    return builder.build()


def register(index: tantivy.Index, languages: tuple[str, ...]) -> None:
    """Make the analysers known to an index that was just made or opened: the engine does not keep them."""
    for language in languages:
        index.register_tokenizer(analysis.name(language), analysis.analyser(language))
