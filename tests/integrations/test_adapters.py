"""What all adapters promise: nothing is lost in a framework's own stores, ids are portable, positions are exact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

import quire

PAGES = [f"# Page\n\nThe text of page {page}.\n\n## Notes\n\nThe same on every page.\n" for page in range(5)]
DOCS = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))


class Stored(NamedTuple):
    """A chunk as a store of a framework has it."""

    id: str
    text: str
    metadata: dict[str, Any]
    start: int | None


class Framework(NamedTuple):
    """A framework, as far as these tests need it."""

    splitter: Callable[..., Any]
    document: Callable[[str, dict[str, Any]], Any]
    """A document made of a text and metadata; ``path`` in it is what the framework calls so."""
    with_id: Callable[[Any, str], Any]
    split: Callable[[Any, list[Any]], list[Any]]
    store: Callable[[Iterable[Any]], list[Stored]]
    """What one of the framework's own stores has after it was given all of these chunks."""
    retrieve: Callable[..., list[Any]]


def langchain() -> Framework:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    from quire.adapters.langchain import QuireRetriever, QuireTextSplitter

    def store(documents: Iterable[Any]) -> list[Stored]:
        kept = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
        kept.add_documents(list(documents))
        found = kept.get_by_ids(list(kept.store))
        return [Stored(each.id, each.page_content, each.metadata, each.metadata.get("start_index")) for each in found]

    return Framework(
        QuireTextSplitter,
        lambda text, metadata: Document(text, metadata={"source": metadata["path"], **metadata}),
        lambda document, id_: document.model_copy(update={"id": id_}),
        lambda splitter, documents: splitter.split_documents(documents),
        store,
        lambda index, query, k: QuireRetriever(index, k=k).invoke(query),
    )


def llama_index() -> Framework:
    pytest.importorskip("llama_index.core")
    from llama_index.core import Document
    from llama_index.core.storage.docstore import SimpleDocumentStore

    from quire.adapters.llama_index import QuireNodeParser, QuireRetriever

    def store(nodes: Iterable[Any]) -> list[Stored]:
        kept = SimpleDocumentStore()
        kept.add_documents(list(nodes))
        return [Stored(each.node_id, each.text, each.metadata, each.start_char_idx) for each in kept.docs.values()]

    return Framework(
        QuireNodeParser.from_defaults,
        lambda text, metadata: Document(text=text, metadata={"file_path": metadata["path"], **metadata}),
        lambda document, id_: document.model_copy(update={"id_": id_}),
        lambda splitter, documents: splitter.get_nodes_from_documents(documents),
        store,
        lambda index, query, k: QuireRetriever(index, similarity_top_k=k).retrieve(query),
    )


def haystack() -> Framework:
    pytest.importorskip("haystack")
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack.document_stores.types import DuplicatePolicy

    from quire.adapters.haystack import QuireRetriever, QuireSplitter

    def store(documents: Iterable[Any]) -> list[Stored]:
        kept = InMemoryDocumentStore()
        kept.write_documents(list(documents), policy=DuplicatePolicy.OVERWRITE)
        found = kept.filter_documents()
        return [Stored(each.id, each.content, each.meta, each.meta.get("split_idx_start")) for each in found]

    return Framework(
        QuireSplitter,
        lambda text, metadata: Document(content=text, meta={"file_path": metadata["path"], **metadata}),
        lambda document, id_: replace(document, id=id_),
        lambda splitter, documents: splitter.run(documents)["documents"],
        store,
        lambda index, query, k: QuireRetriever(str(index._folder.path), top_k=k).run(query)["documents"],
    )


@pytest.fixture(params=[langchain, llama_index, haystack], ids=lambda make: make.__name__)
def framework(request: pytest.FixtureRequest) -> Framework:
    made: Framework = request.param()
    return made


@pytest.mark.parametrize("texts", [PAGES, PAGES[:1] * 5], ids=["pages", "equal pages"])
@pytest.mark.parametrize("at_once", [True, False])
def test_five_pages_of_one_source(framework: Framework, texts: list[str], at_once: bool) -> None:
    documents = [framework.document(text, {"path": "report.pdf", "page": page}) for page, text in enumerate(texts)]
    splitter = framework.splitter("tree", syntax="markdown")
    if at_once:
        chunks = framework.split(splitter, documents)
    else:
        chunks = [chunk for document in documents for chunk in framework.split(splitter, [document])]
    kept = framework.store(chunks)
    assert len(kept) == len(chunks)
    assert {(each.metadata["page"], each.text.rpartition("\n")[2]) for each in kept} >= {
        (page, line) for page, text in enumerate(texts) for line in re.findall("^The .*", text, re.MULTILINE)
    }
    assert all(str(UUID(each.id)) == each.id for each in kept)


