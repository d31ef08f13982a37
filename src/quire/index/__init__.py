"""The index: nodes of documents in the search engine, kept up to date. ``quire.indexed`` is the entry point.

In the order of an update:

update_plan.py     the requested trees and settings compared with the index
stale_files.py     which files are new, changed or removed
read_files.py      reads and parses these files, in several processes if that pays off
build_nodes.py     a parsed document to nodes (node.py)
update.py          everything in one commit
folder.py          the layout of the folder, and which folders cannot hold an index; folder_writer.py changes it

file_records.py    what is stored about files and trees
section_lookup.py  ``PATH#SLUG`` or ``PATH:LINE`` to a node
engine/            the only package that knows the search engine and its files
"""
