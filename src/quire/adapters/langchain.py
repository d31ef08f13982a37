"""quire in LangChain: a text splitter that is also a document transformer, a loader and a retriever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

from quire.adapters.shared import AnyIndex, Splitter, chunk_metadata, found, hit_metadata, opened
from quire.errors import MissingExtraError
from quire.options import DEFAULT_STRATEGY
from quire.pipeline import chunk_dir
from quire.record import Chunk

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_text_splitters import TextSplitter
except ImportError as error:
    raise MissingExtraError("langchain", error.name) from error

__all__ = ["QuireLoader", "QuireRetriever", "QuireTextSplitter"]


class QuireTextSplitter(TextSplitter):
    """Cuts Markdown with quire; takes a strategy and its options, as ``quire.chunk`` does.

    Texts and documents give the same chunks: ``page_content`` is the text to embed, with the headings above it where
    that helps. A document is named by ``metadata["source"]``, else by its id.
    """

    def __init__(self, strategy: str = DEFAULT_STRATEGY, **options: Any) -> None:
        super().__init__(chunk_overlap=0)
        self._splitter = Splitter(strategy, options)

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks of ``text``."""
        return [chunk.embed_text for chunk in self._splitter(text, None)]

    def create_documents(self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None) -> list[Document]:
        """The chunks of texts as documents; each has the metadata of its text."""
        return [
            _document(chunk, metadata)
            for text, metadata in zip(texts, metadatas or [{}] * len(texts), strict=True)
            for chunk in self._splitter(text, metadata.get("source"))
        ]

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """The chunks of documents; each has the metadata of its document."""
        return [
            _document(chunk, document.metadata)
            for document in documents
            for chunk in self._splitter(document.page_content, document.metadata.get("source"), document.id)
        ]

    def split_documents(self, documents: Any) -> list[Document]:
        """The same as ``transform_documents``."""
        return list(self.transform_documents(list(documents)))


class QuireLoader(BaseLoader):
    """Loads the documents of a folder, already cut; takes what ``quire.chunk_dir`` takes."""

    def __init__(self, path: str | PathLike[str], strategy: str = DEFAULT_STRATEGY, **options: Any) -> None:
        self.path = path
        self.strategy = strategy
        self.options = options

    def lazy_load(self) -> Iterator[Document]:
        """The chunks, one document of the folder at a time."""
        for chunks in chunk_dir(self.path, self.strategy, **self.options):
            for chunk in chunks:
                yield _document(chunk, {"source": chunk.source_path})


class QuireRetriever(BaseRetriever):
    """Searches an index of quire; ``page_content`` of a result is a whole section."""

    index: Any
    """A ``quire.Index`` or its folder."""
    k: int = 10
    """How many results at most."""
    max_tokens: int | None = None
    """How many tokens all results may have together."""
    trees: str | list[str] | None = None
    """Only these trees."""
    path: str | list[str] | None = None
    """Only documents that match these patterns."""

    def __init__(self, index: AnyIndex, **options: Any) -> None:
        super().__init__(index=opened(index), **options)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        limit = self.k if k is None else k
        hits = found(self.index, query, limit, max_tokens=self.max_tokens, trees=self.trees, path=self.path)
        return [
            Document(id=hit.id, page_content=hit.text, metadata={"source": hit.path, **hit_metadata(hit)})
            for hit in hits
        ]


def _document(chunk: Chunk, metadata: dict[Any, Any]) -> Document:
    """A chunk as a document; ``start_index`` is LangChain's name for the first character."""
    own = {**chunk_metadata(chunk), "start_index": chunk.source_position.char_start}
    return Document(id=chunk.id, page_content=chunk.embed_text, metadata={**metadata, **own})
