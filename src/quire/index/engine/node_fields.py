"""The fields of the engine, and how a node becomes fields. Text fields exist once per language: ``title_english``."""

import string
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
import tantivy

from quire.index.engine import analysis
from quire.index.engine.analysis import accented_words, flags, indexed_texts, normalize
from quire.index.node import Node, encode_node, encode_outline
from quire.model.dialects import INDEX_NAMES

if TYPE_CHECKING:
    from quire.index.link_words import LinkRecord

ID, DOC, TREE = "id", "doc", "tree"  # the node's id, its document's id, its tree's name: not analysed
NUMBER, POSITION = "number", "position"  # of its document in the index; of the node in its document
IN_LINKS = "in_links"  # the number of pages that link to it; missing for 0
PAGE_LINKS = "page_links"  # the same for all nodes of its document together
NODE = "node"  # the encoded node
FLAGS = "flags"  # command-line flags in its own text, ``--no-cache``
RECORD, BLOB = "record", "blob"  # the key and content of a record that is no node: files, settings
# Of the first node of a document:
FIRST = "first"  # the number of the document
OUTLINE = "outline"  # the encoded heading tree
PAGE_NAMES = "page_names"  # its tree with the last name of each of its addresses
LINK_NAMES = "link_names"  # its tree with each name that decides where its links lead

RANKED = ("title", "headings", "body", "links", "description", "file", "folder", "tags")
"""The fields that are searched for a word, once per language. ``title`` also has the headings below a node that are no
nodes; that of a document is empty unless its front matter has a title. ``headings`` are the titles above the node, in a
document its own; ``links`` are the texts of links that lead to the node; ``description`` is from the front matter;
``file`` is the name of the file, or of its folder for an index page."""
PATH = "path"  # the whole path, searched only by ``path:``
# Of the first node of a document, for corrections and prefixes:
WORDS = "words"  # all its words, not stemmed, without accents
ACCENTED = "accented"  # each word with accents, after the same word without them

_WITHOUT_PUNCTUATION = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))


class NodeFields(msgspec.Struct, frozen=True, array_like=True):
    """The nodes of a document as fields."""

    common: dict[str, Any] = {}  # equal for all nodes, sent once
    own: list[dict[str, Any]] = []  # of each node in order; they override common ones


@cache
def field(name: str, language: str) -> str:
    """The name of a text field in one language."""
    return f"{name}_{language}"


def build_schema(languages: tuple[str, ...]) -> tantivy.Schema:
    """The schema of an index with these languages."""
    builder = tantivy.SchemaBuilder()
    for name in (ID, DOC, TREE, FLAGS, RECORD, PAGE_NAMES, LINK_NAMES, ACCENTED):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(NUMBER, fast=True)
    builder.add_unsigned_field(FIRST, indexed=True)
    builder.add_unsigned_field(IN_LINKS, fast=True)
    builder.add_unsigned_field(PAGE_LINKS, fast=True)
    builder.add_unsigned_field(POSITION, indexed=True, fast=True)
    builder.add_text_field(WORDS, tokenizer_name=f"quire_{analysis.NONE}", index_option="basic")
    for name in (NODE, OUTLINE, BLOB):
        builder.add_bytes_field(name, stored=True)
    for language in languages:
        for name in (*RANKED, PATH):
            builder.add_text_field(field(name, language), tokenizer_name=f"quire_{language}")
    return builder.build()


def fields_of(nodes: Sequence[Node], language: str) -> NodeFields:
    """The nodes of a document as fields, each with the titles above it and the document's front matter."""
    document = nodes[0]
    folder, file = _folder_and_name(document.path)
    short = {"description": (document.description,), "file": (file,), "folder": (folder,), "tags": document.tags}
    common: dict[str, Any] = {field(name, language): _texts(values) for name, values in short.items()}
    common |= {field(PATH, language): indexed_texts(document.path), DOC: document.document_id, TREE: document.tree}
    in_title, in_headings, in_body = (field(name, language) for name in ("title", "headings", "body"))
    fields: list[dict[str, Any]] = []
    title_chains: list[list[str]] = []  # for each node the titles from the document's to its own
    for node in nodes:
        title = _texts((node.title,))
        above = title_chains[node.ancestors[-1]] if node.ancestors else []
        title_chains.append(above + title)
        fields.append(
            {
                in_title: title + _texts(node.titles),
                in_headings: above if node.ancestors else title,
                in_body: [*indexed_texts(node.words or node.body_text), *indexed_texts(node.title)[1:]],
                ID: node.id,
                POSITION: node.position,
                NODE: encode_node(node),
                **({FLAGS: flag_names} if (flag_names := flags(node.text)) else {}),
            }
        )
    if not document.own_title:
        fields[0][in_title] = _texts(document.titles)
    fields[0][OUTLINE] = encode_outline(nodes, language)
    accented = {word for text in (*[node.text for node in nodes], document.path) for word in accented_words(text)}
    if accented:
        fields[0][ACCENTED] = sorted(f"{bare} {word}" for word in accented if (bare := analysis.bare(word)) != word)
    names = [field(name, language) for name in ("title", "body", "description", "file", "folder", "tags")]
    fields[0][WORDS] = _words([text for row in (common, *fields) for name in names for text in row.get(name, ())])
    return NodeFields(common, fields)


def add_links(nodes: NodeFields, links: "LinkRecord", language: str) -> None:
    """Add what is known when all files are read: the links to and from a document."""
    incoming, tree = links.incoming(), nodes.common[TREE]
    for position, (words, pages) in incoming.items():
        nodes.own[position] |= {field("links", language): _texts(words), IN_LINKS: pages}
    if incoming:
        nodes.common[PAGE_LINKS] = sum(pages for _, pages in incoming.values())
    nodes.own[0] |= {
        BLOB: msgspec.msgpack.encode(links),
        PAGE_NAMES: [f"{tree}:{name}" for name in sorted(links.page_names())],
        LINK_NAMES: [f"{tree}:{name}" for name in links.names],
    }


def _texts(values: Sequence[str]) -> list[str]:
    """Short texts as the engine gets them, without the parts of names: a title is about the whole name."""
    return [_normalized(value) for value in values if value]


_normalized = lru_cache(maxsize=4_096)(normalize)  # titles are repeated by the nodes below them


def _words(texts: Sequence[str]) -> list[str]:
    """The words of texts, each once: the engine takes four times as long for the texts."""
    words = " ".join(texts).encode().lower().translate(_WITHOUT_PUNCTUATION)
    return [b" ".join({*words.split()}).decode()]


def _folder_and_name(path: str) -> tuple[str, str]:
    """The folders of a document, and its file name without extension; for ``index.md`` the name of its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    if folder and stem.lower() in INDEX_NAMES:
        folder, _, stem = folder.rpartition("/")
    return folder, stem
