"""Query -> results: find nodes, merge them along the heading tree, fit them into a budget, show where they match.

In the order of a search; ``quire.indexed`` is the way in:

asked.py       what a caller asks for, seen to be possible; settings.py how to rank and merge
phases.py      the way of a query, phase by phase; term_limit.py how long it may be
find.py        the nodes that match; places.py which documents a pattern means
counting.py    which of them count in their document, and all results in order
merge.py       the results of one document: sections in the place of nodes; candidates.py has the records
answer.py      results to hits, which are in records.py
context.py     the text that is given within a budget; excerpt.py some passages of what is too long
highlight.py   where the query's words stand; words.py finds words in a text
"""
