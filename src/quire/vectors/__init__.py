"""Vectors of nodes, kept beside the index for search by meaning. ``vector_files`` needs no NumPy."""
