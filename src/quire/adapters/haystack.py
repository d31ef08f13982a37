"""quire in Haystack: a splitter and a retriever as components of a pipeline."""

from __future__ import annotations

from typing import Any

from quire.adapters.shared import FrameworkDocument, Splitter, hit_metadata, opened, search
from quire.errors import MissingExtraError
from quire.options import DEFAULT_STRATEGY

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingExtraError("haystack", error.name) from error

__all__ = ["QuireRetriever", "QuireSplitter"]


@component
class QuireSplitter:
    """Cuts documents with quire; takes a strategy and its options, as ``quire.chunk`` does.

    A document is named by ``meta["file_path"]``, else by its id. ``content`` is the text to embed, with the headings
    above it where that helps. ``header_keys`` adds the metadata ``Header 1``, ``Header 2`` and so on.
    """

    def __init__(self, strategy: str = DEFAULT_STRATEGY, *, header_keys: bool = False, **options: Any) -> None:
        self._splitter = Splitter(strategy, options, header_keys=header_keys)

    def to_dict(self) -> dict[str, Any]:
        """The component for a serialized pipeline."""
        cut = self._splitter
        made: dict[str, Any] = default_to_dict(self, strategy=cut.strategy, header_keys=cut.header_keys, **cut.options)
        return made

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> QuireSplitter:
        """The component of a serialized pipeline."""
        made: QuireSplitter = default_from_dict(cls, data)
        return made

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Cut the documents."""
        texts = [document.content or "" for document in documents]
        cut = self._splitter(
            FrameworkDocument(text, document.meta.get("file_path"), document.id, document.id)
            for text, document in zip(texts, documents, strict=True)
        )
        made = []
        for text, document, pieces in zip(texts, documents, cut, strict=True):
            for piece in pieces:
                content = piece.chunk.embed_text
                meta = {**document.meta, **piece.metadata, "source_id": document.id}
                if (start := piece.start(text, content)) is not None:
                    meta["split_idx_start"] = start
                made.append(Document(id=piece.id, content=content, meta=meta))
        return {"documents": made}


@component
class QuireRetriever:
    """Searches the index of quire in a folder; the content of a result is a whole section."""

    def __init__(
        self,
        index: str = ".quire",
        top_k: int = 10,
        *,
        max_tokens: int | None = None,
        trees: list[str] | None = None,
        path: list[str] | None = None,
        mode: str | None = None,
    ) -> None:
        self._options: dict[str, Any] = {"max_tokens": max_tokens, "trees": trees, "path": path, "mode": mode}
        self._folder, self._top_k = index, top_k
        self._index = opened(index)

    def to_dict(self) -> dict[str, Any]:
        """The component for a serialized pipeline."""
        made: dict[str, Any] = default_to_dict(self, index=self._folder, top_k=self._top_k, **self._options)
        return made

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> QuireRetriever:
        """The component of a serialized pipeline."""
        made: QuireRetriever = default_from_dict(cls, data)
        return made

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Search; ``top_k`` is over the component's own."""
        hits = search(self._index, query, self._top_k if top_k is None else top_k, **self._options)
        made = [Document(id=hit.id, content=hit.text, meta=hit_metadata(hit), score=hit.score) for hit in hits]
        return {"documents": made}
