"""How well documents answer questions: ``quire eval``.

questions  questions from a file, or from the links or sentences of documents
outcomes   asking the questions: at which rank the right section is found
figures    MRR, recall and tokens with their intervals; whether a difference is noise
"""
