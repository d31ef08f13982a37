"""quire in Haystack: a splitter, a retriever and small to big as components of a pipeline."""

from functools import partial
from typing import Any

from quire.adapters.metadata import Splitter, expanded, hit_metadata, opened, search
from quire.errors import MissingExtraError
from quire.model.options import DEFAULT_STRATEGY
from quire.search.expand import MAX_TOKENS

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingExtraError("haystack", error.name) from error

__all__ = ["QuireExpander", "QuireRetriever", "QuireSplitter"]


class _Serializable:
    _arguments: dict[str, Any]  # those of the constructor

    def to_dict(self) -> dict[str, Any]:
        """The component for a serialized pipeline."""
        return {**default_to_dict(self, **self._arguments)}

    from_dict: Any = classmethod(default_from_dict)


@component
class QuireSplitter(_Serializable):
    """Cuts documents with quire; takes a strategy and its options, as ``quire.chunk`` does.

    A document is named by ``meta["file_path"]``, else by its id. ``content`` is the text to embed, with the headings
    above it where that helps. ``header_keys`` adds the metadata ``Header 1``, ``Header 2`` and so on.
    """

    def __init__(self, strategy: str = DEFAULT_STRATEGY, *, header_keys: bool = False, **options: Any) -> None:
        self._arguments = {"strategy": strategy, "header_keys": header_keys, **options}
        self._splitter = Splitter(strategy, options, header_keys=header_keys)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Cut the documents."""
        cut = self._splitter((each.content or "", each.meta.get("file_path"), each.id, each.meta) for each in documents)
        chunks = []
        for document, pieces in zip(documents, cut, strict=True):
            for piece in pieces:
                content, meta = piece.chunk.embed_text, {**document.meta, **piece.metadata, "source_id": document.id}
                if (start := piece.start(document.content or "", content)) is not None:
                    meta["split_idx_start"] = start
                chunks.append(Document(id=piece.id, content=content, meta=meta))
        return {"documents": chunks}


@component
class QuireRetriever(_Serializable):
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
        self._arguments = {"index": index, "top_k": top_k, **self._options}
        self._index, self._top_k = opened(index), top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Search; ``top_k`` overrides the component's value."""
        hits = search(self._index, query, self._top_k if top_k is None else top_k, **self._options)
        documents = [Document(id=hit.id, content=hit.text, meta=hit_metadata(hit), score=hit.score) for hit in hits]
        return {"documents": documents}


@component
class QuireExpander(_Serializable):
    """Small to big: chunks become their sections, read from ``folder``; takes the options of ``quire.expand``."""

    def __init__(self, folder: str, max_tokens: int = MAX_TOKENS, **options: Any) -> None:
        self._arguments = {"folder": folder, "max_tokens": max_tokens, **options}
        self._expanded = partial(expanded, documents=folder, max_tokens=max_tokens, options=options)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """The sections, in the order of their best chunks, whose scores and other metadata they have."""
        sections = [
            Document(id=section.stable_id, content=section.embed_text, meta={**best.meta, **metadata}, score=best.score)
            for best, section, metadata in self._expanded([(document, document.meta) for document in documents])
        ]
        return {"documents": sections}
