"""The JSON Schema: generated, shipped, true."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import quire
from quire.model.options import STRATEGIES
from quire.output import chunk_json, record_forms
from quire.output.chunk_json import SCHEMA
from support import shared
from support.chunk_schema import generated

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "record.md"


def test_the_shipped_schema_is_that_of_the_code() -> None:
    """``QUIRE_UPDATE_DOCS=1`` writes it anew."""
    if "QUIRE_UPDATE_DOCS" in os.environ:
        SCHEMA.write_text(json.dumps(generated(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    assert chunk_json.schema() == generated(), "run `make docs` to write it anew"


def test_it_is_a_schema_with_a_version() -> None:
    schema = chunk_json.schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["version"] == chunk_json.VERSION
    assert schema["$id"] == f"urn:quire:chunk:{chunk_json.VERSION}"


def test_every_field_is_described() -> None:
    schema = chunk_json.schema()
    for part in (schema, *schema["$defs"].values()):
        for name, field in part["properties"].items():
            assert field["description"].endswith("."), name
            assert "_" not in field["description"], name
            assert "``" not in field["description"], name


def test_the_required_fields_are_those_of_the_format() -> None:
    schema = chunk_json.schema()
    assert set(schema["required"]) == {
        "id", "parentId", "chunkNumber", "contentType", "embedText", "originalText", "fileTitle", "sectionTitle",
        "headerPath", "headerBreadcrumb", "headerDepths", "headerSlugs", "sectionSlug", "sourcePosition", "tokenStats",
    }  # fmt: skip
    assert schema["$defs"]["SourcePosition"]["required"] == ["charStart", "charEnd", "totalChars"]
    assert schema["$defs"]["TokenStats"]["required"] == ["tokens", "estimatedTokens"]


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_real_chunks_validate(strategy: str) -> None:
    validator = Draft202012Validator(chunk_json.schema())
    text = "---\nx: {y: [1, null]}\n---\nPre.\n\n# A\n\n- one\n- two\n\n## B\n\n```py\nx\n```\n\n# C\n\n| a |\n|---|\n"
    chunks = quire.chunk(text, strategy, path="a.md")
    assert chunks
    for chunk in chunks:
        validator.validate(json.loads(chunk_json.encode(chunk)))


@shared.needs_shared
def test_chunks_of_shared_documents_validate() -> None:
    validator = Draft202012Validator(chunk_json.schema())
    documents = list(shared.documents())[:10]
    assert documents
    for name, data in documents:
        for chunk in list(quire.chunk(data.decode(), "tree", path=name))[:20]:
            validator.validate(json.loads(chunk_json.encode(chunk)))


def test_the_reference_has_every_field() -> None:
    assert table(chunk_json.schema()) in REFERENCE.read_text(encoding="utf-8"), "put this table into record.md"


def test_the_examples_of_the_reference_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = REFERENCE.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, names)
    record, compact, node = (json.loads(each) for each in re.findall(r"```json\n(.*?)```", page, re.DOTALL))
    chunks = names["chunks"]
    made = chunks[1].to_dict()
    assert record == {name: value for name, value in made.items() if name not in ("metadata", "contentHash")}
    assert compact == record_forms.compact(chunks[1])
    assert node == list(record_forms.nodes(chunks))[1]
    assert names["written"].refused == ()
    assert (tmp_path / "chunks/docs/doc_guide__ch1.json").exists()


def table(schema: dict[str, Any]) -> str:
    rows = [f"| `{name}` | {kind} | {meaning} |" for name, kind, meaning in _rows(schema, schema["$defs"], "")]
    return "\n".join(["| field | type | what it is |", "|---|---|---|", *rows])


def _rows(schema: dict[str, Any], definitions: dict[str, Any], before: str) -> Iterator[tuple[str, str, str]]:
    for name, field in schema["properties"].items():
        below = definitions.get(field.get("$ref", "").rpartition("/")[2], {})
        kind = " or ".join(each["type"] for each in field.get("anyOf", [below or field]))
        kind = f"array of {field['items']['type']}s" if kind == "array" else kind
        yield before + name, kind + ("" if name in schema["required"] else ", optional"), field["description"]
        if below:
            yield from _rows(below, definitions, f"{before}{name}.")


if __name__ == "__main__":
    sys.stdout.write(table(chunk_json.schema()))
