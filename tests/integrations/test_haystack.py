"""The Haystack adapter: components that run in a pipeline and survive its serialization."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire

pytest.importorskip("haystack")

from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

from quire.adapters.haystack import QuireRetriever, QuireSplitter

TEXT = "# A\n\nOne.\n\n## B\n\nTwo.\n"


def test_splitter_in_a_pipeline() -> None:
    store = InMemoryDocumentStore()
    pipeline = Pipeline()
    pipeline.add_component("splitter", QuireSplitter("tree", breadcrumb_mode="none"))
    pipeline.add_component("writer", DocumentWriter(store))
    pipeline.connect("splitter", "writer")
    pipeline.run({"splitter": {"documents": [Document(content=TEXT, meta={"file_path": "a.md", "x": 1})]}})
    made = store.filter_documents({"field": "meta.headerPath", "operator": "==", "value": "A > B"})
    (chunk,) = [each for each in quire.chunk(TEXT, "tree", path="a.md") if each.header_path == ("A", "B")]
    assert [(each.id, each.content) for each in made] == [(chunk.id, "Two.")]
    assert made[0].meta["x"] == 1


def test_components_are_serialized(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    with quire.Index.open(tmp_path / ".quire") as index:
        index.update({"docs": tmp_path})
    pipeline = Pipeline()
    pipeline.add_component("splitter", QuireSplitter("flow", max_tokens=99, min_tokens=0))
    pipeline.add_component("retriever", QuireRetriever(str(tmp_path / ".quire"), top_k=2, path=["a.md"]))
    again = Pipeline.from_dict(pipeline.to_dict(), allowed_modules=["quire.adapters.haystack"])
    found = again.run({"retriever": {"query": "two"}, "splitter": {"documents": [Document(content=TEXT)]}})
    assert [each.id for each in found["retriever"]["documents"]] == ["docs:a.md#b"]
    assert found["retriever"]["documents"][0].score == 1.0
    assert len(found["splitter"]["documents"]) == 1
