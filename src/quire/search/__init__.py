"""Query to results: find nodes, merge them along the heading tree, fit them into a token budget, highlight matches.

``index_api`` is the entry point, ``phases`` the order of a search.
"""
