"""``SectionName`` takes apart what a user types for a section; ``find_section`` finds the node that has this name.

    docs:guides/auth.md#oauth    an id: the tree, the path in it and the slug of a heading, or another anchor
    guides/auth.md#oauth         the same without the tree
    guides/auth.md:17-32         the section with line 17

The most literal interpretation that exists wins, so that any file name works, whatever characters it has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress

from msgspec import Struct, structs

from quire.errors import NotFoundError, similar
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import storable
from quire.index.node import Node
from quire.model.document import Document
from quire.model.page_urls import page_url
from quire.model.patterns import pattern
from quire.read.source import make_source

LIST_DOCUMENTS = "Index.documents lists what is"
"""The advice if no name is similar; the command line and the server for agents have their own."""
_MAX_COMPARED = 5_000
_SHOWN = 5
_MAX_TRIED = 20  # in how many documents of the same name a section is looked for
_SECTION = pattern(r"(?s)(.+)(#[^#]*|:([0-9]{1,9})(?:-([0-9]{1,9}))?)")


class SectionName(Struct, frozen=True):
    """The name of a document or of a section in it."""

    text: str  # as it was typed, for messages
    document: str  # an id or a path
    section: str = ""  # ``#SLUG``, ``:LINE`` or ``:LINE-LINE``; empty for the whole document
    lines: tuple[int, int] | None = None

    @classmethod
    def of(cls, text: str) -> SectionName:
        """The name with its last ``#`` or ``:LINE`` as a section."""
        match = _SECTION.fullmatch(text)
        if match is None:
            return cls(text, text)
        document, section, first, last = match.groups()
        return cls(text, document, section, (int(first), int(last or first)) if first else None)

    def of_document(self, document: str) -> SectionName:
        """The same section of another document."""
        return structs.replace(self, document=document)

    @property
    def id(self) -> str:
        """The id, if the document is one."""
        return self.document + self.section

    @property
    def anchor(self) -> str:
        """The slug after a ``#``."""
        return self.section[1:] if self.section.startswith("#") else ""


def find_section(snapshot: Snapshot, name: str | SectionName, without: Collection[str] = ()) -> Node:
    """The node called ``name``, but for those of the documents ``without``.

    An unknown or ambiguous name raises ``NotFoundError`` with similar names.
    """
    name = SectionName.of(storable(name)) if isinstance(name, str) else name
    documents = _Documents(snapshot, without)
    nodes = _candidates(documents, name)
    if len(nodes) == 1:
        return nodes[0]
    if nodes:
        ids = ", ".join(node.id for node in nodes)
        raise NotFoundError(f"{name.text}: there is more than one such section", f"choose one: {ids}")
    namesakes = _in_namesakes(documents, name)
    advice = f"similar: {', '.join(namesakes[:_SHOWN])}" if namesakes else _similar(documents, name)
    raise NotFoundError(f"{name.text}: not in the index", advice, namesakes)


class _Documents(Struct, frozen=True):
    snapshot: Snapshot
    without: Collection[str]

    @property
    def trees(self) -> list[str]:
        return sorted(self.snapshot.settings.trees)

    def ids(self, name: str) -> list[str]:
        """Those with this id, or with this path in any tree."""
        names = [name] if self.snapshot.file(name) else [f"{tree}:{name}" for tree in self.trees]
        return list(filter(self._has, names))

    def readable(self) -> list[str]:
        return list(filter(self._has, self.snapshot.files))

    def _has(self, document_id: str) -> bool:
        record = self.snapshot.file(document_id)
        return record is not None and not record.problem and document_id not in self.without

    def node(self, node_id: str) -> Node | None:
        node = self.snapshot.get(node_id)
        return None if node is None or node.document_id in self.without else node


