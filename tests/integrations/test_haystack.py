"""The Haystack adapter: components that run in a pipeline and survive its serialization."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire

pytest.importorskip("haystack")

from haystack import Document, Pipeline
from haystack.components.converters import TextFileToDocument
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from quire.adapters.haystack import QuireExpander, QuireRetriever, QuireSplitter

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
    assert [(each.meta["chunkId"], each.content) for each in made] == [(chunk.id, "Two.")]
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


def test_files_behind_a_converter(tmp_path: Path) -> None:
    """The converter keeps the file's name alone, so equal files are equal documents to Haystack."""
    files = [tmp_path / folder / "index.md" for folder in ("a", "b", "c")]
    for file, text in zip(files, (TEXT, TEXT, f"{TEXT}\n## C\n\nThree.\n"), strict=True):
        file.parent.mkdir()
        file.write_text(text)
    documents = TextFileToDocument().run(sources=files)["documents"]
    made = QuireSplitter("tree").run(documents)["documents"]
    store = InMemoryDocumentStore()
    assert store.write_documents(made, policy=DuplicatePolicy.FAIL) == len(made) == 7


def test_retrieved_chunks_become_their_sections(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    meta = {"sourcePath": "a.md", "charStart": TEXT.index("Two"), "charEnd": TEXT.index("Two") + 3, "x": 1}
    pipeline = Pipeline()
    pipeline.add_component("expander", QuireExpander(str(tmp_path), breadcrumb_mode="none"))
    again = Pipeline.from_dict(pipeline.to_dict(), allowed_modules=["quire.adapters.haystack"])
    pieces = [Document(content="Two", meta=meta, score=0.5), Document(content="Two", meta=meta, score=0.4)]
    (section,) = again.run({"expander": {"documents": pieces}})["expander"]["documents"]
    assert (section.content, section.score) == ("## B\n\nTwo.", 0.5)
    assert (section.meta["nodeId"], section.meta["x"]) == ("doc:a.md#b", 1)
