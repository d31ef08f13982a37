"""Vectors of nodes, kept beside the index for search by meaning. Needs NumPy, which comes with the embedders.

vector_search.py  search by meaning: the nodes nearest to a query
vector_files.py   the files: rows of numbers, and a table that says whose they are
node_vectors.py   the vectors of one model; which nodes need one; embedding them
"""
