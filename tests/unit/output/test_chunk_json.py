"""Chunks to JSON and back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from msgspec.structs import fields, replace

import quire
from quire.model.chunk_record import OTHER_NAMES, Chunk
from quire.output import chunk_json
from quire.output.chunk_json import json_values
from support import grammar
from support.strategies import options

TEXT = "---\ntags: [a, b]\ndate: 2026-01-02\n---\nPreamble.\n\n# A\n\nOne é 漢 😀.\n\n## B\n\nTwo.\n"
HIGH, LOW = re.compile("[\ud800-\udbff]"), re.compile("[\udc00-\udfff]")
VALIDATOR = Draft202012Validator(chunk_json.schema())


def chunks_of(text: str = TEXT, **chosen: Any) -> quire.Chunks:
    return quire.chunk(text, "tree", **{"path": "guides/a.md", **chosen})


def record() -> dict[str, Any]:
    return chunks_of()[1].to_dict()


def assert_round_trip(chunk: Chunk) -> None:
    data = chunk_json.encode(chunk)
    assert chunk_json.decode(data) == chunk
    assert chunk_json.decode(data).content_hash == chunk.content_hash
    assert chunk_json.encode(chunk_json.decode(data)) == data
    VALIDATOR.validate(json.loads(data))


@given(grammar.documents(), options())
def test_random_chunks_come_back(text: str, chosen: dict[str, Any]) -> None:
    for chunk in quire.chunk(text, **chosen):
        assert_round_trip(chunk)


@given(grammar.documents(surrogates=True), options())
def test_lone_surrogates_come_back(text: str, chosen: dict[str, Any]) -> None:
    if HIGH.search(text):  # else two may meet, and to JSON be one character
        text = LOW.sub("", text)
    for chunk in quire.chunk(text, **chosen):
        assert_round_trip(chunk)


def test_the_json_is_that_of_to_dict() -> None:
    chunk = chunks_of()[1]
    data = chunk_json.encode(chunk)
    assert json.loads(data) == chunk.to_dict()
    assert b"\n" not in data
    assert "漢".encode() in data
    assert json.loads(chunk_json.encode(chunk, indent=2)) == chunk.to_dict()
    assert chunk_json.encode(chunk, indent=2).startswith(b'{\n  "id": "doc:guides/a.md#a",\n')


def test_two_surrogates_that_make_a_character_are_read_as_it() -> None:
    chunk = replace(chunks_of()[1], original_text="x \ud83d\ude00")
    assert chunk_json.decode(chunk_json.encode(chunk)).original_text == "x 😀"


def test_a_surrogate_is_escaped_and_nothing_else_changes() -> None:
    chunk = replace(chunks_of()[1], original_text="x \ud800 é")
    for indent in (0, 2):
        assert b"\\ud800" in chunk_json.encode(chunk, indent=indent)
        assert chunk_json.decode(chunk_json.encode(chunk, indent=indent)) == chunk


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("\udfff", "\udfff"),
        ({"\ud800": 1}, {"\ud800": 1}),
        ({3: [1, (2,)], None: "\ud800"}, {"3": [1, [2]], "None": "\ud800"}),
        ([float("nan"), "\ud800", float("inf"), 1.5], [None, "\ud800", None, 1.5]),
        ([object, "\ud800"], ["<class 'object'>", "\ud800"]),
        ({"a": object}, {"a": "<class 'object'>"}),
        (2**80, 2**80),
        (b"x", "eA=="),
    ],
)
def test_any_value_can_be_written(value: Any, written: Any) -> None:
    assert json.loads(chunk_json.to_json(value)) == written
    assert json.loads(chunk_json.to_json(value, indent=2)) == written


def test_reading_takes_bytes_text_and_mappings() -> None:
    chunk = chunks_of()[0]
    data = chunk_json.encode(chunk)
    assert chunk_json.decode(data) == chunk_json.decode(data.decode()) == chunk_json.decode(chunk.to_dict()) == chunk
    assert chunk_json.decode(b"\xef\xbb\xbf" + data) == chunk


def test_what_is_read_is_frozen() -> None:
    chunk = chunk_json.decode(record())
    with pytest.raises(TypeError):
        chunk.metadata["x"] = 1  # type: ignore[index]


def test_unknown_fields_are_passed_over() -> None:
    assert chunk_json.decode({**record(), "vector": [0.5]}) == chunks_of()[1]


def test_the_other_names_are_read() -> None:
    old = record()
    for name, today in OTHER_NAMES.items():
        old[name] = old.pop(today)
    assert "headerHierarchy" in old
    assert chunk_json.decode(old) == quire.Chunk.from_dict(old) == chunks_of()[1]
    assert chunk_json.decode({**record(), "heading": "A"}) == chunks_of()[1]
    assert quire.Chunk.from_dict({"heading": "Z", **record()}) == chunks_of()[1]
    for wrong in ([], "text", None):
        with pytest.raises(quire.InputError, match="is not a chunk record"):
            quire.Chunk.from_dict(wrong)  # type: ignore[arg-type]


def test_optional_fields_may_be_missing() -> None:
    needed = {name: value for name, value in record().items() if name in chunk_json.schema()["required"]}
    needed["sourcePosition"] = {"charStart": 1, "charEnd": 2, "totalChars": 3}
    needed["tokenStats"] = {"tokens": 1, "estimatedTokens": 2}
    VALIDATOR.validate(needed)
    chunk = chunk_json.decode(needed)
    assert (chunk.prev_id, chunk.node_types, chunk.metadata, chunk.position) == (None, (), {}, None)
    assert (chunk.source_position.start_line, chunk.token_stats.embed_tokens) == (0, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chunkNumber": "x"}, "chunkNumber='x' is invalid: must be a whole number, at least 0"),
        ({"chunkNumber": True}, "chunkNumber=True is invalid: must be a whole number, at least 0"),
        ({"id": None}, "id=None is invalid: must be a text"),
        ({"headerPath": ["a", 1]}, r"headerPath=\['a', 1\] is invalid: must be a list of texts"),
        ({"headerDepths": [7]}, r"headerDepths=\[7\] is invalid: must be a list of whole numbers"),
        ({"sourcePosition": {"charStart": 0}}, r"sourcePosition\.charEnd is missing"),
        ({"tokenStats": {"tokens": "1", "estimatedTokens": 1}}, r"tokenStats\.tokens='1' is invalid: must be a whole"),
        ({"metadata": []}, r"metadata=\[\] is invalid: must be a table"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(quire.InputError, match=message) as caught:
        chunk_json.decode({**record(), **changes}, name="a.json")
    assert str(caught.value).startswith("a.json: is not a chunk record: ")


@pytest.mark.parametrize("name", chunk_json.schema()["required"])
def test_a_missing_field_is_named(name: str) -> None:
    broken = record()
    del broken[name]
    with pytest.raises(quire.InputError, match=f"is not a chunk record: {name} is missing"):
        chunk_json.decode(broken)
    assert list(VALIDATOR.iter_errors(broken))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"id": "x",\n oops}', "is not JSON in UTF-8: .* line 2 column 2"),
        (b"", "is not JSON in UTF-8: .* line 1 column 1"),
        (b"[]", "is not a chunk record; a record is one JSON object"),
        (b"null", "is not a chunk record; a record is one JSON object"),
        (b"3", "is not a chunk record; a record is one JSON object"),
        (b'{"id": "\xff"}', "is not JSON in UTF-8: .* position 8"),
        ("[" * 200_000, "recursion depth exceeded"),
        ('{"a": ' + "9" * 10_000 + "}", "digits"),
        ('{"a": -Infinity}', "-Infinity is no number in JSON"),
        ('{"a": 1e999}', "1e999 is no number in JSON"),
    ],
    ids=["syntax", "empty", "array", "null", "number", "bytes", "deep", "long", "infinite", "too large"],
)
def test_what_is_no_record_is_an_error(data: bytes | str, message: str) -> None:
    with pytest.raises(quire.InputError, match=message):
        chunk_json.decode(data)


@pytest.mark.parametrize("separator", ["", "\n", "\r\n\n", " \n\t"])
def test_values_one_after_the_other(separator: str) -> None:
    data = separator.join(["", '{"a":\n1}', "[2]", '"\\ud800"', ""]).encode()
    lines = [1 + data[: data.index(start)].count(b"\n") for start in (b"{", b"[", b'"\\')]
    assert list(json_values(data, name="x")) == list(zip(lines, [{"a": 1}, [2], "\ud800"], strict=True))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{}\n\n{"a": oops}', "x: is not JSON in UTF-8: .* line 3 column 7"),
        (b'{}\n"\xff"', "x: is not JSON in UTF-8: .* position 4"),
        (b"[" * 200_000, "x: is not JSON in UTF-8: .*recursion depth exceeded"),
        (b'{}\n{"a": NaN}', "x: is not JSON in UTF-8: NaN is no number in JSON"),
    ],
    ids=["syntax", "bytes", "deep", "no number"],
)
def test_values_that_cannot_be_read(data: bytes, message: str) -> None:
    with pytest.raises(quire.InputError, match=message):
        list(json_values(data, name="x"))


def test_every_field_of_a_chunk_is_in_the_record() -> None:
    names = {each.encode_name for each in fields(Chunk)}
    only_with_pages = {"pages", "cells", "cellLines"}
    assert set(record()) == names - only_with_pages | {"contentHash"}
