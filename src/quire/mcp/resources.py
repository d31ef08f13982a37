"""Documents and sections as resources: ``quire:///TREE/PATH`` and ``quire:///TREE/PATH#SLUG``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote, urlsplit

from quire.errors import NotFoundError
from quire.workspace import Workspace

SCHEME = "quire"
TEMPLATES = {
    "document": f"{SCHEME}:///{{tree}}/{{+path}}",
    "section": f"{SCHEME}:///{{tree}}/{{+path}}#{{slug}}",
}


def uri(node_id: str) -> str:
    """The URI of a document or section."""
    document, mark, slug = node_id.partition("#")
    tree, _, path = document.partition(":")
    return f"{SCHEME}:///{quote(tree)}/{quote(path)}{mark}{quote(slug)}"


def node_id(text: str) -> str:
    """The id of a document or section."""
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    tree, _, path = unquote(parts.path.removeprefix("/")).partition("/")
    if parts.scheme != SCHEME or parts.netloc or parts.query or not path:
        raise NotFoundError(f"{text[:200]}: no such resource", f"the form is {TEMPLATES['document']}")
    return f"{tree}:{path}#{unquote(parts.fragment)}" if parts.fragment else f"{tree}:{path}"


def completions(workspace: Workspace, argument: str, start: str, others: Mapping[str, str]) -> Sequence[str]:
    """The values of a template's argument that start with ``start``; ``others`` are the other arguments."""
    documents = [document for document in workspace.documents() if others.get("tree") in (None, "", document.tree)]
    if argument == "tree":
        values = [document.tree for document in documents]
    elif argument == "path":
        values = [document.path for document in documents]
    else:
        ids = [document.id for document in documents if document.path == others.get("path")]
        values = [node.slug for document_id in ids for node in workspace.outline(document_id) if node.slug]
    return [value for value in dict.fromkeys(values) if value.startswith(start)]
