"""quire in LlamaIndex: a node parser, a retriever and small to big."""

from collections.abc import Sequence
from typing import Any, Self

from quire.adapters import metadata as shared
from quire.errors import MissingExtraError
from quire.model.document import Span
from quire.model.options import DEFAULT_STRATEGY
from quire.search.expand import MAX_TOKENS

try:
    from llama_index.core import QueryBundle
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.node_parser.node_utils import default_id_func
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode, NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
except ImportError as error:
    raise MissingExtraError("llama-index", error.name) from error

__all__ = ["QuireExpander", "QuireNodeParser", "QuireRetriever"]

_EMBEDDED = ("fileTitle", "headerPath")  # the metadata that is embedded with a node's text


class QuireNodeParser(NodeParser):
    """Cuts documents with quire; takes a strategy and its options, as ``quire.chunk`` does.

    A node's text is the chunk's own text. Title and headings are metadata, which LlamaIndex embeds with it. PREVIOUS
    and NEXT are the chunks beside it, PARENT is the first chunk of the nearest section above it, else the document.
    ``header_keys`` adds the metadata ``Header 1``, ``Header 2`` and so on.
    """

    strategy: str = DEFAULT_STRATEGY
    options: dict[str, Any]
    header_keys: bool = False
    _splitter: shared.Splitter = PrivateAttr()

    def __init__(
        self, strategy: str = DEFAULT_STRATEGY, *, options: dict[str, Any] | None = None, **named: Any
    ) -> None:
        if not callable(named.get("id_func")):  # a serialized one is a name
            named.pop("id_func", None)
        fields = {name: named.pop(name) for name in list(named) if name in type(self).model_fields}
        super().__init__(strategy=strategy, options={**(options or {}), **named}, **fields)
        self._splitter = shared.Splitter(strategy, self.options, header_keys=self.header_keys)

    @classmethod
    def from_defaults(cls, strategy: str = DEFAULT_STRATEGY, **options: Any) -> Self:
        """The same as the constructor, as other node parsers have it."""
        return cls(strategy, **options)

    @classmethod
    def class_name(cls) -> str:
        """The name in serialized pipelines."""
        return "QuireNodeParser"

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any) -> list[BaseNode]:
        known = [(node, node.metadata.get("file_path") or node.metadata.get("source")) for node in nodes]
        cut = self._splitter([(node.get_content(), path, node.node_id, node.metadata) for node, path in known])
        return [chunk for node, pieces in zip(nodes, cut, strict=True) for chunk in self._nodes_of(node, pieces)]

    def _nodes_of(self, document: BaseNode, pieces: Sequence[shared.FrameworkChunk]) -> list[TextNode]:
        source = document.source_node or document.as_related_node_info()
        metadata = document.metadata if self.include_metadata else {}
        if self.id_func is not default_id_func:
            pieces = [piece._replace(id=self.id_func(number, document)) for number, piece in enumerate(pieces)]
            for piece in pieces:  # would be wrong
                piece.metadata.pop("prevId", None)
                piece.metadata.pop("nextId", None)
        nodes = [_node(piece, {**metadata, **piece.metadata}, document, source) for piece in pieces]
        first: dict[tuple[str, ...], str] = {}  # the id of the first chunk of each section
        for number, (node, (chunk, id_, _)) in enumerate(zip(nodes, pieces, strict=True)):
            above = (chunk.header_slugs[:size] for size in range(len(chunk.header_slugs) - 1, -1, -1))
            parent = next((first[slugs] for slugs in above if slugs in first), source.node_id)
            related = {NodeRelationship.PARENT: parent}
            if self.include_prev_next_rel and number > 0:
                related[NodeRelationship.PREVIOUS] = pieces[number - 1].id
            if self.include_prev_next_rel and number + 1 < len(pieces):
                related[NodeRelationship.NEXT] = pieces[number + 1].id
            first.setdefault(chunk.header_slugs, id_)
            node.relationships |= {kind: RelatedNodeInfo(node_id=other) for kind, other in related.items()}
        return nodes

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: Any) -> list[BaseNode]:
        """Nodes are complete; LlamaIndex would look for each text and might find another place."""
        return nodes


class QuireRetriever(BaseRetriever):
    """Searches an index of quire; the text of a result is a whole section."""

    def __init__(
        self,
        index: shared.AnyIndex,
        *,
        similarity_top_k: int = 10,
        max_tokens: int | None = None,
        trees: str | Sequence[str] | None = None,
        path: str | Sequence[str] | None = None,
        mode: str | None = None,
        **options: Any,
    ) -> None:
        self._index = shared.opened(index)
        self._limit = similarity_top_k
        self._filters: dict[str, Any] = {"max_tokens": max_tokens, "trees": trees, "path": path, "mode": mode}
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = shared.search(self._index, query_bundle.query_str, self._limit, **self._filters)
        return [_scored(hit.id, hit.text, shared.hit_metadata(hit), hit.span, hit.score) for hit in hits]


class QuireExpander(BaseNodePostprocessor):
    """Small to big: retrieved nodes become their sections; takes what ``quire.expand`` takes besides the pieces."""

    documents: Any
    max_tokens: int = MAX_TOKENS
    options: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def class_name(cls) -> str:
        """The name in serialized pipelines."""
        return "QuireExpander"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        ranked = [(node, node.metadata) for node in nodes]
        sections = []
        for best, section, metadata in shared.expanded(ranked, self.documents, self.max_tokens, self.options):
            span = Span(section.source_position.char_start, section.source_position.char_end)
            known = {**best.metadata, **metadata}
            sections.append(_scored(section.stable_id, section.original_text, known, span, best.score))
        return sections


def _scored(id_: str, text: str, metadata: dict[str, Any], span: Span, score: float | None) -> NodeWithScore:
    node = TextNode(id_=id_, text=text, metadata=metadata, start_char_idx=span.start, end_char_idx=span.end)
    return NodeWithScore(node=node, score=score)


def _node(
    piece: shared.FrameworkChunk, metadata: dict[str, Any], document: BaseNode, source: RelatedNodeInfo
) -> TextNode:
    """A piece as a node. Its position is there if its text is verbatim; its metadata has that of its own text."""
    text = piece.chunk.original_text
    start = piece.start(document.get_content(), text)
    hidden = [name for name in metadata if name not in _EMBEDDED and name not in document.metadata]
    return TextNode(
        id_=piece.id,
        text=text,
        metadata=metadata,
        start_char_idx=start,
        end_char_idx=None if start is None else start + len(text),
        excluded_embed_metadata_keys=[*document.excluded_embed_metadata_keys, *hidden],
        excluded_llm_metadata_keys=[*document.excluded_llm_metadata_keys, *hidden],
        relationships={NodeRelationship.SOURCE: source},
    )