def _candidates(documents: _Documents, name: SectionName) -> list[Node]:
    """The nodes with a name: by their ids, else by an anchor of the published page, or by a line."""
    exact = documents.node(name.id)
    in_trees = [documents.node(f"{tree}:{name.id}") for tree in documents.trees] if exact is None else [exact]
    nodes = [node for node in in_trees if node]
    for document_id in documents.ids(name.document) if not nodes and (name.anchor or name.lines) else ():
        inside = documents.snapshot.nodes_of(document_id)
        if name.lines:
            line, last = name.lines[0], inside[-1].line + len(re.findall(r"(?:\r\n|\r|\n)(?!\Z)", inside[-1].text))
            if not 1 <= line <= last:
                raise NotFoundError(f"{name.text}: {document_id} has lines 1 to {last}")
            nodes.append(next(node for node in reversed(inside) if node.line <= line))
        elif (position := _anchor_position(documents.snapshot, inside, name.anchor)) is not None:
            nodes.append(next(node for node in reversed(inside) if node.start <= position))
    return nodes


def _anchor_position(snapshot: Snapshot, nodes: Sequence[Node], anchor: str) -> int | None:
    """Where an anchor of a published page leads; the document is parsed again for it."""
    from quire.parsing import links  # noqa: PLC0415  most lookups need no parser

    rule = snapshot.settings.trees[nodes[0].tree].slug_rule
    return links.Anchors(_parsed(snapshot, nodes), rule).position(anchor, any_case=True)


def _parsed(snapshot: Snapshot, nodes: Sequence[Node]) -> Document:
    from quire.parsing.blocks import parse_source  # noqa: PLC0415  most lookups need no parser

    tree = snapshot.settings.trees[nodes[0].tree]
    text = "".join(node.text for node in nodes)
    return parse_source(make_source(text, nodes[0].path, dialect=tree.used_dialect, substitutions=tree.variables))


def section_url(snapshot: Snapshot, node: Node, base_url: str, dialect: str | None) -> str:
    """The address of a section on its published page."""
    from quire.parsing.slugs import section_anchors  # noqa: PLC0415  most lookups need no parser

    key = (node.id, base_url, dialect)
    urls = snapshot.memory["urls"]
    if key not in urls:
        document = _parsed(snapshot, snapshot.nodes_of(node.document_id))
        anchors = section_anchors(document, snapshot.settings.trees[node.tree].slug_rule)
        anchor = anchors[document.section_at(node.start)] if node.position else ""
        page = page_url(base_url, node.path, dialect, document.frontmatter)
        urls[key] = f"{page}#{anchor}" if anchor else page
    return str(urls[key])


def _in_namesakes(documents: _Documents, name: SectionName) -> tuple[str, ...]:
    """The same section in documents with the same file name, in any folder; the documents if none has it."""
    if documents.ids(name.document) or name.document in documents.without:
        return ()
    file = _file_name(name.document)
    namesakes = [
        document_id
        for document_id in documents.readable()
        if file in (_file_name(document_id), _file_name(document_id).rpartition(".")[0])
    ]
    found = []
    for section in map(name.of_document, namesakes[:_MAX_TRIED]):
        with suppress(NotFoundError):  # no such line
            found += [section.id] if _candidates(documents, section) else []
    return tuple(found or ([namesakes[0] + name.section] if len(namesakes) == 1 else namesakes))


def _file_name(path: str) -> str:
    return re.split("[/:]", path)[-1].casefold()


def _similar(documents: _Documents, name: SectionName) -> str:
    """Advice with similar names: slugs of the document if it exists, else documents."""
    for document_id in documents.ids(name.document) if name.anchor else ():
        slugs = {node.slug: node.id for node in documents.snapshot.nodes_of(document_id)}
        close = [slugs[slug] for slug in similar(name.anchor, list(slugs)[:_MAX_COMPARED], _SHOWN)]
        return f"similar: {', '.join(close)}" if close else f"there are: {', '.join([*slugs.values()][:_SHOWN])}"
    ids = documents.readable()[:_MAX_COMPARED]
    for tree in [""] if ":" in name.document else [f"{tree}:" for tree in documents.trees]:
        if close := similar(tree + name.document, ids, _SHOWN, 0.7):
            return f"similar: {', '.join(close)}"
    return LIST_DOCUMENTS
