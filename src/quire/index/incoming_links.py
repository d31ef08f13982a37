"""The links that lead to a section, and pages that no link leads to. An update has recorded both."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from quire.index.engine.index_schema import ID
from quire.index.engine.snapshot import Snapshot
from quire.index.link_words import LinkRecord, decode_links, stored_text
from quire.index.node import Node
from quire.links.link_addresses import InternalLink, keys_by_name, last_name


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
    sources: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path, links in record.sources.items():
        for fragment, text in links:
            if node.position <= record.anchors.get(fragment, record.top) <= node.last:
                sources[f"{node.tree}:{path}"].add((fragment, text))
    for other in sorted(_records(snapshot, list(sources)), key=lambda other: other.page.path):
        document_id = f"{node.tree}:{other.page.path}"
        nodes = snapshot.nodes_of(document_id)
        for link in _leading(other, sources[document_id], record.page_names()):
            source = nodes[link.position]
            yield IncomingLink(source.id, source.tree, source.path, link.line, link.text)


def _leading(record: LinkRecord, wanted: set[tuple[str, str]], names: set[str]) -> list[InternalLink]:
    """The links with these fragments and texts; if some name the page, not the others, which may lead elsewhere."""
    alike = [link for link in record.links if (link.fragment, stored_text(link)) in wanted]
    named = {link for link in alike if names.intersection(map(last_name, keys_by_name(link.page)))}
    texts = {(link.fragment, link.text) for link in named}
    return [link for link in alike if link in named or (link.fragment, link.text) not in texts]


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
