"""Brings vectors up to date with the index: only texts without a vector are embedded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from quire.embed import Embedder, passages
from quire.errors import EmbedderError
from quire.index.engine.snapshot import Snapshot
from quire.index.node import Node
from quire.vectors.vector_files import DocumentVectors, Table, current_folder
from quire.vectors.vector_folder import VectorFolder, folder_for, make_current, text_hash

_TEXTS = 2_000
"""About so many texts are embedded before what is done is committed."""


class VectorUpdate(NamedTuple):
    """What an update of vectors has done."""

    embedded: int  # texts
    documents: int  # with new or changed vectors
    removed: int  # documents that are gone


def update_vectors(
    index: Path,
    snapshot: Snapshot,
    embedder: Embedder,
    *,
    name: str = "",
    on_progress: Callable[[int, int, str], None] | None = None,
) -> VectorUpdate:
    """Give every node of ``snapshot`` its vector. ``name`` is how ``embed.resolve`` finds the embedder again.

    What is embedded is committed now and then, so an update that is interrupted continues where it was. Searches use
    the vectors of another model until these are complete.
    """
    path = folder_for(index, embedder.name, embedder.version)
    folder = VectorFolder.load(path) or VectorFolder(path, Table(name, embedder.name, embedder.version))
    files = {key: record for key, record in snapshot.files.items() if not record.failed}
    documents = {key: vectors for key, vectors in folder.table.documents.items() if key in files}
    removed = len(folder.table.documents) - len(documents)
    stale = [key for key, record in files.items() if key not in documents or documents[key].digest != record.digest]
    embedded = 0
    for number, (batch, texts) in enumerate(_batches(snapshot, stale, embedder)):
        if on_progress:
            on_progress(number, len(stale), batch[0][0])
        embedded += _embed(folder, embedder, texts)
        for key, owned in batch:
            rows = [folder.row_of(text_hash(text)) for _, text in owned]
            documents[key] = DocumentVectors(
                files[key].digest,
                tuple([position for position, _ in owned]),
                tuple([row for row in rows if row is not None]),
            )
        folder.commit(documents)
    if removed and not stale:
        folder.commit(documents)
    folder = folder.compacted()
    if current_folder(index) != folder.path:
        make_current(index, folder)
    return VectorUpdate(embedded, len(stale), removed)


Owned = tuple[int, str]
"""The position of a node, and one of its passages."""


def _batches(
    snapshot: Snapshot, documents: Sequence[str], embedder: Embedder
) -> Iterator[tuple[list[tuple[str, list[Owned]]], list[str]]]:
    """Some documents with the passages of their nodes, and all these passages."""
    batch: list[tuple[str, list[Owned]]] = []
    texts: list[str] = []
    for key in documents:
        owned = [
            (node.position, text)
            for node in _with_text(snapshot.nodes_of(key))
            for text in passages(node_text(node), embedder)
        ]
        batch.append((key, owned))
        texts += [text for _, text in owned]
        if len(texts) >= _TEXTS:
            yield batch, texts
            batch, texts = [], []
    if batch:
        yield batch, texts


def _with_text(nodes: Sequence[Node]) -> list[Node]:
    """A node without text of its own would be found by its title alone, before those that say something."""
    return [node for node in nodes if node.body_text.strip()]


def node_text(node: Node) -> str:
    """The text of a node that is embedded: where it is in the document, and what it says."""
    return f"{' > '.join(node.breadcrumb)}\n\n{node.body_text}".strip()


def _embed(folder: VectorFolder, embedder: Embedder, texts: Sequence[str]) -> int:
    """Embed those texts that have no vector yet; return how many these were."""
    missing = {digest: text for text in texts if folder.row_of(digest := text_hash(text)) is None}
    if not missing:
        return 0
    vectors = np.asarray(embedder.embed(list(missing.values())), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(missing) or not np.isfinite(vectors).all():
        problem = f"{embedder.name}: {len(missing)} texts gave an array of shape {vectors.shape}"
        raise EmbedderError(problem, "an embedder must return one vector of finite numbers per text")
    folder.append(list(missing), vectors)
    return len(missing)
