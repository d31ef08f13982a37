"""The compact and the flat record of a chunk, and the node record of the heading tree."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct, structs

from quire.cut.chunk_fields import node_id
from quire.errors import OptionError
from quire.model import breadcrumbs
from quire.model.chunk_record import Chunk, Chunks, Number, plain_values
from quire.model.document import OWN_METADATA, UNTITLED
from quire.model.offsets import bytes_at, trimmed
from quire.model.validation import check
from quire.output.chunk_json import is_record, to_json
from quire.parsing.headings import ids_end
from quire.read import frontmatter
from quire.tokens.token_counters import estimated

Form = Literal["chunk", "compact", "flat", "node"]
Documents: TypeAlias = Iterable[Chunks] | list[Chunk]  # the chunks of several documents, or of one

_HEADING = re.compile(
    r" {0,3}(?:(?P<atx>#{1,6})(?=[ \t\r\n]|$)[^\r\n]*"
    r"|(?:[^\r\n]*\S[^\r\n]*(?:\r\n?|\n))+? {0,3}(?P<underline>=+|-+)[ \t]*)(?:\r\n?|\n|\Z)"
)
_NOT_FLAT = frozenset({"headerBreadcrumb", "headerDepths", "metadata", "position"})
_JOINTS = {"headerPath": breadcrumbs.SEPARATOR, "headerSlugs": "/", "pages": "-", "cells": "-", "cellLines": "-"}


def _flat_types(record: type[Struct]) -> Iterator[tuple[str, type]]:
    for field in structs.fields(record):
        if is_record(field.type):
            yield from _flat_types(field.type)
        elif field.encode_name not in _NOT_FLAT:
            yield field.encode_name, int if field.type in (int, Number) else str


FLAT: Mapping[str, type] = {**dict(_flat_types(Chunk)), "contentHash": str, "tags": str, "frontMatter": str}
"""The fields of the flat record and their types."""


def records(chunks: Chunks, form: Form = "chunk") -> Iterable[dict[str, Any]]:
    """The chunks of a document in one of the ``FORMS``. For ``node``, a plain list of chunks is not enough."""
    check("form", form, Form)
    is_list = isinstance(chunks, list | tuple) and all(isinstance(chunk, Chunk) for chunk in chunks)
    if not isinstance(chunks, Chunks) and (form == "node" or not is_list):
        raise not_chunks(chunks)
    return FORMS[form](chunks)


def each_document(documents: Documents) -> Iterable[Chunks]:
    """The documents to write; a single one may be given as its chunks."""
    is_one = isinstance(documents, Chunks) or (isinstance(documents, list) and isinstance((*documents, None)[0], Chunk))
    return cast("Iterable[Chunks]", [documents] if is_one else documents)


def not_chunks(value: object) -> OptionError:
    """The error for a value that is not the chunks of a document."""
    return OptionError(f"expected the result of quire.chunk, or a list of such results, not {type(value).__name__}")


def compact(chunk: Chunk) -> dict[str, Any]:
    """The compact record: position, headings in one line, and the text without its own heading."""
    path = chunk.metadata.get("sourceFile")
    file = path if isinstance(path, str) else UNTITLED
    body = _body(chunk)
    return {
        "id": f"{file}:{chunk.chunk_number}",
        "file": file,
        "title": chunk.section_title,
        "headings": chunk.header_breadcrumb,
        "body": body,
        "startLine": chunk.source_position.start_line,
        "endLine": chunk.source_position.end_line,
        "tokenEstimate": estimated(body),
    }


def flat(chunk: Chunk) -> dict[str, str | int]:
    """The chunk as texts and whole numbers only, the same for every chunk; a missing value is an empty text."""
    record = chunk.to_dict()
    record |= {**record["sourcePosition"], **record["tokenStats"]}
    record |= {"tags": list(frontmatter.tags(chunk.metadata)), "frontMatter": front_matter(chunk)}
    for name, value in record.items():
        if isinstance(value, list):
            record[name] = _JOINTS.get(name, ", ").join(map(str, value))
    return {name: "" if record.get(name) is None else record[name] for name in FLAT}


def front_matter(chunk: Chunk) -> str:
    """The document's front matter as a JSON object."""
    written = {name: value for name, value in chunk.metadata.items() if name not in OWN_METADATA}
    return to_json(plain_values(written)).decode()


def _body(chunk: Chunk) -> str:
    """The text without the section's own heading: no other of its depth can be at the start of a chunk."""
    text = chunk.original_text
    if not chunk.header_depths or chunk.overlap_chars or chunk.node_types[:1] != ("heading",):
        return text
    heading = _HEADING.match(text, ids_end(text, 0, len(text)))
    if heading is None:
        return text
    level = len(heading["atx"]) if heading["atx"] else 1 + (heading["underline"][0] == "-")
    return text[slice(*trimmed(text, heading.end(), len(text)))] if level == chunk.header_depths[-1] else text


def nodes(chunks: Chunks, *, every: bool = False) -> Iterator[dict[str, Any]]:
    """The node records of a document in order: nodes with text of their own, or all nodes with ``every``."""
    document, options = chunks.document, chunks.options
    sections = [node for node in document.nodes if every or node.text_start < node.text_end]
    in_bytes = bytes_at(document.text, [edge for section in sections for edge in section.body])
    for section, byte_start, byte_end in zip(sections, in_bytes[::2], in_bytes[1::2], strict=True):
        path = document.path_to(section)
        yield {
            "id": node_id(document, section.number, options),
            "doc_id": node_id(document, 0, options),
            "parent_id": None if section.parent is None else node_id(document, section.parent, options),
            "depth": section.depth,
            "position": section.position,
            "title": section.title,
            "slug": section.slug,
            "byte_start": byte_start,
            "byte_end": byte_end,
            "body": document.text[section.body_start : section.body_end],
            "breadcrumb": breadcrumbs.reader_line(
                document.title, [ancestor.title for ancestor in path], from_first=bool(path) and path[0].number == 1
            ),
            "path": document.path if document.path is not None else UNTITLED,
            "tree": options.tree_name,
        }


FORMS: Mapping[str, Callable[[Chunks], Iterable[dict[str, Any]]]] = {
    "chunk": lambda chunks: (chunk.to_dict() for chunk in chunks),
    "compact": lambda chunks: map(compact, chunks),
    "flat": lambda chunks: map(flat, chunks),
    "node": nodes,
}
"""The functions that make each form of record, by name."""
