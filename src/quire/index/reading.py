"""Files to what the index keeps of them: read, hashed, parsed, counted. Runs here or in a worker. Before: ``plan``.

This is where the parser and the tokenizer are loaded. Whoever finds nothing to read does not import this module.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import FileIO

import msgspec

from quire import parsing, read, size
from quire.errors import UndecodableError
from quire.index.engine.fields import fields_of
from quire.index.files import TOKENIZER, Note
from quire.index.nodes import cuts_of, nodes_of
from quire.index.outline import outline
from quire.index.paths import storable
from quire.index.tasks import Reading, Task, digest_of
from quire.model import Finding, Source
from quire.read.source import CONVERT, unreadable

_MOST_NOTES = 8
_ENCODER = msgspec.msgpack.Encoder()


def packed(tasks: Sequence[Task]) -> list[bytes]:
    """What ``read_tasks`` makes, to be sent to another process."""
    return [_ENCODER.encode(reading) for reading in read_tasks(tasks)]


def read_tasks(tasks: Sequence[Task]) -> list[Reading]:
    """Read some files, a few hundred KB of them, step by step; that one cannot be read is an answer, too.

    Each step uses code and tables that drive those of the others out of the processor's caches: file by file, the same
    takes a tenth longer.
    """
    counter = size.resolve(None, TOKENIZER)
    begun = [_begun(task) for task in tasks]
    whole = [(task, *each) for task, each in zip(tasks, begun, strict=True) if not isinstance(each, Reading)]
    documents = [parsing.document(source) for _, _, source in whole]
    cuts = [cuts_of(document) for document in documents]
    nodes = [
        nodes_of(document, task.tree, counter, inside)
        for (task, _, _), document, inside in zip(whole, documents, cuts, strict=True)
    ]
    fields = [fields_of(each, task.language) for (task, _, _), each in zip(whole, nodes, strict=True)]
    done = (
        Reading(
            digest=digest,
            title=made[0].title,
            tokens=made[0].full_tokens,
            nodes=as_fields,
            outline=outline(made),
            notes=tuple(_note(finding) for finding in document.findings[:_MOST_NOTES]),
        )
        for (_, digest, _), document, made, as_fields in zip(whole, documents, nodes, fields, strict=True)
    )
    return [each if isinstance(each, Reading) else next(done) for each in begun]


def _begun(task: Task) -> tuple[bytes, Source] | Reading:
    """The hash of a file's bytes, and its text; or why there is none."""
    try:
        with FileIO(os.fsdecode(task.file)) as file:
            data = file.read()
    except (OSError, ValueError) as error:
        return Reading(notes=(Note(code="unreadable", line=0, message=unreadable(error)),), failed=True)
    try:
        text, _ = read.decode(data, task.path)
    except UndecodableError as error:
        return Reading(digest=digest_of(data), notes=(_undecoded(error),), failed=True)
    return digest_of(data), read.make_source(text, path=task.path)


def _undecoded(error: UndecodableError) -> Note:
    """Why bytes are no text; an update replaces nothing in them, so that is not advised."""
    return Note(code="undecodable", line=error.line, message=error.advising(CONVERT).message)


def _note(finding: Finding) -> Note:
    return Note(code=finding.code, line=finding.line, message=storable(finding.message))
