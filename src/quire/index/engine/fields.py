"""A node as the fields that the engine takes. Pure, so that it is made where the parsing is. After: ``store``.

Text stands once per language in use (``title_english``), because a field has one analyser. Nothing but ``node`` and
``blob`` is stored: an answer is made from the node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from quire.index.engine.spelling import spellings
from quire.index.node import Node, encoded, term

ID = "id"
"""The node's id, whole."""
DOC = "doc"
"""The id of the document, whole."""
TREE = "tree"
"""The name of the tree, whole."""
NUMBER = "number"
"""The number of the document, by which nodes are sorted without reading them."""
POSITION = "position"
"""Its place among the nodes of the document."""
NODE = "node"
"""The node itself, packed."""
RECORD = "record"
"""The key of a record that is no node (what is known of the files, settings)."""
BLOB = "blob"
"""What that record holds."""

RANKED = ("title", "headings", "body", "front", "file", "folder", "tags")
"""The fields that a word is looked for in, once per language.

``headings`` are the titles above the node, the document's first (its own in a document); ``front`` is the front matter
of the document, ``file`` the name of its file, or of its folder if that says more, ``folder`` the folders above. The
``title`` of a document is its own only if front matter gives it: else it is that of a heading, or the file's name.
"""
PATH = "path"
"""The whole path, for words that must stand in it."""
TEXT = (*RANKED, PATH)

_TITLE = re.compile(r"^title\s*[:=]", re.MULTILINE)


def field(name: str, language: str) -> str:
    """The engine's name of a text field in one language."""
    return f"{name}_{language}"


def shared(document: Node, front: str, language: str) -> dict[str, Any]:
    """What all nodes of a document have in common, made once; ``front`` is the front matter that they repeat."""
    folder, file = _named(document.path)
    texts = {"front": (front,), "file": (file,), "folder": (folder,), "tags": document.tags, PATH: (document.path,)}
    made: dict[str, Any] = {field(name, language): _listed(values) for name, values in texts.items()}
    return made | {DOC: term(document.document_id), TREE: term(document.tree)}


def fields(node: Node, headings: Sequence[str], language: str, common: Mapping[str, Any]) -> dict[str, Any]:
    """A node as the engine takes it.

    ``headings`` are the titles of the nodes above it, ``common`` is what ``shared`` made for its document.
    """
    is_titled = node.depth or any(_TITLE.search(text) for text in common[field("front", language)][:1])
    body = spellings(node.body_text)
    for title in node.titles:
        body += spellings(title)
    return {
        **common,
        field("title", language): _listed((node.title,)) if is_titled else [],
        field("headings", language): _listed(headings or (node.title,)),
        field("body", language): body,
        ID: term(node.id),
        POSITION: node.position,
        NODE: encoded(node),
    }


def _listed(values: Sequence[str]) -> list[str]:
    return [text for value in values if value for text in _spelled(value)]


@lru_cache(maxsize=4_096)
def _spelled(text: str) -> tuple[str, ...]:
    """Titles are repeated by the nodes below them, names by documents: each is spelled once."""
    return tuple(spellings(text))


def _named(path: str) -> tuple[str, str]:
    """The folders of a document and what names it: its file without the extension, or its folder for ``index.md``."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    if folder and stem.strip("_").lower() in ("index", "readme"):
        folder, _, stem = folder.rpartition("/")
    return folder, stem
