"""The index: nodes of documents in the search engine, kept up to date. ``quire.search.index_api`` is the entry point.

update_plan.py compares the request with the index, changed_files.py the files with their records (file_records.py);
read_files.py parses what changed, node.py makes nodes, and update.py writes everything in one commit; until then it is
in build_journal.py.
folder.py has the layout of the folder. section_lookup.py finds ``PATH#SLUG``. Only engine/ knows the search engine;
link_words.py has the words of links that lead to a section.
"""
