"""Nodes as the fields that the engine takes. Pure, so that they are made where the parsing is. After: ``writer``.

Text stands once per language in use (``title_english``), because a field has one analyser. Nothing but ``node`` and
``blob`` is stored: an answer is made from the node.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from quire.index.engine.spelling import flags, normal, spellings
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
FLAGS = "flags"
"""The flags of commands in its own text, ``--no-cache``, each whole."""
RECORD = "record"
"""The key of a record that is no node (what is known of the files, settings)."""
BLOB = "blob"
"""What that record holds."""

RANKED = ("title", "headings", "body", "front", "file", "folder", "tags")
"""The fields that a word is looked for in, once per language.

``headings`` are the titles above the node, the document's first (its own in a document); ``front`` is the front matter
of the document, ``file`` the name of its file, or of its folder if that says more, ``folder`` the folders above. The
``title`` of a document is its own only if front matter gives it: else it is that of a heading, or the file's name. In
it there are also the headings below a node that make none.
"""
PATH = "path"
"""The whole path, for words that must stand in it."""
TEXT = (*RANKED, PATH)

_TITLE = re.compile(r"^title\s*[:=]", re.MULTILINE)
_REPEATED = 1_000
"""How many characters of front matter the nodes below repeat.

What is repeated for every node has a limit, so that the cost grows with the document and not with its square.
"""


class NodeFields(msgspec.Struct, frozen=True, array_like=True):
    """The nodes of a document, as the engine takes them."""

    common: dict[str, Any] = {}
    """The fields that all of them have, made and sent once."""
    own: list[dict[str, Any]] = []
    """The fields of each, in order; they take the place of common ones."""

    def __len__(self) -> int:
        """How many nodes there are."""
        return len(self.own)


def field(name: str, language: str) -> str:
    """The engine's name of a text field in one language."""
    return f"{name}_{language}"


def fields_of(nodes: Sequence[Node], language: str) -> NodeFields:
    """The nodes of a document as fields, each with what it has from above: titles, and front matter."""
    document = nodes[0]
    front = document.text[: document.body]
    common = _common(document, front[:_REPEATED], language)
    in_title, in_headings, in_body = (field(name, language) for name in ("title", "headings", "body"))
    own: list[dict[str, Any]] = []
    # For each node the titles from the document's down to its own, as the nodes below repeat them.
    down: list[list[str]] = []
    for node in nodes:
        title = _listed((node.title,))
        above = down[node.ancestors[-1].position] if node.ancestors else []
        down.append(above + title)
        own.append(
            {
                in_title: title + _listed(node.titles),
                in_headings: above if node.ancestors else title,
                in_body: spellings(node.body_text),
                ID: term(node.id),
                POSITION: node.position,
                NODE: encoded(node),
                **({FLAGS: found} if (found := flags(node.text)) else {}),
            }
        )
    if len(front) > _REPEATED:
        own[0][field("front", language)] = _listed((front,))
    if not _TITLE.search(normal(front)):
        own[0][in_title] = _listed(document.titles)
    return NodeFields(common, own)


def _common(document: Node, front: str, language: str) -> dict[str, Any]:
    """What all nodes of a document have in common; ``front`` is the front matter that they repeat."""
    folder, file = _named(document.path)
    texts = {"front": (front,), "file": (file,), "folder": (folder,), "tags": document.tags, PATH: (document.path,)}
    made: dict[str, Any] = {field(name, language): _listed(values) for name, values in texts.items()}
    return made | {DOC: term(document.document_id), TREE: term(document.tree)}


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
