"""The fields of the engine, and how a node becomes fields.

Text fields exist once per language (``title_english``), because a field has one analyser. Only ``node`` and ``blob``
are stored: an answer is made from the node.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
import tantivy

from quire.index.engine import analysis
from quire.index.engine.normalization import flags, indexed_texts, normalize
from quire.index.node import Node, encode_node

VERSION = 5  # increase it when older indexes become unreadable or score differently

ID, DOC, TREE = "id", "doc", "tree"  # the node's id, its document's id, its tree's name: not analysed
NUMBER, POSITION = "number", "position"  # of its document in the index; of the node in its document
NODE = "node"  # the encoded node
FLAGS = "flags"  # command-line flags in its own text, ``--no-cache``
RECORD, BLOB = "record", "blob"  # the key and content of a record that is no node: files, settings

RANKED = ("title", "headings", "body", "front", "file", "folder", "tags")
"""The fields that are searched for a word, once per language. ``title`` also has the headings below a node that are no
nodes; that of a document is empty unless its front matter has a title. ``headings`` are the titles above the node, in a
document its own; ``file`` is the name of the file, or of its folder for an index page."""
PATH = "path"  # the whole path, searched only by ``path:``

_TITLE = re.compile(r"^title\s*[:=]", re.MULTILINE)
_MAX_REPEATED = 1_000
"""How many characters of front matter the sections repeat; without a limit the cost would be quadratic."""


class NodeFields(msgspec.Struct, frozen=True, array_like=True):
    """The nodes of a document as fields."""

    common: dict[str, Any] = {}  # equal for all nodes, sent once
    own: list[dict[str, Any]] = []  # of each node in order; they override common ones


def field(name: str, language: str) -> str:
    """The name of a text field in one language."""
    return f"{name}_{language}"


def build_schema(languages: tuple[str, ...]) -> tantivy.Schema:
    """The schema of an index with these languages."""
    builder = tantivy.SchemaBuilder()
    for name in (ID, DOC, TREE, FLAGS, RECORD):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(NUMBER, fast=True)
    builder.add_unsigned_field(POSITION, indexed=True, fast=True)
    builder.add_bytes_field(NODE, stored=True)
    builder.add_bytes_field(BLOB, stored=True)
    for language in languages:
        for name in (*RANKED, PATH):
            builder.add_text_field(field(name, language), tokenizer_name=f"quire_{language}")
    return builder.build()


def register_analysers(index: tantivy.Index, languages: tuple[str, ...]) -> None:
    """Register the analysers with an index that was just created or opened: the engine does not store them."""
    for language in languages:
        index.register_tokenizer(f"quire_{language}", analysis.analyser(language))


def fields_of(nodes: Sequence[Node], language: str) -> NodeFields:
    """The nodes of a document as fields, each with the titles above it and the document's front matter."""
    document = nodes[0]
    front = document.text[: document.body]
    common = _common_fields(document, front[:_MAX_REPEATED], language)
    in_title, in_headings, in_body = (field(name, language) for name in ("title", "headings", "body"))
    own: list[dict[str, Any]] = []
    title_chains: list[list[str]] = []  # for each node the titles from the document's to its own
    for node in nodes:
        title = _all_texts((node.title,))
        above = title_chains[node.ancestors[-1].position] if node.ancestors else []
        title_chains.append(above + title)
        own.append(
            {
                in_title: title + _all_texts(node.titles),
                in_headings: above if node.ancestors else title,
                in_body: indexed_texts(node.body_text),
                ID: node.id,
                POSITION: node.position,
                NODE: encode_node(node),
                **({FLAGS: found} if (found := flags(node.text)) else {}),
            }
        )
    if len(front) > _MAX_REPEATED:
        own[0][field("front", language)] = _all_texts((front,))
    if not _TITLE.search(normalize(front)):
        own[0][in_title] = _all_texts(document.titles)
    return NodeFields(common, own)


def _common_fields(document: Node, front: str, language: str) -> dict[str, Any]:
    folder, file = _folder_and_name(document.path)
    texts = {"front": (front,), "file": (file,), "folder": (folder,), "tags": document.tags, PATH: (document.path,)}
    fields: dict[str, Any] = {field(name, language): _all_texts(values) for name, values in texts.items()}
    return fields | {DOC: document.document_id, TREE: document.tree}


def _all_texts(values: Sequence[str]) -> list[str]:
    return [text for value in values if value for text in _remembered_texts(value)]


@lru_cache(maxsize=4_096)
def _remembered_texts(text: str) -> tuple[str, ...]:
    """Titles are repeated by the nodes below them, and folders by their documents."""
    return tuple(indexed_texts(text))


def _folder_and_name(path: str) -> tuple[str, str]:
    """The folders of a document, and its file name without extension; for ``index.md`` the name of its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    if folder and stem.strip("_").lower() in ("index", "readme"):
        folder, _, stem = folder.rpartition("/")
    return folder, stem