def test_files_outside_of_the_current_folder_are_named_from_their_common_folder_on(
    framework: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    paths = ["there/docs/index.md", "there/docs/a/index.md", "there/docs/b/../b/index.md", "here/c.md"]
    documents = [framework.document(PAGES[0], {"path": str(tmp_path / path)}) for path in paths]
    chunks = framework.split(framework.splitter("tree"), documents)
    kept = framework.store(chunks)
    assert {each.metadata["sourcePath"] for each in kept} == {"index.md", "a/index.md", "b/index.md", "c.md"}
    assert len({each.metadata["chunkId"] for each in kept}) == len(kept) == len(chunks)


def test_a_text_that_is_repeated_in_one_document(framework: Framework) -> None:
    text = "# A\n\n" + "## B\n\nThe same text.\n\n" * 5
    chunks = framework.split(framework.splitter("tree"), [framework.document(text, {"path": "a.md"})])
    assert sum("The same text." in each.text for each in framework.store(chunks)) == 5


def test_a_path_that_is_no_unicode(framework: Framework) -> None:
    chunks = framework.split(framework.splitter("tree"), [framework.document(PAGES[0], {"path": "a\udce9.md"})])
    assert len({each.id for each in framework.store(chunks)}) == len(chunks) > 1


def test_ids_have_no_absolute_path_and_ours_are_in_the_metadata(
    framework: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    splitter, ids = framework.splitter("tree"), []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        document = framework.document(PAGES[0], {"path": str(tmp_path / folder / "docs" / "a.md")})
        kept = framework.store(framework.split(splitter, [document]))
        chunks = quire.chunk(PAGES[0], "tree", path="docs/a.md")
        assert {each.metadata["chunkId"] for each in kept} == {chunk.id for chunk in chunks}
        assert {each.metadata["stableId"] for each in kept} == {chunk.stable_id for chunk in chunks}
        names = {name: value for name, value in kept[0].metadata.items() if name not in ("path", "file_path", "source")}
        assert str(tmp_path) not in str(names)
        ids.append([each.id for each in kept])
    has_own_ids = framework.splitter.__name__ != "QuireTextSplitter"  # random, or hashes of all metadata
    assert has_own_ids or ids[0] == ids[1]


def test_an_edit_leaves_the_ids_of_other_chunks(framework: Framework) -> None:
    ids = []
    for text in (PAGES[0], PAGES[0].replace("# Page\n", "# Page\n\n## New\n\nInserted.\n")):
        document = framework.document(text, {"path": "a.md"})
        document = framework.with_id(document, "a")
        ids.append(
            {each.text: each.id for each in framework.store(framework.split(framework.splitter("tree"), [document]))}
        )
    (notes,) = [text for text in ids[0] if "The same" in text]
    assert ids[0][notes] == ids[1][notes]


@pytest.mark.parametrize("strategy", ["packed", "flow", "sections", "tree"])
def test_positions_are_exact_or_absent(framework: Framework, strategy: str) -> None:
    splitter = framework.splitter(strategy, **({} if strategy == "tree" else {"max_tokens": 200}))
    exact = 0
    for page in DOCS:
        text = page.read_text("utf-8")
        for each in framework.store(framework.split(splitter, [framework.document(text, {"path": page.name})])):
            assert (each.start is not None) == (each.text in text)
            if each.start is not None:
                assert text[each.start : each.start + len(each.text)] == each.text
                exact += 1
    assert exact > 40


@pytest.mark.parametrize("is_wanted", [True, False])
def test_headings_as_keys(framework: Framework, is_wanted: bool) -> None:
    text = "# A\n\nOne.\n\n### B\n\nTwo.\n"
    splitter = framework.splitter("tree", header_keys=is_wanted)
    kept = framework.store(framework.split(splitter, [framework.document(text, {"path": "a.md"})]))
    (below,) = [each.metadata for each in kept if each.metadata["headerPath"] == "A > B"]
    headings = {name: value for name, value in below.items() if name.startswith("Header ")}
    assert headings == ({"Header 1": "A", "Header 3": "B"} if is_wanted else {})


@pytest.mark.parametrize("k", [1, 4, 30])
def test_a_retriever_returns_k_where_there_are_k(framework: Framework, tmp_path: Path, k: int) -> None:
    """Also long texts and those that score much less than the best."""
    for number in range(30):
        words = "install the package " * (30 - number) + f"word{number} " * 40 * number
        (tmp_path / f"{number}.md").write_text(f"# Guide {number}\n\n{words}\n")
    (tmp_path / "other.md").write_text("# Other\n\nNothing of that.\n")
    with quire.Index.open(tmp_path / ".quire") as index:
        index.update({"docs": tmp_path})
        assert len(index.search("install the package", limit=30)) < 30
        assert len(framework.retrieve(index, "install the package", k)) == k
