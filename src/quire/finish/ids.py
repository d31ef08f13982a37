"""The ids of documents and nodes; a chunk's id is its document's with a number, or that of its node."""

from __future__ import annotations

from quire.model import UNTITLED, Document, doc_name
from quire.options import Options


def document_id(document: Document, options: Options) -> str:
    """``{contentType}:{dir/}{docName}``."""
    return f"{options.content_type}:{doc_name(document.path)}"


def node_id(document: Document, section: int, options: Options) -> str:
    """``{tree}:{path}#{slug}``; the document's own node has no fragment."""
    name = f"{options.tree_name}:{UNTITLED if document.path is None else document.path}"
    slug = document.section_columns.slugs[section]
    return f"{name}#{slug}" if slug else name
