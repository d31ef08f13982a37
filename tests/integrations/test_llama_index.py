"""The LlamaIndex adapter: exact positions, relationships, a retriever."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire

pytest.importorskip("llama_index.core")

from llama_index.core import Document, SimpleDirectoryReader
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore

from quire.adapters.llama_index import QuireExpander, QuireNodeParser, QuireRetriever

TEXT = "# A\n\nSame.\n\n## B\n\nSame.\n\n### C\n\nSame.\n\n## D\n\nSame.\n"


def test_positions_are_exact_where_texts_repeat() -> None:
    nodes = QuireNodeParser("tree").get_nodes_from_documents([Document(text=TEXT, id_="1")])
    assert [TEXT[node.start_char_idx : node.end_char_idx] for node in nodes] == ["Same."] * 4
    assert [node.start_char_idx for node in nodes] == [
        chunk.source_position.char_start for chunk in quire.chunk(TEXT, "tree")
    ]


def test_relationships() -> None:
    document = Document(text=TEXT, id_="1", metadata={"file_path": "a.md", "x": 1})
    nodes = QuireNodeParser("tree").get_nodes_from_documents([document])
    kinds = (NodeRelationship.SOURCE, NodeRelationship.PREVIOUS, NodeRelationship.NEXT, NodeRelationship.PARENT)
    related = [[(each := node.relationships.get(kind)) and each.node_id for kind in kinds] for node in nodes]
    a, b, c, d = (node.node_id for node in nodes)
    assert [node.metadata["chunkId"] for node in nodes] == [f"doc:a.md#{slug}" for slug in "abcd"]
    assert related == [["1", None, b, "1"], ["1", a, c, a], ["1", b, d, b], ["1", c, None, a]]
    assert all(node.metadata["x"] == 1 for node in nodes)


def test_the_title_and_the_headings_are_embedded() -> None:
    (node, *_) = QuireNodeParser("tree").get_nodes_from_documents([Document(text=TEXT, metadata={"file_path": "a.md"})])
    embedded = node.get_content(MetadataMode.EMBED)
    assert "headerPath: A" in embedded
    assert "contentHash" not in embedded


def test_it_runs_in_a_pipeline_and_is_serialized() -> None:
    parser = QuireNodeParser("flow", max_tokens=100, min_tokens=0)
    again = QuireNodeParser.from_dict(parser.to_dict())
    made = [IngestionPipeline(transformations=[each]).run(documents=[Document(text=TEXT, id_="1")])
            for each in (parser, again)]  # fmt: skip
    assert (
        [node.text for node in made[0]]
        == [node.text for node in made[1]]
        == [chunk.original_text for chunk in quire.chunk(TEXT, "flow", max_tokens=100, min_tokens=0)]
    )


def test_the_retriever(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nInstall it.\n")
    (tmp_path / "b.md").write_text("# B\n\nInstall it.\n")
    index = quire.Index.open(tmp_path / ".quire")
    index.update({"docs": tmp_path})
    (found,) = QuireRetriever(index, path="b.md").retrieve("install")
    assert (found.node.node_id, found.score, found.node.start_char_idx) == ("docs:b.md#b", 1.0, 0)
    assert len(QuireRetriever(tmp_path / ".quire", similarity_top_k=1).retrieve("install")) == 1


def test_ids_of_a_function() -> None:
    parser = QuireNodeParser.from_defaults("tree", id_func=lambda number, document: f"{document.node_id}/{number}")
    nodes = parser.get_nodes_from_documents([Document(text=TEXT, id_="1")])
    assert [node.node_id for node in nodes] == ["1/0", "1/1", "1/2", "1/3"]
    assert nodes[1].prev_node is not None
    assert nodes[1].prev_node.node_id == "1/0"
    assert "prevId" not in nodes[1].metadata


def test_files_named_by_their_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader's ids and paths are absolute; those of nodes are the same on every machine."""
    ids = []
    for machine in ("one", "two"):
        for folder in ("a", "b"):
            (tmp_path / machine / folder).mkdir(parents=True)
            (tmp_path / machine / folder / "index.md").write_text(TEXT)
        monkeypatch.chdir(tmp_path / machine)
        reader = SimpleDirectoryReader(".", recursive=True, filename_as_id=True)
        nodes = QuireNodeParser("tree").get_nodes_from_documents(reader.load_data())
        assert {node.metadata["sourcePath"] for node in nodes} == {"a/index.md", "b/index.md"}
        ids.append({node.node_id for node in nodes})
    assert len(ids[0]) == 8
    assert ids[0] == ids[1]


def test_retrieved_nodes_become_their_sections() -> None:
    nodes = QuireNodeParser("tree").get_nodes_from_documents([Document(text=TEXT, metadata={"file_path": "a.md"})])
    found = [NodeWithScore(node=nodes[3], score=0.5), NodeWithScore(node=nodes[0], score=0.4)]
    sections = QuireExpander(documents={"a.md": TEXT}).postprocess_nodes(found)
    assert [(each.text, each.score) for each in sections] == [("## D\n\nSame.", 0.5), ("# A\n\nSame.", 0.4)]
    assert [TEXT[each.node.start_char_idx : each.node.end_char_idx] for each in sections] == [
        "## D\n\nSame.",
        "# A\n\nSame.",
    ]
    assert sections[0].metadata["nodeId"] == "doc:a.md#d"
