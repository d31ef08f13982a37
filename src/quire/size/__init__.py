"""Text -> token count.

tokenizers  what ``tokenizer=`` accepts -> a TokenCounter: names, Hugging Face files, tokenizer objects, functions
encodings   o200k_base and cl100k_base: short texts by byte_pairs, the rest by toktok-rs or tiktoken
byte_pairs  byte pair encoding in Python, for the first texts of a process; the vocabularies of both encodings
sizer       sizes of spans, and whether they fit the cap
"""

from __future__ import annotations

from quire.size.tokenizers import NAMES, resolve

__all__ = ["NAMES", "resolve"]
