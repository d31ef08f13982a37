"""Vectors of nodes, kept beside the index for search by meaning. Needs NumPy, which comes with the embedders.

vector_folder.py  the files: rows of numbers, and a table that says whose they are
node_vectors.py   which nodes need a vector; embedding them
nearest_nodes.py  the nodes nearest to a query
"""
