"""What a query is worth in a node: its items, which add up to the score, and each word in each field.

For ``--explain``.
"""

from __future__ import annotations

import json
from typing import Any

import tantivy

from quire.index.engine.compile import Compiler
from quire.query.query_tree import Query


def contributions(
    compiler: Compiler, searcher: tantivy.Searcher, query: Query, key: tantivy.DocAddress
) -> list[dict[str, Any]]:
    """The worth of each word and phrase in each field that has it, the most first.

    They do not add up to the score: of a word's fields the best counts, and a part of the others; of several ways to
    read it, and of words with OR between them, likewise.
    """
    worth = [
        {"word": word, "field": name, "score": round(score, 3)}
        for word, name, part in compiler.parts(query)
        if (score := _score(searcher, part, key))
    ]
    return sorted(worth, key=lambda each: -each["score"])


def worths(
    compiler: Compiler, searcher: tantivy.Searcher, query: Query, key: tantivy.DocAddress, *, partial: bool
) -> list[dict[str, Any]]:
    """The worth of each item of the query in a node that has it.

    They add up to the node's score, as it is before it is compared with the best one's.
    """
    return [
        {"item": name, "score": round(score, 3)}
        for name, item in compiler.items(query, partial=partial)
        if (score := _score(searcher, item, key))
    ]


def _score(searcher: tantivy.Searcher, query: tantivy.Query, key: tantivy.DocAddress) -> float:
    try:
        return float(json.loads(query.explain(searcher, key).to_json())["value"])
    except ValueError:  # what does not match has no explanation
        return 0.0
