"""How well documents answer questions: ``quire eval``.

questions  questions from a file, or from the links of documents
folds      copies of documents without some of their links, indexed
outcomes   asking the questions: at which rank the right section is found
figures    MRR, recall and tokens with their intervals; whether a difference is noise
"""
