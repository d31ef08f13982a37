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
    near = _near(snapshot, name)
    hint = f"near it: {', '.join(near)}" if near else _sections(snapshot, name) or LISTED
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


def _near(snapshot: Snapshot, name: str) -> tuple[str, ...]:
    """What may have been meant."""
    document, _, slug = name.rpartition("#")
    for document_id in documents(snapshot, document) if slug else ():
        slugs = {node.slug: node.id for node in snapshot.nodes_of(document_id)}
        return tuple(slugs[each] for each in difflib.get_close_matches(slug, list(slugs)[:_MOST_COMPARED], n=_SHOWN))
    wanted = document or _LINE.sub(r"\g<document>", name)
    behind = name.removeprefix(wanted)
    ids = list(snapshot.files())
    file = _file_name(wanted)
    alike = [each for each in ids if file in (_file_name(each), _file_name(each).rpartition(".")[0])]
    if alike:
        return tuple(each + behind for each in alike[:_SHOWN])
    trees = [""] if ":" in wanted else [f"{tree}:" for tree in sorted(snapshot.settings.trees)]
    close = (difflib.get_close_matches(tree + wanted, ids[:_MOST_COMPARED], n=_SHOWN, cutoff=0.7) for tree in trees)
    return tuple(each + behind for each in next(filter(None, close), ()))


def _file_name(path: str) -> str:
    return re.split("[/:]", path)[-1].casefold()


def _sections(snapshot: Snapshot, name: str) -> str:
    """The first sections of a document of which one was asked for that it does not have."""
    document, mark, _ = name.rpartition("#")
    for document_id in documents(snapshot, document) if mark else ():
        return f"there are: {', '.join(node.id for node in snapshot.nodes_of(document_id)[:_SHOWN])}"
    return ""
