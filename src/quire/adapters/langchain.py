"""quire in LangChain: a text splitter that is also a document transformer, a loader, a retriever, small to big."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

from quire.adapters import metadata as shared
from quire.errors import MissingExtraError
from quire.model.options import DEFAULT_STRATEGY
from quire.pipeline import chunk_dir
from quire.search.expand import MAX_TOKENS, Documents

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import BaseDocumentTransformer, Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_text_splitters import TextSplitter
except ImportError as error:
    raise MissingExtraError("langchain", error.name) from error

__all__ = ["QuireExpander", "QuireLoader", "QuireRetriever", "QuireTextSplitter"]


class QuireTextSplitter(TextSplitter):
    """Cuts Markdown with quire; takes a strategy and its options, as ``quire.chunk`` does.

    Texts and documents give the same chunks: ``page_content`` is the text to embed, with the headings above it where
    that helps. A document is named by ``metadata["source"]``, else by its id. ``header_keys`` adds the metadata
    ``Header 1``, ``Header 2`` and so on.
    """

    def __init__(self, strategy: str = DEFAULT_STRATEGY, *, header_keys: bool = False, **options: Any) -> None:
        super().__init__(chunk_overlap=0)
        self._splitter = shared.Splitter(strategy, options, header_keys=header_keys)

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks of ``text``."""
        return [document.page_content for document in self.create_documents([text])]

    def create_documents(self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None) -> list[Document]:
        """The chunks of texts as documents; each has the metadata of its text."""
        both = zip(texts, metadatas or [{}] * len(texts), strict=True)
        return self.split_documents([Document(text, metadata=metadata) for text, metadata in both])

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """The chunks of documents; each has the metadata of its document. ``transform_documents`` is the same."""
        given = list(documents)
        cut = self._splitter((each.page_content, each.metadata.get("source"), each.id, each.metadata) for each in given)
        both = zip(given, cut, strict=True)
        return [_document(piece, each.page_content, each.metadata) for each, pieces in both for piece in pieces]


class QuireLoader(BaseLoader):
    """Loads the documents of a folder, already cut; takes what ``quire.chunk_dir`` takes, and ``header_keys``."""

    def __init__(
        self, path: str | PathLike[str], strategy: str = DEFAULT_STRATEGY, *, header_keys: bool = False, **options: Any
    ) -> None:
        self.path, self.strategy, self.header_keys, self.options = path, strategy, header_keys, options

    def lazy_load(self) -> Iterator[Document]:
        """The chunks, one document of the folder at a time; ``source`` is the path of its file."""
        taken: Counter[str] = Counter()
        for chunks in chunk_dir(self.path, self.strategy, **self.options):
            source = f"{os.fspath(self.path).rstrip('/')}/{chunks.document.path}"
            for piece in shared.pieces(chunks, shared.relative(source), taken, header_keys=self.header_keys):
                yield _document(piece, chunks.document.text, {"source": source})


class QuireRetriever(BaseRetriever):
    """Searches an index of quire; ``page_content`` of a result is a whole section."""

    index: Any  # a ``quire.Index`` or its folder
    k: int = 10  # how many results at most
    max_tokens: int | None = None  # how many tokens all results may have together
    trees: str | list[str] | None = None  # only these trees
    path: str | list[str] | None = None  # only documents that match these patterns
    mode: str | None = None  # ``words``, ``meaning`` or ``hybrid``

    def __init__(self, index: shared.AnyIndex, **options: Any) -> None:
        super().__init__(index=shared.opened(index), **options)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        where: dict[str, Any] = {"trees": self.trees, "path": self.path, "mode": self.mode}
        hits = shared.search(self.index, query, self.k if k is None else k, max_tokens=self.max_tokens, **where)
        found = [(hit, {"source": hit.path, **shared.hit_metadata(hit)}) for hit in hits]
        return [Document(id=hit.id, page_content=hit.text, metadata=metadata) for hit, metadata in found]


class QuireExpander(BaseDocumentTransformer):
    """Small to big: retrieved chunks become their sections; takes what ``quire.expand`` takes besides the pieces."""

    def __init__(self, documents: Documents, *, max_tokens: int = MAX_TOKENS, **options: Any) -> None:
        self._documents, self._max_tokens, self._options = documents, max_tokens, options

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """The sections, in the order of their best chunks, whose other metadata they have."""
        ranked = [(document, document.metadata) for document in documents]
        return [
            Document(id=section.stable_id, page_content=section.embed_text, metadata={**best.metadata, **metadata})
            for best, section, metadata in shared.expanded(ranked, self._documents, self._max_tokens, self._options)
        ]


def _document(piece: shared.FrameworkChunk, text: str, metadata: dict[Any, Any]) -> Document:
    """A piece as a document. ``start_index``, LangChain's name for the first character, is there if it is exact."""
    start = piece.start(text, piece.chunk.embed_text)
    position = {} if start is None else {"start_index": start}
    known = {**metadata, **piece.metadata, **position}
    return Document(id=piece.id, page_content=piece.chunk.embed_text, metadata=known)
