"""Text -> token count. Neighbours: ``pipeline`` resolves a counter once, ``split`` and ``finish`` count with it.

One small file a tokenizer, in the order in which ``resolve`` looks:

    resolve        a name, a file, an object, a callable -> a TokenCounter
    models         the encoding of an OpenAI model
    encodings      o200k_base and cl100k_base: a little text by ``quick``, the rest by one of ``engines``
    estimate       a quarter of the characters
    objects        a tokenizer of Hugging Face, by file or by object, and objects like it
    custom         any callable ``str -> int``
"""

from __future__ import annotations

from quire.size.resolve import NAMES, resolve

__all__ = ["NAMES", "resolve"]
