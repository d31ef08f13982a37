"""What chunks are called. Used by place.py and wire/; pure, so the same document and options give the same ids."""

from __future__ import annotations

from collections.abc import Sequence

from quire.model import UNTITLED, Document, Piece, doc_name
from quire.options import Options


def ids(document: Document, pieces: Sequence[Piece], options: Options) -> list[str]:
    """The id of each chunk: in the tree strategy that of its node, else the document's with a number."""
    if options.strategy == "tree":
        return [node_id(document, piece.section, options) for piece in pieces]
    name = document_id(document, options)
    return [f"{name}::ch{number}" for number in range(len(pieces))]


def document_id(document: Document, options: Options) -> str:
    """``{contentType}:{dir/}{docName}``."""
    return f"{options.content_type}:{doc_name(document.path)}"


def node_id(document: Document, section: int, options: Options) -> str:
    """``{tree}:{path}#{slug}``; the document's own node has no fragment."""
    name = document.path if document.path is not None else UNTITLED
    slug = document.sections[section].slug
    return f"{options.tree_name}:{name}#{slug}" if slug else f"{options.tree_name}:{name}"
