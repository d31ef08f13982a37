"""Finds the node that a user names: by its id, ``PATH#SLUG``, ``PATH#ANCHOR`` or ``PATH:LINE``.

The most literal interpretation that exists wins, so that any file name works, whatever characters it has.
"""

import re
from collections.abc import Iterator

from quire import read
from quire.errors import NotFoundError, similar
from quire.index.engine.snapshot import Snapshot
from quire.index.file_records import storable
from quire.index.node import Node
from quire.patterns import pattern

_LINE = pattern(r"(?s)(?P<document>.+):(?P<line>[0-9]{1,9})(?:-[0-9]{1,9})?")
USE_OUTLINE = "quire outline shows what is"  # the advice if no name is similar
_MAX_COMPARED = 5_000
_SHOWN = 5
_MAX_TRIED = 20  # in how many documents of the same name a section is looked for


def find_section(snapshot: Snapshot, name: str) -> Node:
    """The node called ``name``. An unknown or ambiguous name raises ``NotFoundError`` with similar names."""
    name = storable(name)
    for lookup in (_by_id, _by_anchor, _by_line):
        nodes = list(lookup(snapshot, name))
        if len(nodes) == 1:
            return nodes[0]
        if nodes:
            ids = ", ".join(node.id for node in nodes)
            raise NotFoundError(f"{name}: there is more than one such section", f"choose one: {ids}")
    namesakes = _in_namesakes(snapshot, name)
    advice = f"similar: {', '.join(namesakes[:_SHOWN])}" if namesakes else _similar(snapshot, name)
    raise NotFoundError(f"{name}: not in the index", advice, namesakes)


def _document_ids(snapshot: Snapshot, name: str) -> list[str]:
    """The documents with this id, or with this path in any tree; without those that could not be read."""
    ids = [name] if name in snapshot.files else [f"{tree}:{name}" for tree in sorted(snapshot.settings.trees)]
    return [document_id for document_id in ids if (record := snapshot.files.get(document_id)) and not record.failed]


def _by_id(snapshot: Snapshot, name: str) -> Iterator[Node]:
    exact = snapshot.get(name)
    in_trees = (snapshot.get(f"{tree}:{name}") for tree in sorted(snapshot.settings.trees))
    yield from filter(None, in_trees if exact is None else [exact])


def _by_anchor(snapshot: Snapshot, name: str) -> Iterator[Node]:
    """The section that an anchor of the published page leads to; the document is parsed again for it."""
    path, mark, anchor = name.rpartition("#")
    if not (mark and anchor):
        return
    from quire.parsing import document, links  # noqa: PLC0415  most lookups need no parser

    for document_id in _document_ids(snapshot, path):
        nodes = snapshot.nodes_of(document_id)
        tree = snapshot.settings.trees[nodes[0].tree]
        text = "".join(node.text for node in nodes)
        source = read.make_source(text, nodes[0].path, dialect=tree.used_dialect, substitutions=tree.variables)
        position = links.Anchors(document(source), tree.slug_rule).position(anchor, any_case=True)
        if position is not None:
            yield next(node for node in reversed(nodes) if node.start <= position)


def _by_line(snapshot: Snapshot, name: str) -> Iterator[Node]:
    match = _LINE.fullmatch(name)
    if match is None:
        return
    line = int(match["line"])
    for document_id in _document_ids(snapshot, match["document"]):
        nodes = snapshot.nodes_of(document_id)
        last = nodes[-1].line + len(re.findall(r"(?:\r\n|\r|\n)(?!\Z)", nodes[-1].text))
        if not 1 <= line <= last:
            raise NotFoundError(f"{name}: {document_id} has lines 1 to {last}")
        yield next(node for node in reversed(nodes) if node.line <= line)


def _in_namesakes(snapshot: Snapshot, name: str) -> tuple[str, ...]:
    """The same section in documents with the same file name, in any folder; the documents if none has it."""
    document = name.rpartition("#")[0] or _LINE.sub(r"\g<document>", name)
    if _document_ids(snapshot, document):
        return ()
    file = _file_name(document)
    namesakes = [
        document_id
        for document_id in _readable(snapshot)
        if file in (_file_name(document_id), _file_name(document_id).rpartition(".")[0])
    ]
    sections = [document_id + name.removeprefix(document) for document_id in namesakes[:_MAX_TRIED]]
    return tuple(
        [section for section in sections if _exists(snapshot, section)]
        or (sections if len(sections) == 1 else namesakes)
    )


def _exists(snapshot: Snapshot, name: str) -> bool:
    try:
        return any(next(find(snapshot, name), None) for find in (_by_id, _by_anchor, _by_line))
    except NotFoundError:  # no such line
        return False


def _readable(snapshot: Snapshot) -> list[str]:
    return [record.id for record in snapshot.files.values() if not record.failed]


def _file_name(path: str) -> str:
    return re.split("[/:]", path)[-1].casefold()


def _similar(snapshot: Snapshot, name: str) -> str:
    """Advice with similar names: slugs of the document if it exists, else documents."""
    document, _, slug = name.rpartition("#")
    for document_id in _document_ids(snapshot, document) if slug else ():
        slugs = {node.slug: node.id for node in snapshot.nodes_of(document_id)}
        close = [slugs[name_of_section] for name_of_section in similar(slug, list(slugs)[:_MAX_COMPARED], _SHOWN)]
        return f"similar: {', '.join(close)}" if close else f"there are: {', '.join([*slugs.values()][:_SHOWN])}"
    ids = _readable(snapshot)[:_MAX_COMPARED]
    wanted = document or _LINE.sub(r"\g<document>", name)
    for tree in [""] if ":" in wanted else [f"{tree}:" for tree in sorted(snapshot.settings.trees)]:
        if close := similar(tree + wanted, ids, _SHOWN, 0.7):
            return f"similar: {', '.join(close)}"
    return USE_OUTLINE
