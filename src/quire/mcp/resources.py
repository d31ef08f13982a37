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


def completions(workspace: Workspace, argument: str, start: str, given: Mapping[str, str]) -> Sequence[str]:
    """The values of a template's argument that start with ``start``; ``given`` are the other arguments."""
    documents = [each for each in workspace.documents() if given.get("tree") in (None, "", each.tree)]
    if argument == "tree":
        values = [each.tree for each in documents]
    elif argument == "path":
        values = [each.path for each in documents]
    else:
        ids = [each.id for each in documents if each.path == given.get("path")]
        values = [node.slug for each in ids for node in workspace.outline(each) if node.slug]
    return [each for each in dict.fromkeys(values) if each.startswith(start)]
