"""Query -> results: find nodes, merge them along the heading tree, fit them into a budget, show where they match."""
