"""Query to results: find nodes, merge them along the heading tree, fit them into a token budget, highlight matches.

In the order of a search; ``quire.indexed`` is the entry point:

argument_checks.py   checks the arguments of ``Index`` methods; ranking_settings.py has the weights
phases.py            the order of a search; query_terms.py limits the length of a query
matching_nodes.py    the nodes that match; conditions.py restricts them to some documents
second_pass.py       the best nodes are ranked again
merge.py             parent sections replace their children; not all results are from one document
token_budget.py      the text of each hit (hit.py) within ``max_tokens``
explain.py           how a score and the merging came about
match_ranges.py      where the query's words are in a hit
"""
