"""Records under the names of old."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given

import quire
from quire import wire
from quire.wire.legacy import RENAMED
from support import grammar
from support.strategies import options

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
    assert wire.migrate(OLD, "The API") == NEW
    assert wire.decode(NEW).header_slugs == ("api", "oauth-setup")


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_each_name_in_both_directions(old: str, new: str) -> None:
    value = NEW[new]
    record = {**without(NEW, new), old: {**value, "sourceLength": 99} if old == "charOffsets" else value}
    if old == "charOffsets":
        del record[old]["totalChars"]
    assert wire.migrate(record) == NEW
    back = wire.legacy(NEW)
    assert new not in back
    assert back[old] == record[old]


def test_moved_values_in_both_directions() -> None:
    back = wire.legacy(NEW)
    assert back["tokenCount"] == 3
    assert back["charOffsets"] == {"charStart": 10, "charEnd": 20, "sourceLength": 99}
    assert wire.migrate(back) == NEW
    assert wire.migrate({**without(NEW, "tokenStats"), "tokenCount": 3}) == NEW
    position = {"charStart": 10, "charEnd": 20, "sourceLength": 99}
    assert wire.migrate({**NEW, "sourcePosition": position}) == NEW


@given(grammar.documents(surrogates=True), options())
def test_nothing_is_lost_on_the_way_back_and_forth(text: str, chosen: dict[str, Any]) -> None:
    for chunk in quire.chunk(text, **chosen):
        record = chunk.to_dict()
        old = wire.legacy(record)
        assert not set(RENAMED.values()) & set(old)
        assert wire.migrate(old) == record
        assert wire.migrate(record) == record


def test_the_title_is_needed_only_where_it_is_missing() -> None:
    with pytest.raises(quire.InputError, match=r"a\.json: has no fileTitle.*--title"):
        wire.migrate(OLD, name="a.json")
    assert wire.migrate({**OLD, "fileTitle": "Own"}, "Given")["fileTitle"] == "Own"


def test_the_first_names_are_read() -> None:
    first = {"headerHierarchy": "API > OAuth Setup", "sectionId": "oauth-setup-1", "heading": "OAuth Setup"}
    record = {**without(NEW, "sectionTitle", "headerBreadcrumb", "sectionSlug", "headerSlugs"), **first}
    made = wire.migrate(record)
    assert made["sectionSlug"] == "oauth-setup-1"
    assert made["headerSlugs"] == ["api", "oauth-setup-1"]


def test_what_is_guessed_is_said() -> None:
    assert wire.guessed(OLD) == ("headerDepths", "headerSlugs")
    assert wire.guessed(without(OLD, "headingTrail")) == ("headerPath", "headerDepths", "headerSlugs")
    assert wire.guessed({**OLD, "headingTrail": []}) == ()
    assert wire.guessed(NEW) == ()


def test_a_path_is_guessed_from_the_breadcrumb() -> None:
    assert wire.migrate(without(OLD, "headingTrail"), "The API")["headerPath"] == ["API", "OAuth Setup"]
    record = {**without(OLD, "headingTrail", "heading"), "headerHierarchy": ""}
    made = wire.migrate(record, "The API")
    assert (made["headerPath"], made["sectionTitle"], made["sectionSlug"], made["headerDepths"]) == ([], "", "", [])


def test_slugs_are_github_s() -> None:
    made = wire.migrate({**OLD, "headingTrail": ["Ünï cödé", "C++ & co"]}, "T")
    assert made["headerSlugs"] == ["ünï-cödé", "c--co"]


@pytest.mark.parametrize("name", ["id", "embedText", "displayMarkdown", "charOffsets", "tokenCount"])
def test_what_cannot_be_known_is_an_error(name: str) -> None:
    with pytest.raises(
        quire.InputError, match=f"has no {RENAMED.get(name, 'tokenStats' if name == 'tokenCount' else name)}"
    ):
        wire.migrate(without(OLD, name), "T")


def test_two_values_for_one_field_are_an_error() -> None:
    with pytest.raises(quire.InputError, match="field sectionTitle: comes under its old and its new name"):
        wire.migrate({**NEW, "heading": "Other"})
    assert wire.migrate({**NEW, "heading": "OAuth Setup"}) == NEW


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_what_is_no_record_is_an_error(value: Any) -> None:
    with pytest.raises(quire.InputError, match="is not a chunk record"):
        wire.migrate(value)


@pytest.mark.parametrize("name", sorted(OLD))
@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [None], True])
def test_odd_values_never_crash(name: str, value: Any) -> None:
    with suppress(quire.InputError):
        assert wire.migrate({**OLD, name: value}, "T")["fileTitle"]
    assert isinstance(wire.legacy({**NEW, name: value}), dict)
