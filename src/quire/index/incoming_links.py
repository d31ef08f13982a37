"""The links that lead to a section, and pages that no link leads to. An update has recorded both."""

from collections.abc import Iterator, Sequence

import msgspec

from quire.index.engine.node_fields import ID
from quire.index.engine.snapshot import Snapshot
from quire.index.link_words import LinkRecord, decode_links
from quire.index.node import Node


class IncomingLink(msgspec.Struct, frozen=True):
    """A link in another document."""

    id: str  # the section that has it
    tree: str
    path: str  # the document that has it, relative to the tree's folder
    line: int  # 1-based
    text: str  # what a reader sees


def incoming_links(snapshot: Snapshot, node: Node) -> Iterator[IncomingLink]:
    """The links of other documents that lead to a node or below it, in their order."""
    [record] = _records(snapshot, [node.document_id])
    sources = [f"{node.tree}:{path}" for path in record.sources]
    for other in sorted(_records(snapshot, sources), key=lambda other: other.page.path):
        for link in other.links:
            position = record.anchors.get(link.fragment, record.top)
            if link.target == record.page.path and node.position <= position <= node.last:
                [source] = snapshot.nodes_of(f"{node.tree}:{other.page.path}", link.position, link.position)
                yield IncomingLink(source.id, source.tree, source.path, link.line, link.text)


def orphans(snapshot: Snapshot) -> list[str]:
    """The ids of documents that no other one links to, without the top pages of their trees."""
    return sorted(
        f"{tree}:{record.page.path}"
        for tree in snapshot.settings.trees
        for record in _records(snapshot, [file.id for file in snapshot.files.values() if file.tree == tree])
        if not record.sources and "" not in record.page.keys
    )


def _records(snapshot: Snapshot, document_ids: Sequence[str]) -> list[LinkRecord]:
    return list(snapshot.blobs_of_documents(ID, document_ids, decode_links))
