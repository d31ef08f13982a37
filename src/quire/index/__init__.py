"""Documents on disk to nodes in the search engine, kept up to date. Before: read/, parsing/, size/. After: search/.

In the order of an update; ``quire.indexed`` is the way in:

opening.py   the last commit, seen to be whole
goal.py      what there is against what is wanted: settings, trees; room.py which folders are no place for an index
plan.py      which files came, changed, went: the records are in files.py and tasks.py
reader.py    reads those, here or in processes; reading.py one of them
nodes.py     a parsed document to nodes (node.py), with parts.py; outline.py keeps their tree without their text
update.py    all of it in one commit
folder.py    the folder: generations, pointer, lock

find.py      a name that a user gives to a section, to the node
info.py      what an index says of itself
paths.py     names that UTF-8 cannot hold
engine/      the only package that knows the search engine, its files and their names
"""
