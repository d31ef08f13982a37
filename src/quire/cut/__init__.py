"""Document to chunks: one file per strategy, which ``pipeline.py`` calls by its name.

tree.py, sections.py, packed.py, flow.py    the strategies: which spans become pieces
units.py                                    a document as a flat list of sections, blocks and parts of blocks
oversized_blocks.py, reopen.py              cutting a block that is too large, and what its parts need around them
levels.py, sentences.py, words.py           where a block may be cut
assemble.py, guard.py   pieces to chunks: every field, the breadcrumb, what is not worth embedding
normalize.py                                regular white space
laws.py                                     what ``verify`` checks
"""
