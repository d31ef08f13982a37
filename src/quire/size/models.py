"""The encodings of OpenAI's models, by name. Pure. Neighbour: resolve.py."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MODELS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("gpt-5", "gpt-5.1", "gpt-4.5", "gpt-4.1", "gpt-4o", "chatgpt-4o", "o1", "o3", "o4-mini"), "o200k_base"
        ),
        **dict.fromkeys(
            (
                "gpt-4",
                "gpt-3.5-turbo",
                "text-embedding-3-small",
                "text-embedding-3-large",
                "text-embedding-ada-002",
            ),
            "cl100k_base",
        ),
    }
)
"""The encoding of each model. Variants add a dash and more: ``gpt-4o-mini``, ``gpt-4-0613``."""


def encoding_of(model: str) -> str | None:
    """The encoding of a model or a variant of it; None if the model is unknown."""
    return next((encoding for name, encoding in MODELS.items() if f"{model}-".startswith(f"{name}-")), None)
