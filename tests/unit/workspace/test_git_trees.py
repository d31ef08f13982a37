"""Trees of git repositories: fetched by the installed git, when the user asks for it, from files and over HTTP."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

import quire
from quire.cli import main
from quire.errors import QuireError
from quire.trees import Tree
from quire.workspace import git_trees

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def commit(folder: Path, **files: str) -> None:
    for name, text in files.items():
        file = folder / name.replace("__", "/").replace("_md", ".md").replace("_yml", ".yml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    folder = tmp_path / "react.git"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, docs__hooks_md="# Hooks\n\nCall hooks first.\n", src__main_md="# Code\n")
    git(folder, "tag", "v1")
    return folder


@pytest.fixture
def served(repository: Path) -> Iterator[str]:
    """The repository over HTTP, by git's own server program."""

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    def app(environ, start_response):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        variables = {name: value for name, value in environ.items() if isinstance(value, str)}
        variables |= {
            "GIT_PROJECT_ROOT": str(repository.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH": os.environ["PATH"],
        }
        variables |= {"HOME": str(repository.parent), "GIT_CONFIG_COUNT": "1"}
        variables |= {"GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        done = subprocess.run(
            ["git", "http-backend"],
            env=variables,
            input=environ["wsgi.input"].read(length),
            capture_output=True,
            check=True,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        start_response(headers.pop("Status", "200 OK"), list(headers.items()))
        return [body]

    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/react.git"
        server.shutdown()
        thread.join()


def files(tree: Tree) -> list[str]:
    return sorted(file.relative_to(tree.clone).as_posix() for file in tree.clone.rglob("*") if file.is_file())


@pytest.mark.parametrize("over_http", [False, True])
def test_only_the_folder_is_fetched_and_again_what_is_new(repository: Path, request, over_http: bool) -> None:
    address = request.getfixturevalue("served") if over_http else repository.as_uri()
    tree = Tree(git=address, path="docs")
    first = git_trees.fetch(tree)
    assert files(tree) == ["docs/hooks.md"]
    commit(repository, docs__refs_md="# Refs\n")
    assert git_trees.fetch(tree) != first
    assert (tree.folder / "refs.md").read_text() == "# Refs\n"


def test_a_whole_repository_and_the_variables_beside_a_folder(repository: Path) -> None:
    commit(
        repository,
        data__variables__product_yml="name: The Product\n",
        docs__name_md="# {% data variables.product.name %}\n\nx\n",
    )
    whole, docs = Tree(git=repository.as_uri()), Tree(git=repository.as_uri(), path="docs")
    for tree in (whole, docs):
        git_trees.fetch(tree)
        [chunks] = [chunks for chunks in quire.chunk_dir(tree.clone / "docs") if chunks.document.path == "name.md"]
        assert chunks[0].section_title == "The Product"
    assert "src/main.md" in files(whole)
    assert "src/main.md" not in files(docs)


def test_a_tag_stays(repository: Path) -> None:
    tree = Tree(git=repository.as_uri(), path="docs", ref="v1")
    commit(repository, docs__refs_md="# Refs\n")
    git_trees.fetch(tree)
    assert files(tree) == ["docs/hooks.md"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"path": "nope"}, "there is no folder nope"),
        ({"ref": "v9"}, "git failed"),
        ({"git": "--upload-pack=touch /tmp/x"}, "git failed"),
        ({"git": "ext::sh -c true"}, "git failed"),
    ],
)
def test_what_cannot_be_fetched(repository: Path, changes: dict[str, str], problem: str) -> None:
    with pytest.raises(QuireError, match=problem):
        git_trees.fetch(Tree(**{"git": repository.as_uri(), "path": "docs", **changes}))


def test_a_failed_fetch_leaves_the_last_state(repository: Path) -> None:
    tree = Tree(git=repository.as_uri(), path="docs")
    git_trees.fetch(tree)
    shutil.rmtree(repository)
    with pytest.raises(QuireError):
        git_trees.fetch(tree)
    assert files(tree) == ["docs/hooks.md"]
    assert [entry.name for entry in tree.clone.parent.iterdir()] == [tree.clone.name]


