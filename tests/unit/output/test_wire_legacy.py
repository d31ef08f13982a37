"""Records under the names of old."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

import quire
from quire.output import chunk_json, legacy
from quire.output.legacy import RENAMED
from support import grammar
from support.strategies import options

VALIDATOR = Draft202012Validator(chunk_json.schema())

OLD: dict[str, Any] = {
    "id": "doc:auth::ch1",
    "parentId": "doc:auth",
    "chunkNumber": 1,
    "contentType": "doc",
    "embedText": "API > OAuth Setup\n\nConfigure.",
    "displayMarkdown": "Configure.",
    "charOffsets": {"charStart": 10, "charEnd": 20, "sourceLength": 99},
    "heading": "OAuth Setup",
    "headerHierarchy": "API > OAuth Setup",
    "headingTrail": ["API", "OAuth Setup"],
    "tokenCount": 3,
    "prevId": None,
    "source": {"filePath": "auth.md", "startLine": 3, "endLine": 4},
}
NEW: dict[str, Any] = {
    "id": "doc:auth::ch1",
    "parentId": "doc:auth",
    "chunkNumber": 1,
    "contentType": "doc",
    "embedText": "API > OAuth Setup\n\nConfigure.",
    "originalText": "Configure.",
    "sourcePosition": {"charStart": 10, "charEnd": 20, "totalChars": 99},
    "sectionTitle": "OAuth Setup",
    "headerBreadcrumb": "API > OAuth Setup",
    "headerPath": ["API", "OAuth Setup"],
    "tokenStats": {"tokens": 3, "estimatedTokens": 3},
    "prevId": None,
    "source": {"filePath": "auth.md", "startLine": 3, "endLine": 4},
    "fileTitle": "The API",
    "headerDepths": [1, 2],
    "headerSlugs": ["api", "oauth-setup"],
    "sectionSlug": "oauth-setup",
}


def without(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def test_the_whole_way() -> None:
    assert legacy.migrate(OLD, "The API") == NEW
    assert chunk_json.decode(NEW).header_slugs == ("api", "oauth-setup")


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_each_name(old: str, new: str) -> None:
    value = NEW[new]
    record = {**without(NEW, new), old: {**value, "sourceLength": 99} if old == "charOffsets" else value}
    if old == "charOffsets":
        del record[old]["totalChars"]
    assert legacy.migrate(record) == NEW


def test_moved_values() -> None:
    assert legacy.migrate({**without(NEW, "tokenStats"), "tokenCount": 3}) == NEW
    position = {"charStart": 10, "charEnd": 20, "sourceLength": 99}
    assert legacy.migrate({**NEW, "sourcePosition": position}) == NEW


@given(grammar.documents(surrogates=True), options())
def test_current_records_stay(text: str, chosen: dict[str, Any]) -> None:
    for chunk in quire.chunk(text, **chosen):
        record = chunk.to_dict()
        assert legacy.migrate(record) == record


def test_the_title_is_needed_only_where_it_is_missing() -> None:
    with pytest.raises(quire.InputError, match=r"a\.json: has no fileTitle.*--title"):
        legacy.migrate(OLD, name="a.json")
    assert legacy.migrate({**OLD, "fileTitle": "Own"}, "Given")["fileTitle"] == "Own"


def test_the_first_names_are_read() -> None:
    first = {"headerHierarchy": "API > OAuth Setup", "sectionId": "oauth-setup-1", "heading": "OAuth Setup"}
    record = {**without(NEW, "sectionTitle", "headerBreadcrumb", "sectionSlug", "headerSlugs"), **first}
    made = legacy.migrate(record)
    assert made["sectionSlug"] == "oauth-setup-1"
    assert made["headerSlugs"] == ["api", "oauth-setup-1"]


def test_a_path_is_guessed_from_the_breadcrumb() -> None:
    assert legacy.migrate(without(OLD, "headingTrail"), "The API")["headerPath"] == ["API", "OAuth Setup"]
    record = {**without(OLD, "headingTrail", "heading"), "headerHierarchy": ""}
    made = legacy.migrate(record, "The API")
    assert (made["headerPath"], made["sectionTitle"], made["sectionSlug"], made["headerDepths"]) == ([], "", "", [])


def test_marks_of_headings_become_depths() -> None:
    marked = {"heading": "### Base", "headerHierarchy": "# Typography > ### Base"}
    for path in ({"headerPath": ["# Typography", "### Base"]}, {"headingTrail": ["# Typography", "### Base"]}, {}):
        old = {**without(OLD, "headingTrail"), **marked, **path}
        made = legacy.migrate(old, "T")
        assert (made["headerPath"], made["headerDepths"]) == (["Typography", "Base"], [1, 3])
        assert (made["headerSlugs"], made["sectionSlug"]) == (["typography", "base"], "base")
        assert (made["sectionTitle"], made["headerBreadcrumb"]) == ("Base", "Typography > Base")
        assert legacy.migrate(made) == made


def test_a_title_that_begins_with_a_mark_stays_where_depths_are_known() -> None:
    record = {
        **NEW,
        "headerPath": ["API", "# define"],
        "sectionTitle": "# define",
        "headerBreadcrumb": "API > # define",
    }
    assert legacy.migrate(record) == record


def test_slugs_are_github_s() -> None:
    made = legacy.migrate({**OLD, "headingTrail": ["Ünï cödé", "C++ & co"]}, "T")
    assert made["headerSlugs"] == ["ünï-cödé", "c--co"]


@pytest.mark.parametrize("name", ["id", "embedText", "displayMarkdown", "charOffsets", "tokenCount"])
def test_what_cannot_be_known_is_an_error(name: str) -> None:
    missing = {**RENAMED, "tokenCount": "tokenStats"}.get(name, name)
    with pytest.raises(quire.InputError, match=f"is not a chunk record: {missing} is missing"):
        legacy.migrate(without(OLD, name), "T")


@pytest.mark.parametrize(
    "other",
    [
        {"heading": "Other"},
        {"sectionId": ""},
        {"tokenCount": 99},
        {"charOffsets": {}},
        {"sourcePosition": {"sourceLength": 777, **NEW["sourcePosition"]}},
    ],
)
def test_of_two_values_for_one_field_the_current_name_has_the_right_one(other: dict[str, Any]) -> None:
    assert legacy.migrate({**NEW, **other}) == legacy.migrate({**other, **NEW}) == NEW


def test_one_value_under_two_names_is_none() -> None:
    both = {**NEW, "heading": "OAuth Setup", "tokenCount": 3}
    both["sourcePosition"] = {**NEW["sourcePosition"], "sourceLength": 99}
    assert legacy.migrate(both) == NEW


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heading": None}, "sectionTitle=None is invalid: must be a text"),
        ({"headingTrail": ["API", 3]}, "headerPath=['API', 3] is invalid: must be a list of texts"),
        ({"displayMarkdown": []}, "originalText=[] is invalid: must be a text"),
        ({"tokenCount": "4"}, "tokenStats.tokens='4' is invalid: must be a whole number, at least 0"),
        ({"tokenCount": None}, "tokenStats.tokens=None is invalid"),
        ({"tokenStats": "x"}, "tokenStats='x' is invalid: must be a table"),
        ({"tokenStats": {"estimatedTokens": "x"}}, "tokenStats.estimatedTokens='x' is invalid: must be a whole"),
        ({"charOffsets": [0, 9]}, "sourcePosition=[0, 9] is invalid: must be a table"),
        (
            {"charOffsets": {"charStart": 0, "charEnd": 1, "sourceLength": "9"}},
            "sourcePosition.totalChars='9' is invalid: must be a whole number",
        ),
        ({"charOffsets": {"charStart": 0, "sourceLength": 9}}, "sourcePosition.charEnd is missing"),
        ({"headerDepths": [7, 8]}, "headerDepths=[7, 8] is invalid: must be a list of whole numbers"),
        ({"contentHash": 3}, "contentHash=3 is invalid: must be a text"),
    ],
)
def test_a_field_of_another_type_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(quire.InputError) as caught:
        legacy.migrate({**OLD, **changes}, "T", name="a.json")
    assert caught.value.reason.startswith(f"is not a chunk record: {message}")
    assert "regenerate it from its document" in caught.value.reason


def test_records_of_today_are_checked_too() -> None:
    with pytest.raises(quire.InputError, match="sectionTitle=None is invalid: must be a text"):
        legacy.migrate({**NEW, "sectionTitle": None})


def test_a_title_of_null_is_none() -> None:
    assert legacy.migrate({**OLD, "fileTitle": None}, "The API") == NEW
    assert legacy.migrate({**NEW, "fileTitle": None}, "The API") == NEW
    for record in (OLD, NEW):
        with pytest.raises(quire.InputError, match=r"has no fileTitle.*--title"):
            legacy.migrate({**record, "fileTitle": None})


@pytest.mark.parametrize("record", [{}, {"a": 1}, {"id": "x", "file": "a.md", "title": "T", "body": "b"}])
def test_of_what_is_no_record_the_title_is_not_asked_for(record: dict[str, Any]) -> None:
    first = "parentId" if "id" in record else "id"
    with pytest.raises(quire.InputError, match=f"is not a chunk record: {first} is missing"):
        legacy.migrate(record)


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_what_is_no_record_is_an_error(value: Any) -> None:
    with pytest.raises(quire.InputError, match="is not a chunk record"):
        legacy.migrate(value)


@pytest.mark.parametrize("name", sorted(OLD))
@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [None], True])
def test_odd_values_are_refused_or_make_a_sound_record(name: str, value: Any) -> None:
    with suppress(quire.InputError):
        made = legacy.migrate({**OLD, name: value}, "T")
        assert chunk_json.decode(made).file_title
        VALIDATOR.validate(made)
