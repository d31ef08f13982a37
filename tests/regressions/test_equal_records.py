"""Equal documents give equal records, which hash alike and survive pickling and copying."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import quire

TEXT = """\
---
title: Guide
tags: [a, b]
---
Before.

# Setup

- one
  > quoted
- two

| a | b |
|---|---|
| 1 | 2 |

## Setup

```python
x = 1
```

:::note
Text.

More.
:::

## Empty
"""
NESTED = "> - " * 3000 + "x\n"
STRATEGIES = ("packed", "flow", "sections", "tree")


@pytest.mark.parametrize("text", [TEXT, NESTED, "Title\n===\n\n$$\n# x\n$$\n", "", "\ufeff# A\r\n\r\nb\r\n"])
def test_equal_documents_are_equal(text: str) -> None:
    first, second = quire.parse(text, path="a.md"), quire.parse(text, path="a.md")
    assert first == second
    assert first.sections == second.sections
    assert first.blocks == second.blocks
    assert not any(one != other for one, other in zip(first.blocks, second.blocks, strict=True))
    assert {*first.blocks, *first.sections} == {*second.blocks, *second.sections}
    assert first != quire.parse(f"{text}\nmore\n", path="a.md")


@pytest.mark.parametrize("text", [TEXT, NESTED, "Title\n===\n\n$$\n# x\n$$\n", ""])
def test_documents_survive_pickling(text: str) -> None:
    document = quire.parse(text, path="a.md")
    blocks = document.blocks
    again = pickle.loads(pickle.dumps(document))
    assert again == document
    assert again.blocks == blocks
    assert copy.deepcopy(document) == document
    alone = pickle.loads(pickle.dumps(blocks))
    assert alone == blocks
    assert [len([*block.walk()]) for block in alone] == [len([*block.walk()]) for block in blocks]
    assert quire.chunk(again) == quire.chunk(document)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_chunks_survive_pickling(strategy: str) -> None:
    chunks = quire.chunk(TEXT, strategy, path="a.md")
    same = quire.chunk(TEXT, strategy, path="a.md")
    assert chunks == same
    assert [*map(hash, chunks)] == [*map(hash, same)]
    again = pickle.loads(pickle.dumps(chunks))
    assert again == chunks
    assert (again.document, again.options, again.findings) == (chunks.document, chunks.options, chunks.findings)
    assert hash(again.findings) == hash(chunks.findings)
    with pytest.raises(TypeError):
        hash(chunks)


def test_hits_survive_pickling(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXT)
    with quire.Index.open(tmp_path / "index") as index:
        index.update({"docs": tmp_path / "docs"})
        for explain in (False, True):
            hits = index.search("setup", explain=explain)
            assert hits
            assert hits == index.search("setup", explain=explain)
            assert pickle.loads(pickle.dumps(hits)) == hits
            assert len({*hits, *index.search("setup", explain=explain)}) == len(hits)
