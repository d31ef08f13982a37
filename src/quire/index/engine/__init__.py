"""The engine: tantivy, its files and its queries. Nobody else in quire knows it.

In the order of an update:

fields.py          nodes to fields; spelling.py spells what the engine would tear apart
schema.py          the engine's schema; analysis.py cuts text into terms
writer.py          changes the index, in one commit
damage.py          whether its files are what was written

In the order of a search:

store.py           a commit, to be read; links.py opens it where nothing may be written
words.py           how a word may be spelled
dictionary.py      which words there are; near.py what one may have been meant for
function_words.py  words that may be missing; known.py all that is known of words
compile.py         a query tree to the engine's queries, of the clauses in clauses.py
own.py             what share of a query a node itself satisfies
explain.py         what a query is worth in a node

trouble.py         what the engine says when files are not what they should be, as errors
"""
