"""What callers give by mistake: the error says what to give."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import quire
from quire.output import chunk_json

TEXT = "# A\n\nx\n"


@pytest.mark.parametrize(
    ("chunks", "named"),
    [
        (None, "NoneType"),
        (3, "int"),
        ("abc", "str"),
        (quire.chunk(TEXT)[0], "Chunk"),
        ([1], "int"),
        ([*quire.chunk(TEXT), None], "NoneType"),
        ([json.loads(chunk_json.encode(chunk)) for chunk in quire.chunk(TEXT)], "dict"),
    ],
)
def test_what_are_no_chunks_is_not_verified(chunks: Any, named: str) -> None:
    message = f"quire.verify takes the Chunk records of a text, as a list, not {named}; quire.output.decode makes them"
    with pytest.raises(TypeError, match=re.escape(message)):
        quire.verify(TEXT, chunks)


def test_what_was_read_from_json_is_verified_once_it_is_decoded() -> None:
    records = [json.loads(chunk_json.encode(chunk)) for chunk in quire.chunk(TEXT)]
    assert quire.verify(TEXT, [chunk_json.decode(record) for record in records]) == []


@pytest.mark.parametrize("file", [None, 3, b"a.md"])
def test_what_is_no_path_is_no_file(file: Any) -> None:
    with pytest.raises(TypeError, match=type(file).__name__):
        quire.chunk_file(file)


def test_chunks_of_a_text_that_is_gone_are_reported() -> None:
    findings = quire.verify("", quire.chunk("Word. " * 100, "packed", max_tokens=32))
    assert {"impossible-span"} <= {finding.code for finding in findings}
