"""``quire config``: every value with where it came from."""

from __future__ import annotations

import json

import pytest
from outputs import refused

from quire.workspace.settings import search_fields


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_value_is_shown(run, project) -> None:
    result = run("config")
    assert (result.code, result.err) == (0, "")
    lines = result.out.decode().splitlines()
    assert [line.split()[0] for line in lines] == [f"search.{name}" for name in search_fields()]
    (project / "quire.toml").write_text('trees.docs = "docs"\n')
    lines = run("config").out.decode().splitlines()
    shown = [line.split() for line in lines]
    assert shown[0] == ["index", f'"{project}/.quire"', "default"]
    assert [value for value in shown if value[0].startswith("trees.")] == [
        ["trees.docs.path", f'"{project}/docs"', "quire.toml"],
        ["trees.docs.errors", '"strict"', "default"],
        ["trees.docs.language", '"english"', "default"],
        ["trees.docs.weight", "1.0", "default"],
    ]


def test_origins(run, docs, monkeypatch) -> None:
    folder = docs({"quire.toml": '[trees]\ndocs = "docs"\n[search]\nlimit = 3\n', "docs/a.md": "x"})
    monkeypatch.setenv("QUIRE_SEARCH_MAX_TOKENS", "99")
    monkeypatch.chdir(folder / "docs")
    lines = {line.split()[0]: line.split()[1:] for line in run("config").out.decode().splitlines()}
    assert lines["trees.docs.path"] == [f'"{folder}/docs"', "../quire.toml"]
    assert lines["search.limit"] == ["3", "../quire.toml"]
    assert lines["search.max_tokens"] == ["99", "QUIRE_SEARCH_MAX_TOKENS"]


def test_json(run, docs) -> None:
    folder = docs({"quire.toml": "[search]\nlimit = 3\n"})
    values = json.loads(run("config", "--json").out)
    assert values["search.limit"] == {"value": 3, "origin": f"{folder}/quire.toml"}
    assert values["search.boosts.title"]["origin"] == "default"


def test_a_mistake_is_one_line(run, docs) -> None:
    folder = docs({"quire.toml": "[search]\nlimt = 3\n"})
    said = refused(run("config", "--json"))
    assert said.startswith(f"quire: {folder}/quire.toml: unknown key search.limt (did you mean search.limit?)")


def test_a_folder_that_is_gone(run, project) -> None:
    gone = project / "gone"
    gone.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(gone)
        gone.rmdir()
        assert "the current folder is gone" in refused(run("config"))


def test_a_named_file_instead_of_the_nearest(run, docs, monkeypatch) -> None:
    """It was named by the user, so its trees may be anywhere."""
    folder = docs(
        {
            "project/quire.toml": "[search]\nlimit = 3\n",
            "settings/ci.toml": '[trees]\nx = "../elsewhere"\n[search]\nlimit = 4\n[embed]\nwindow = 9\n',
            "elsewhere/a.md": "# Needle\n",
        }
    )
    monkeypatch.chdir(folder / "project")
    limit = "search.limit"
    assert json.loads(run("config", "--json").out)[limit]["value"] == 3
    values = json.loads(run("config", "--json", "--config", "../settings/ci.toml").out)
    assert values[limit] == {"value": 4, "origin": str(folder / "settings/ci.toml")}
    assert values["embed.window"]["value"] == 9
    assert b"x:a.md" in run("search", "needle", "--json", "--config", "../settings/ci.toml").out
    assert json.loads(run("config", "--json").out)[limit]["value"] == 3  # it holds for one call
    monkeypatch.setenv("QUIRE_CONFIG", "../settings/ci.toml")
    assert json.loads(run("config", "--json").out)[limit]["value"] == 4
    assert "none.toml: no such file; name a quire.toml" in run("config", "--config", "none.toml").err
