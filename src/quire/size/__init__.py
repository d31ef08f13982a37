"""Text -> token count.

resolve            what ``tokenizer=`` accepts -> a TokenCounter
encodings          o200k_base and cl100k_base: short texts by byte_pairs, the rest by one of the engines
engines            toktok-rs, tiktoken
byte_pairs         byte pair encoding in Python, for the first texts of a process
vocabulary         the token ranks and split patterns of both encodings
custom_tokenizers  Hugging Face files, tokenizer objects, functions
sizer              sizes of spans, and whether they fit the cap
"""

from __future__ import annotations

from quire.size.resolve import NAMES, resolve

__all__ = ["NAMES", "resolve"]
