"""quire in LlamaIndex: a node parser and a retriever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quire.adapters.shared import AnyIndex, Splitter, chunk_metadata, found, hit_metadata, opened
from quire.errors import MissingExtraError
from quire.options import DEFAULT_STRATEGY
from quire.record import Chunk, Chunks

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.schema import (
        BaseNode,
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
except ImportError as error:
    raise MissingExtraError("llama-index", error.name) from error

__all__ = ["QuireNodeParser", "QuireRetriever"]

_EMBEDDED = ("fileTitle", "headerPath")
"""The metadata that is embedded with a node's text."""


class QuireNodeParser(NodeParser):
    """Cuts documents with quire; takes a strategy and its options, as ``quire.chunk`` does.

    A node's text is the chunk's own text. Title and headings are metadata, which LlamaIndex embeds with it. PREVIOUS
    and NEXT are the chunks beside it, PARENT is the first chunk of the nearest section above it, else the document.
    """

    strategy: str = DEFAULT_STRATEGY
    options: dict[str, Any]
    _splitter: Splitter = PrivateAttr()

    def __init__(
        self, strategy: str = DEFAULT_STRATEGY, *, options: dict[str, Any] | None = None, **named: Any
    ) -> None:
        named.pop("id_func", None)  # ids are quire's own
        fields = {name: named.pop(name) for name in list(named) if name in type(self).model_fields}
        super().__init__(strategy=strategy, options={**(options or {}), **named}, **fields)
        self._splitter = Splitter(strategy, self.options)

    @classmethod
    def class_name(cls) -> str:
        """The name in serialized pipelines."""
        return "QuireNodeParser"

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any) -> list[BaseNode]:
        return [made for node in nodes for made in self._nodes_of(node)]

    def _nodes_of(self, document: BaseNode) -> list[TextNode]:
        path = document.metadata.get("file_path") or document.metadata.get("source")
        chunks = self._splitter(document.get_content(), path, document.node_id)
        source = document.source_node or document.as_related_node_info()
        metadata = document.metadata if self.include_metadata else {}
        made = [_node(chunk, {**metadata, **chunk_metadata(chunk)}, document, source) for chunk in chunks]
        for node, related in zip(made, self._related(chunks, source.node_id), strict=True):
            node.relationships |= {kind: RelatedNodeInfo(node_id=id_) for kind, id_ in related.items()}
        return made

    def _related(self, chunks: Chunks, document_id: str) -> Iterator[dict[NodeRelationship, str]]:
        """The ids of the nodes around each chunk."""
        first: dict[tuple[str, ...], str] = {}
        for chunk in chunks:
            above = (chunk.header_slugs[:size] for size in range(len(chunk.header_slugs) - 1, -1, -1))
            related = {NodeRelationship.PARENT: next((first[each] for each in above if each in first), document_id)}
            if self.include_prev_next_rel and chunk.prev_id:
                related[NodeRelationship.PREVIOUS] = chunk.prev_id
            if self.include_prev_next_rel and chunk.next_id:
                related[NodeRelationship.NEXT] = chunk.next_id
            first.setdefault(chunk.header_slugs, chunk.id)
            yield related

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: Any) -> list[BaseNode]:
        """Nodes are complete; LlamaIndex would look for each text and might find another place."""
        return nodes


class QuireRetriever(BaseRetriever):
    """Searches an index of quire; the text of a result is a whole section."""

    def __init__(
        self,
        index: AnyIndex,
        *,
        similarity_top_k: int = 10,
        max_tokens: int | None = None,
        trees: str | Sequence[str] | None = None,
        path: str | Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        self._index = opened(index)
        self._limit = similarity_top_k
        self._filters = {"max_tokens": max_tokens, "trees": trees, "path": path}
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.id,
                    text=hit.text,
                    metadata=hit_metadata(hit),
                    start_char_idx=hit.span.start,
                    end_char_idx=hit.span.end,
                ),
                score=hit.score,
            )
            for hit in found(self._index, query_bundle.query_str, self._limit, **self._filters)
        ]


def _node(chunk: Chunk, metadata: dict[str, Any], document: BaseNode, source: RelatedNodeInfo) -> TextNode:
    place = chunk.source_position
    own = [name for name in metadata if name not in _EMBEDDED and name not in document.metadata]
    return TextNode(
        id_=chunk.id,
        text=chunk.original_text,
        metadata=metadata,
        start_char_idx=place.char_start,
        end_char_idx=place.char_end,
        excluded_embed_metadata_keys=[*document.excluded_embed_metadata_keys, *own],
        excluded_llm_metadata_keys=[*document.excluded_llm_metadata_keys, *own],
        relationships={NodeRelationship.SOURCE: source},
    )
