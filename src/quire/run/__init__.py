"""Many documents on all cores. Used by cli/ and index/.

workers.py       how many processes to start, and which batches of documents they get
process_pool.py  runs a function over the batches in several processes; results in order
"""
