"""The encoding of each OpenAI model."""

from collections.abc import Mapping

ENCODINGS: Mapping[str, tuple[str, ...]] = {
    "o200k_base": ("gpt-5", "gpt-5.1", "gpt-4.5", "gpt-4.1", "gpt-4o", "chatgpt-4o", "o1", "o3", "o4-mini"),
    "cl100k_base": ("gpt-4", "gpt-3.5-turbo", "text-embedding-3", "text-embedding-ada-002"),
}
"""OpenAI's encodings with their models. Variants of a model add a dash and more: ``gpt-4o-mini``."""


def encoding_of(model: str) -> str | None:
    """The encoding of an OpenAI model; None if the model is unknown."""
    for encoding, names in ENCODINGS.items():
        if f"{model}-".startswith(tuple(f"{name}-" for name in names)):
            return encoding
    return None
