"""quire inside other frameworks: one module per framework. Nothing else in quire imports them.

langchain.py    a text splitter and document transformer, a loader, a retriever
llama_index.py  a node parser, a retriever
haystack.py     a splitter and a retriever component
shared.py       metadata of chunks and hits, and names of documents, as all of them use it
"""
