"""Text to token counts.

tokenizers.py      what ``tokenizer=`` accepts: names, Hugging Face files, tokenizer objects, functions
token_counters.py  the protocol of a counter; which encoding a model has
encodings.py       o200k_base and cl100k_base: short texts by byte_pairs.py, the rest by toktok-rs or tiktoken
sizer.py           sizes of spans of a document, and whether they fit the cap
"""
