"""One file to what the index keeps of it: read, hashed, parsed, counted. Runs here or in a worker. Before: ``plan``.

This is where the parser and the tokenizer are loaded. Whoever finds nothing to read does not import this module.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from quire import parsing, read, size
from quire.errors import UndecodableError
from quire.index.engine.fields import fields, shared
from quire.index.files import TOKENIZER, Note
from quire.index.node import Node
from quire.index.nodes import nodes_of
from quire.index.outline import outline
from quire.index.paths import storable
from quire.index.tasks import Reading, Task, digest_of
from quire.model import Finding
from quire.read.source import unreadable

_MOST_NOTES = 8
_REPEATED = 1_000
"""How many characters of a title or of front matter the nodes below repeat."""
_ENCODER = msgspec.msgpack.Encoder()


def packed(task: Task) -> bytes:
    """What ``read_task`` makes, to be sent to another process."""
    return _ENCODER.encode(read_task(task))


def read_task(task: Task) -> Reading:
    """Read one file; that it cannot be read is an answer, too."""
    try:
        data = Path(os.fsdecode(task.file)).read_bytes()
    except (OSError, ValueError) as error:
        return Reading(notes=(Note(code="unreadable", line=0, message=unreadable(error)),), failed=True)
    try:
        text, _ = read.decode(data, task.path)
    except UndecodableError as error:
        note = Note(code="undecodable", line=0, message=error.reason)
        return Reading(digest=digest_of(data), notes=(note,), failed=True)
    document = parsing.document(read.make_source(text, path=task.path))
    nodes = nodes_of(document, task.tree, size.resolve(None, TOKENIZER))
    return Reading(
        digest=digest_of(data),
        title=nodes[0].title,
        tokens=nodes[0].full_tokens,
        nodes=_as_fields(nodes, task.language),
        outline=outline(nodes),
        notes=tuple(_note(finding) for finding in document.findings[:_MOST_NOTES]),
    )


def _as_fields(nodes: Sequence[Node], language: str) -> list[dict[str, Any]]:
    """The nodes as the engine takes them, each with what it has from above: titles, and front matter.

    What is repeated for every node has a limit, so that the cost grows with the document and not with its square.
    """
    front = nodes[0].text[: nodes[0].body]
    made = [fields(nodes[0], [], language, shared(nodes[0], front, language))]
    common = shared(nodes[0], front[:_REPEATED], language) if len(nodes) > 1 else {}
    for node in nodes[1:]:
        titles = [nodes[ancestor.position].title[:_REPEATED] for ancestor in node.ancestors]
        made.append(fields(node, titles, language, common))
    return made


def _note(finding: Finding) -> Note:
    return Note(code=finding.code, line=finding.line, message=storable(finding.message))
