"""Query to results: find nodes, merge them along the heading tree, fit them into a token budget, highlight matches.

In the order of a search; ``quire.search.index_api`` is the entry point:

search_settings.py  the weights, limits and cut-offs
phases.py            the order of a search
query_terms.py       the terms of a query, with corrections; conditions.py restricts it to some documents
ranking.py           the best nodes
merge.py             parent sections replace their children; not all results are from one document
token_budget.py      the text of each hit (hit.py) within ``max_tokens``
explain.py           how a score and the merging came about
match_ranges.py      where the query's words are in a hit
"""