def test_links_hooks_and_large_clones(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "docs" / "passwd.md").symlink_to("/etc/passwd")
    (repository / "docs" / "etc").symlink_to("/etc")
    (repository / ".gitattributes").write_text("*.md filter=evil\n")
    commit(repository)
    home = repository.parent / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f'[filter "evil"]\n\tsmudge = "touch {home}/ran; cat"\n\trequired = true\n')
    hook = home / "hooks" / "post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {home}/ran\n")
    hook.chmod(0o755)
    with (home / ".gitconfig").open("a") as settings:
        settings.write(f"[core]\n\thooksPath = {hook.parent}\n")
    monkeypatch.setenv("HOME", str(home))
    tree = Tree(git=repository.as_uri(), path="docs")
    git_trees.fetch(tree)
    assert files(tree) == [".gitattributes", "docs/hooks.md"]
    assert not (home / "ran").exists()
    with pytest.raises(QuireError, match="there is no folder"):
        git_trees.fetch(Tree(git=repository.as_uri(), path="docs/etc"))
    monkeypatch.setattr(git_trees, "MOST_BYTES", 10)
    with pytest.raises(QuireError, match="too large"):
        git_trees.fetch(tree)


def test_added_fetched_and_searched(repository: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs" / "a.md").write_text("# Own\n\nOur hooks.\n")
    monkeypatch.chdir(project)
    assert main(["add", repository.as_uri(), "--path", "docs"]) == 0
    assert '[trees.react]\ngit = "' in (project / "quire.toml").read_text()
    assert main(["search", "hooks", "--json"]) == 0
    found = capsys.readouterr().out
    assert '"react:hooks.md#hooks"' in found
    assert '"docs:a.md' in found
    commit(repository, docs__refs_md="# Refs\n\nHold a value.\n")
    assert main(["search", "hold a value", "--tree", "react", "--json"]) == 1  # nothing is fetched by itself
    assert main(["index", "--fetch", "react"]) == 0
    assert main(["search", "hold a value", "--tree", "react", "--json"]) == 0
    shutil.rmtree(repository)  # offline
    capsys.readouterr()
    assert main(["index", "--fetch"]) == 2
    assert "react: git failed" in capsys.readouterr().err
    assert main(["search", "hold a value", "--tree", "react", "--json"]) == 0


def test_a_tree_of_the_user_is_there_in_every_project(repository, tmp_path, monkeypatch, capsys) -> None:
    for name in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "config"))
    own = tmp_path / "config" / "quire" / "quire.toml"
    own.parent.mkdir(parents=True)
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs" / "a.md").write_text("# Hooks\n\nCall hooks first.\n")
    (project / "quire.toml").write_text('[trees]\ndocs = "docs"\n')
    monkeypatch.chdir(project)
    for weight, first in ((5.0, "react"), (0.1, "docs")):
        own.write_text(
            f'[trees.react]\ngit = "{repository.as_uri()}"\npath = "docs"\nalways = true\nweight = {weight}\n'
        )
        assert main(["index", "--fetch"]) == 0
        capsys.readouterr()
        assert main(["search", "hooks", "--json"]) == 0
        hits = json.loads(capsys.readouterr().out)
        assert [hit["id"].partition(":")[0] for hit in hits][:1] == [first]


def test_a_project_of_others_is_fetched_only_if_the_user_says_so(repository, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "quire.toml").write_text(f'[trees]\nhere = "here"\n[trees.react]\ngit = "{repository.as_uri()}"\n')
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a.md").write_text("# A\n\nhooks\n")
    monkeypatch.chdir(tmp_path)
    assert main(["search", "hooks", "--list"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert "quire index --fetch react" in err
    assert not Tree(git=repository.as_uri()).clone.exists()


@pytest.mark.parametrize("path", ["../up", "/etc"])
def test_a_path_that_leaves_the_repository(tmp_path: Path, monkeypatch, capsys, path: str) -> None:
    (tmp_path / "quire.toml").write_text(f'[trees.react]\ngit = "https://example.org/x"\npath = "{path}"\n')
    monkeypatch.chdir(tmp_path)
    assert main(["search", "hooks"]) == 2
    assert "must be a folder in the repository" in capsys.readouterr().err
