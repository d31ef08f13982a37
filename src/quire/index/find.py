"""What a user calls a section -> the node: an id, PATH#SLUG, PATH#ANCHOR, PATH:LINE. Used by ``Index.get``.

The most literal reading that leads somewhere wins, so that any file name can be written down, whatever is in it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from quire.errors import NotFoundError
from quire.index.engine.store import Snapshot
from quire.index.node import Node
from quire.index.paths import storable

_LINE = re.compile(r"(?s)(?P<document>.+):(?P<line>[0-9]{1,9})")
LISTED = "quire ls shows what is"
"""What is advised where nothing is like a name."""
_MOST_COMPARED = 5_000
_SHOWN = 5


def find(snapshot: Snapshot, name: str) -> Node:
    """The node that ``name`` stands for."""
    name = storable(name)
    for reading in (_by_id, _by_anchor, _by_line):
        found = list(reading(snapshot, name))
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(node.id for node in found)
            raise NotFoundError(f"{name}: stands for more than one section", f"say which: {ids}")
    near = _of_that_file_name(snapshot, name)
    hint = f"near it: {', '.join(near[:_SHOWN])}" if near else _hint(snapshot, name)
    raise NotFoundError(f"{name}: not in the index", hint, near)


def documents(snapshot: Snapshot, name: str) -> list[str]:
    """The ids of the documents that ``name`` stands for: an id, or a path in any of the trees."""
    known = snapshot.files()
    if name in known:
        return [name]
    return [each for each in (f"{tree}:{name}" for tree in sorted(snapshot.settings.trees)) if each in known]


def _by_id(snapshot: Snapshot, name: str) -> Iterator[Node]:
    exact = snapshot.get(name)
    if exact is not None:
        yield exact
        return
    for tree in sorted(snapshot.settings.trees):
        found = snapshot.get(f"{tree}:{name}")
        if found is not None:
            yield found


def _by_anchor(snapshot: Snapshot, name: str) -> Iterator[Node]:
    document, mark, anchor = name.rpartition("#")
    if mark:
        for document_id in documents(snapshot, document):
            yield from (node for node in snapshot.nodes_of(document_id) if node.anchor == anchor != "")


def _by_line(snapshot: Snapshot, name: str) -> Iterator[Node]:
    match = _LINE.fullmatch(name)
    if match is None:
        return
    line = int(match["line"])
    for document_id in documents(snapshot, match["document"]):
        nodes = snapshot.nodes_of(document_id)
        if not nodes:
            continue
        most = nodes[-1].line + _line_ends(nodes[-1].text)
        if not 1 <= line <= most:
            raise NotFoundError(f"{name}: {document_id} has lines 1 to {most}")
        yield next(node for node in reversed(nodes) if node.line <= line)


def _line_ends(text: str) -> int:
    """How many lines begin in ``text`` after its first."""
    return len(re.findall(r"(?:\r\n|\r|\n)(?!\Z)", text))


def _of_that_file_name(snapshot: Snapshot, name: str) -> tuple[str, ...]:
    """The same in the documents of that file name, with or without its extension, in whatever folder."""
    document = name.rpartition("#")[0] or _LINE.sub(r"\g<document>", name)
    if documents(snapshot, document):
        return ()
    file = _file_name(document)
    alike = [each for each in snapshot.files() if file in (_file_name(each), _file_name(each).rpartition(".")[0])]
    return tuple(each + name.removeprefix(document) for each in alike)


def _file_name(path: str) -> str:
    return re.split("[/:]", path)[-1].casefold()


def _hint(snapshot: Snapshot, name: str) -> str:
    """What may have been meant."""
    document, _, slug = name.rpartition("#")
    for document_id in documents(snapshot, document) if slug else ():
        slugs = {node.slug: node.id for node in snapshot.nodes_of(document_id)}
        near = [slugs[each] for each in difflib.get_close_matches(slug, list(slugs)[:_MOST_COMPARED], n=_SHOWN)]
        return f"near it: {', '.join(near)}" if near else f"there are: {', '.join([*slugs.values()][:_SHOWN])}"
    ids = list(snapshot.files())
    wanted = document or _LINE.sub(r"\g<document>", name)
    trees = [""] if ":" in wanted else [f"{tree}:" for tree in sorted(snapshot.settings.trees)]
    found = [hint for tree in trees if (hint := _nearest(tree + wanted, ids))]
    return found[0] if found else LISTED


def _nearest(wanted: str, ids: list[str]) -> str:
    found = difflib.get_close_matches(wanted, ids[:_MOST_COMPARED], n=_SHOWN, cutoff=0.7)
    return f"near it: {', '.join(found)}" if found else ""
