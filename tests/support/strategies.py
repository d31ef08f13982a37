"""Random options for every strategy, for the laws."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["options"]


def count_words(text: str) -> int:
    """A counter whose counts of parts do not add up at every cut."""
    return len(text.split())


_COMMON: dict[str, st.SearchStrategy[Any]] = {
    "tokenizer": st.sampled_from(["o200k_base", "cl100k_base", "estimate", count_words]),
    "content_type": st.sampled_from(["doc", "post"]),
    "breadcrumb_mode": st.sampled_from(["conditional", "always", "none"]),
    "slugs": st.sampled_from(["github", "ascii"]),
    "path": st.sampled_from([None, "a.md", "guides/é b#.md", "notes.txt"]),
    "title": st.sampled_from([None, "Title", "a", ""]),
}
_OWN: dict[str, dict[str, st.SearchStrategy[Any]]] = {"tree": {"tree": st.sampled_from([None, "docs"])}}


def options() -> st.SearchStrategy[dict[str, Any]]:
    """Keyword arguments for ``quire.chunk``: a strategy, and any of its options."""
    return st.sampled_from(sorted(_OWN)).flatmap(
        lambda name: st.fixed_dictionaries({"strategy": st.just(name)}, optional={**_COMMON, **_OWN[name]})
    )
