"""Vectors of nodes, kept beside the index for search by meaning. Needs NumPy, which comes with the embedders.

meaning.py        search by meaning in an index: its vectors and its embedder
vector_files.py   the files: rows of numbers, and a table that says whose they are
vector_folder.py  the vectors of one model, to be read and appended to
node_vectors.py   which nodes need a vector; embedding them
nearest_nodes.py  the nodes nearest to a query
"""
