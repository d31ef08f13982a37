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
_CAPS = st.sampled_from([32, 33, 40, 64, 128, 512, 1024])
_SMALL = st.sampled_from([0, 1, 8, 16])
_OWN: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "tree": {"tree": st.sampled_from([None, "docs"])},
    "sections": {"max_tokens": _CAPS, "min_tokens": _SMALL, "max_depth": st.integers(1, 6)},
    "packed": {
        "hard_cap": _CAPS,
        "target": st.sampled_from([1, 16, 32]),
        "min_tokens": _SMALL,
        "join_tokens": st.sampled_from([1, 8, 32]),
        "merge_siblings": st.booleans(),
    },
    "flow": {
        "max_tokens": _CAPS,
        "target_tokens": st.sampled_from([1, 16, 32]),
        "min_tokens": _SMALL,
        "overlap_sentences": st.integers(0, 3),
        "normalize": st.booleans(),
        "guard": st.sampled_from(["warn", "drop"]),
        "overlap": st.sampled_from(["prose", "always"]),
    },
}


def options() -> st.SearchStrategy[dict[str, Any]]:
    """Keyword arguments for ``quire.chunk``: a strategy, and any of its options."""
    return st.sampled_from(sorted(_OWN)).flatmap(
        lambda name: st.fixed_dictionaries({"strategy": st.just(name)}, optional={**_COMMON, **_OWN[name]})
    )
