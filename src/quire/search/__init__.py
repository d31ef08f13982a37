"""Query to results: find nodes, merge them along the heading tree, fit them into a token budget, highlight matches."""
