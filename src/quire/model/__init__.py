"""The values that stages pass on, and what all of them share. Imports nothing but ``errors``.

document.py, record.py, query_tree.py    a parsed document; a chunk, its fields and JSON names; a query
options.py, trees.py, dialects.py        what a caller chooses; validation.py checks it and words the errors
breadcrumbs.py, substitutions.py, page_markers.py    the line above a chunk; template variables; pages
offsets.py, patterns.py, operating_system.py    characters, bytes and lines; compiled patterns; paths and files
"""
