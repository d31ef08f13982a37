"""The LangChain adapter: LangChain's own tests for retrievers, and what the splitter and the loader make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import quire

pytest.importorskip("langchain_core")
standard = pytest.importorskip("langchain_tests.integration_tests")

from langchain_core.documents import Document  # noqa: E402
from langchain_core.embeddings import DeterministicFakeEmbedding  # noqa: E402
from langchain_core.indexing import InMemoryRecordManager  # noqa: E402
from langchain_core.indexing import index as index_documents  # noqa: E402
from langchain_core.vectorstores import InMemoryVectorStore  # noqa: E402

from quire.adapters.langchain import QuireExpander, QuireLoader, QuireRetriever, QuireTextSplitter  # noqa: E402

TEXT = "---\ntags: [a]\n---\n# A\n\nOne.\n\n## B\n\nTwo.\n"


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> quire.Index:
    docs = tmp_path_factory.mktemp("docs")
    for number in range(5):
        (docs / f"{number}.md").write_text(f"# Guide {number}\n\nHow to install part {number}.\n")
    index = quire.Index.open(docs / ".quire")
    index.update({"docs": docs})
    return index


class TestRetriever(standard.RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _index(self, index: quire.Index) -> None:
        self.index = index

    @property
    def retriever_constructor(self) -> type[QuireRetriever]:
        return QuireRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": self.index}

    @property
    def retriever_query_example(self) -> str:
        return "install"


def test_a_retriever_filters_by_path(index: quire.Index) -> None:
    found = QuireRetriever(index, path="3.md").invoke("install")
    assert [each.metadata["source"] for each in found] == ["3.md"]


def test_documents_keep_their_metadata_and_get_stable_ids() -> None:
    splitter = QuireTextSplitter("tree")
    pages = [Document(TEXT, metadata={"source": "d/a.md", "x": 1}), Document(TEXT, id="k"), Document(TEXT)]
    made = splitter.transform_documents(pages)
    assert made == splitter.split_documents(iter(pages))
    assert len({each.id for each in made}) == len(made)
    chunk = quire.chunk(TEXT, "tree", path="d/a.md")[2]
    assert (made[2].metadata["chunkId"], made[2].page_content) == (chunk.id, chunk.embed_text)
    assert made[2].metadata.items() >= {"x": 1, "source": "d/a.md", "headerPath": "A > B", "tags": "a"}.items()
    assert all(isinstance(value, str | int) for each in made for value in each.metadata.values())


def test_texts() -> None:
    splitter = QuireTextSplitter("tree")
    assert splitter.split_text(TEXT) == [chunk.embed_text for chunk in quire.chunk(TEXT, "tree")]
    made = splitter.create_documents([TEXT, "x"], [{"source": "a.md"}, {"source": "b.md"}])
    assert [each.metadata["chunkId"] for each in made][-1] == "doc:b.md"


def test_wrong_options_are_refused_at_once() -> None:
    with pytest.raises(quire.OptionError, match="hard_cap"):
        QuireTextSplitter("packed", hard_cap=1)


def test_a_folder_is_loaded(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(TEXT)
    (tmp_path / "c.py").write_text("x")
    made = QuireLoader(tmp_path, "tree", exclude="b.md").load()
    assert [each.metadata["chunkId"] for each in made] == [chunk.id for chunk in quire.chunk(TEXT, "tree", path="a.md")]
    assert {Path(each.metadata["source"]).read_text() for each in made} == {TEXT}


def test_two_folders_with_the_same_files_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = []
    for machine in ("one", "two"):
        for folder in ("a", "b"):
            (tmp_path / machine / folder).mkdir(parents=True)
            (tmp_path / machine / folder / "index.md").write_text(TEXT)
        monkeypatch.chdir(tmp_path / machine)
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
        for folder in ("a", tmp_path / machine / "b"):
            store.add_documents(QuireLoader(folder, "tree").load())
        assert len(store.store) == 6
        ids.append(sorted(store.store))
    assert ids[0] == ids[1]


def test_chunks_go_through_the_indexing_api() -> None:
    pages = [Document(TEXT, metadata={"source": "a.md", "page": page}) for page in range(3)]
    made = QuireTextSplitter("tree").split_documents(pages)
    records, store = InMemoryRecordManager("x"), InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    records.create_schema()
    added = [index_documents(made, records, store, key_encoder="sha256")["num_added"] for _ in range(2)]
    assert added == [9, 0]


def test_retrieved_chunks_become_their_sections(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nOne.\n\n## B\n\nTwo.\n\nThree.\n\n## C\n\nFour.\n")
    small = QuireLoader(tmp_path, max_tokens=32, target_tokens=2, join_tokens=1, min_tokens=0).load()
    best = [each for word in ("Three", "Two") for each in small if word in each.page_content]
    (section,) = QuireExpander(tmp_path, breadcrumb_mode="none").transform_documents(best)
    assert section.page_content == "## B\n\nTwo.\n\nThree."
    assert (section.metadata["source"], section.metadata["nodeId"]) == (f"{tmp_path}/a.md", "doc:a.md#b")
    assert (section.metadata["startLine"], section.metadata["endLine"]) == (5, 9)
