"""What people and scripts try first: missing folders, paths in place of texts, files that exist already."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from outputs import left, refused

import quire
from quire.cli.output import progress_line
from quire.errors import NotFoundError
from quire.mcp.answers import Service
from quire.mcp.tools import Get, Status
from quire.workspace.settings import load
from quire.workspace.workspace import Workspace

needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="has no pty")


@pytest.fixture(autouse=True)
def project(docs, monkeypatch):
    folder = docs({"docs/a.md": "# Install\n\nHow to install it: nope.\n", "README.md": "# Read me\n"})
    monkeypatch.chdir(folder)
    return folder


# A folder that is not there


@pytest.mark.parametrize("more", [[], ["--json"], ["--list"], ["-n", "1"]])
def test_a_word_after_a_query_that_names_nothing_is_an_error(run, more) -> None:
    said = refused(run("search", "install", "nope", *more))
    assert said == ("quire: nope: no such file or folder; check the path, or put a query of several words in quotes\n")
    assert "nope: no such file or folder" in refused(run("search", "how to", "nope"))
    assert "nope: no such file or folder" in refused(run("search", "-e", "install", "nope"))


@pytest.mark.parametrize("arguments", [["search", "b", "-"], ["search", "-e", "b", "-"], ["index", "-"], ["eval", "-"]])
def test_standard_input_cannot_be_searched(run, arguments) -> None:
    assert "quire: -: no such file or folder" in refused(run(*arguments, stdin=b"b"))


# A name without a configuration


@pytest.mark.parametrize(
    "arguments", [["get", "nope.md"], ["get", "docs:nope.md#x"], ["outline", "nope.md"], ["outline", "docs:nope.md"]]
)
def test_a_missing_name_indexes_nothing(run, project, user_folders, arguments) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (1, b"")
    assert f"quire: {arguments[1]}: no such file, and not in the index of a folder searched before; " in result.err
    assert not (user_folders / "cache").exists()
    assert left(project) == ["README.md", "docs"]


def test_a_name_of_a_folder_that_was_searched(run) -> None:
    run("search", "install", "docs")
    for more in ([], ["--no-update"]):
        assert run("get", "docs:a.md#install", *more).code == run("outline", "docs:a.md", *more).code == 0
    assert json.loads(run("get", "--json", "docs:b.md").out) == []


# A path in place of a text


@pytest.mark.parametrize("text", ["README.md", "docs/a.md", "./README.md\n", " README.md "])
@pytest.mark.parametrize("cut", [quire.chunk, quire.parse])
def test_the_path_of_a_file_is_not_its_text(project, text, cut) -> None:
    for given in (text, str(project / text.strip())):
        (finding,) = cut(given).findings
        assert (finding.code, finding.path, finding.line) == ("path-as-text", "<text>", 1)
        assert "quire.chunk_file" in finding.message


def test_the_path_of_a_folder() -> None:
    assert "quire.chunk_dir" in quire.chunk("docs/").findings[0].message


@pytest.mark.parametrize("text", ["docs", "nope.md", "README.md\nand more\n", "", "a\0b", "x" * 5000])
def test_other_texts_are_no_paths(text) -> None:
    assert quire.chunk(text).findings == ()


def test_a_named_text_may_be_a_path() -> None:
    assert quire.chunk("README.md", path="list.md").findings == ()
    assert quire.verify("README.md", quire.chunk("README.md")) == []


# Each surface has its own words


def test_words_of_the_server_for_agents(project) -> None:
    with Workspace.open_updated(["docs"]) as workspace:
        service = Service(workspace, len, 2_000)
        for name in ("zzzz", "zzzz:9", "zzzz:1-3", "zzzz#q"):
            with pytest.raises(NotFoundError) as caught:
                Get(id=name).answer(service)
            assert str(caught.value).endswith("; outline lists documents and headings")


@pytest.fixture
def hidden(docs):
    return docs({"docs/.drafts/b.md": "# B\n", "docs/node_modules/c.md": "# C\n"})


def test_what_was_left_out_is_said_in_the_same_words(run, hidden) -> None:
    run("index", "docs")
    said = next(line for line in run("status", "docs").out.decode().splitlines() if line.startswith("left out: "))
    assert "hidden (1)" in said
    with Workspace.open_updated(["docs"]) as workspace:
        answer = Status().answer(Service(workspace, len, 4_000))
    assert said in answer.text
    assert said in answer.record["notes"]


def test_progress_has_no_estimate_at_first() -> None:
    assert "left" not in progress_line(1, 834, 4.0, "a.md", 100)
    assert "left" not in progress_line(834, 834, 0.5, "a.md", 100)
    assert "left" in progress_line(17, 834, 4.0, "a.md", 100)


# Settings


@pytest.mark.parametrize("command", ["search", "eval", "index"])
def test_models_are_settings(run, command) -> None:
    shown = run(command, "--help").out.decode()
    assert not any(option in shown for option in ("--embedder", "--endpoint", "--model", "--window", "--dimensions"))
    assert ("--mode [" in shown) == (command != "index")


def test_variables_set_a_model(project, user_folders) -> None:
    own = user_folders / "config" / "quire"
    own.mkdir(parents=True)
    (own / "quire.toml").write_text('[embed]\nendpoint = "http://a"\nmodel = "m"\nwindow = 100\n')
    environment = {
        **os.environ,
        "QUIRE_EMBED_ENDPOINT": "http://b",
        "QUIRE_EMBED_DIMENSIONS": "2",
        "QUIRE_EMBED_KEY": "k",
    }
    settings = load(project, environment)
    assert settings.embed == {"endpoint": "http://b", "model": "m", "window": 100, "dimensions": 2}
    with pytest.raises(quire.OptionError, match="QUIRE_EMBED_ENDPONT"):
        load(project, {"QUIRE_EMBED_ENDPONT": "x"})
    with pytest.raises(quire.OptionError, match="QUIRE_EMBED_WINDOW"):
        load(project, {"QUIRE_EMBED_WINDOW": "wide"})


def test_a_new_configuration_has_no_setting_that_a_project_may_not_have(run, project) -> None:
    run("init")
    file = project / "quire.toml"
    assert "rerank" not in file.read_text("utf-8")


# Pages


def test_a_page_replaces_only_a_page(run, project, docs) -> None:
    docs({"docs/a.md": "# Install\n"})
    arguments = ["web", "docs/a.md", "--export"]
    assert "exists and is not a page of quire" in refused(run(*arguments, "README.md"))
    assert (project / "README.md").read_text("utf-8") == "# Read me\n"
    assert "wrote page.html" in run(*arguments, "page.html").err
    assert "replaced page.html" in run(*arguments, "page.html").err


# Choices that cannot be


def test_links_to_a_section_and_orphans_exclude_each_other(run) -> None:
    assert refused(run("links", "docs", "--to", "docs/a.md", "--orphans")).startswith(
        "quire: --to and --orphans exclude"
    )


def test_a_repository_called_as_a_folder_that_is_there(run, project, tmp_path_factory) -> None:
    repository = tmp_path_factory.mktemp("others") / "docs"
    repository.mkdir()
    (repository / "b.md").write_text("# Theirs\n\nText.\n")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *command], cwd=repository, check=True, capture_output=True)
    added = run("add", repository.as_uri())
    assert (added.code, added.out.decode().splitlines()[-1]) == (0, "quire.toml: added the tree docs-2")
    assert {"docs", "docs-2"} <= set(load(project).trees)


def test_a_folder_is_added_once(run, project) -> None:
    assert run("add", "docs", "--name", "manual").code == 0
    before = (project / "quire.toml").read_bytes()
    assert "cannot add the tree: another tree has this folder" in refused(run("add", "docs"))
    assert (project / "quire.toml").read_bytes() == before
    assert "manual" in load(project).trees
    assert run("search", "install").code == 0
