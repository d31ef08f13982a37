"""The engine: tantivy, its files and its queries. No other package of quire knows it.

index_schema.py    the fields, and nodes to fields
normalization.py   text before it is split into words; analysis.py splits it into terms
writer.py          writes, in one commit
snapshot.py        reads a commit
damage.py          checks files for damage, and translates errors of the engine

compile.py         a query tree to engine queries, from the clauses in clauses.py
corrections.py     typing errors and prefixes, by the words of the index
function_words.py  words that may be missing from a match
coverage.py        the share of a query that a node itself satisfies
"""
