"""Trees of git repositories: fetched by the installed git, when the user asks for it, from files and over HTTP."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

import quire
from quire.cli import main
from quire.errors import QuireError
from quire.model.trees import Tree
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
    paths = (file.relative_to(tree.clone).as_posix() for file in tree.clone.rglob("*") if file.is_file())
    return sorted(path for path in paths if path != Tree.SOURCE)


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
        ({"path": "nope"}, "there is no document in nope"),
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
    assert files(tree) == ["docs/hooks.md"]
    assert not (home / "ran").exists()
    with pytest.raises(QuireError, match="there is no document in docs/etc"):
        git_trees.fetch(Tree(git=repository.as_uri(), path="docs/etc"))
    monkeypatch.setattr(git_trees, "MOST_BYTES", 10)
    with pytest.raises(QuireError, match="more than 0 MB"):
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


def test_a_project_of_others_is_fetched_only_if_the_user_says_so(served, tmp_path, monkeypatch, capsys) -> None:
    project = tmp_path / "project"
    (project / "here").mkdir(parents=True)
    (project / "here" / "a.md").write_text("# A\n\nhooks\n")
    own = '[trees]\nhere = "here"\n'
    (project / "quire.toml").write_text(f'{own}[trees.react]\ngit = "{served}"\npath = "docs"\n')
    monkeypatch.chdir(project)
    assert main(["search", "hooks", "--list"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert "quire index --fetch react" in err
    for names in ([], ["react"]):
        assert main(["index", "--fetch", *names]) == 2
        err = capsys.readouterr().err
        assert served in err
        assert "--yes" in err
    assert not Tree(git=served, path="docs").clone.exists()
    assert main(["index", "--fetch", "--yes"]) == 0
    assert main(["index", "--fetch"]) == 0  # the answer is remembered
    assert main(["search", "hooks", "--tree", "react"]) == 0
    with (project / "quire.toml").open("a") as file:
        file.write('[trees.other]\ngit = "https://example.org/other"\n')
    capsys.readouterr()
    assert main(["index", "--fetch"]) == 2
    assert "https://example.org/other;" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 2), (b"y\n", 0)])
def test_the_question_on_a_terminal(served, tmp_path, monkeypatch, answer: bytes, code: int) -> None:
    import pty  # noqa: PLC0415

    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "quire.toml").write_text(f'[trees.react]\ngit = "{served}"\npath = "docs"\n')
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    command = [sys.executable, "-m", "quire", "index", "--fetch"]
    process = subprocess.Popen(command, cwd=tmp_path / "project", stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # how Linux says that the other end is closed
        while data := os.read(ours, 65536):
            shown += data
    os.close(ours)
    assert process.wait() == code, shown
    assert served.encode() in shown
    assert Tree(git=served, path="docs").folder.exists() == (code == 0)


LOCAL = [
    "../private", "./private", "~/private", "/private", "file:///private", "file://localhost/private",
    "FILE:///private", "file:private", "ext::sh -c true", "fd::17", "http::file:///private", "ssh://-oProxyCommand=x/y",
    "git://example.org/x", "a@b::c", "-x", "git@-oProxyCommand=x:y", "git@host:-x", "https://host/a b",
    "https://host\\u0000/x", "https:/private", "\\\\\\\\host\\\\share", "C:/private", "private",
]  # fmt: skip


@pytest.mark.parametrize("address", LOCAL)
@pytest.mark.parametrize("name", ["quire.toml", "pyproject.toml"])
def test_a_project_names_repositories_on_servers_only(
    repository, tmp_path, monkeypatch, capsys, name: str, address: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for place in (tmp_path / "private", project / "private", project / "https:" / "private"):
        shutil.copytree(repository, place)
    monkeypatch.setenv("HOME", str(tmp_path))
    address = address.replace("/private", f"{tmp_path}/private") if address.startswith(("/", "file:///")) else address
    start = "tool.quire." if name == "pyproject.toml" else ""
    (project / name).write_text(f'[{start}trees.x]\ngit = "{address}"\npath = "docs"\n')
    monkeypatch.chdir(project)
    for command in (["index", "--fetch", "--yes"], ["search", "hooks"]):
        assert main(command) == 2
        out, err = capsys.readouterr()
        assert "git" in err
        assert "Call hooks" not in out
    assert not (tmp_path / "data").exists()


def test_a_folder_named_like_an_address_is_not_taken_for_it(repository, tmp_path, monkeypatch, capsys) -> None:
    project = tmp_path / "project"
    for name in ("https:/127.0.0.1:9/private", "git@127.0.0.1:private"):
        shutil.copytree(repository, project / name)
    monkeypatch.chdir(project)
    for address in ("https://127.0.0.1:9/private", "git@127.0.0.1:private"):
        (project / "quire.toml").write_text(f'[trees.x]\ngit = "{address}"\n')
        assert main(["index", "--fetch", "--yes"]) == 2
        assert "git failed" in capsys.readouterr().err


def test_a_local_repository_is_for_the_project_to_which_the_user_added_it(repository, tmp_path, monkeypatch) -> None:
    for name, code in (("own", 0), ("other", 2)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        if code == 0:
            assert main(["add", repository.as_uri(), "--path", "docs"]) == 0
        else:
            shutil.copy(tmp_path / "own" / "quire.toml", "quire.toml")
        assert main(["search", "hooks"]) == code


def test_sources_do_not_share_a_folder(repository, tmp_path) -> None:
    """No CRC: two addresses, or an address and a ref that join to the same text, have folders of their own."""
    pairs = [("https://e.org/a", "b"), ("https://e.org/a\0b", ""), ("https://e.org/ab", ""), ("https://e.org/a", "b ")]
    assert len({Tree(git=git, ref=ref).clone for git, ref in pairs}) == len(pairs)
    assert all(len(Tree(git=git, ref=ref).clone.name.rpartition("-")[2]) >= 32 for git, ref in pairs)
    assert Tree(git="https://e.org/..\\..\\x").clone.parent == tmp_path / "data" / "quire" / "git"
    tree, other = Tree(git=repository.as_uri(), path="docs"), Tree(git="https://example.org/x", path="docs")
    git_trees.fetch(tree)
    assert tree.folder.is_dir()
    shutil.copytree(tree.clone, other.clone)  # it holds something else than its name says
    assert not other.folder.exists()


def bomb(repository: Path, levels: int, leaf: tuple[str, str]) -> None:
    """Commit a tree of ``levels`` with ten entries each, as git's own plumbing writes it."""

    def make(entries: str) -> str:
        command = ["git", "-C", str(repository), "mktree"]
        return subprocess.run(command, input=entries, text=True, capture_output=True, check=True).stdout.strip()

    mode, name = leaf
    entry = f"{mode} {name}"
    for _ in range(levels):
        entry = "040000 tree " + make("".join(f"{entry}\t{number}.md\n" for number in range(10)))
    tree = make(f"{entry}\tdocs\n")
    command = [
        "git",
        "-C",
        str(repository),
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit-tree",
        "-m",
        "x",
        tree,
    ]
    commit = subprocess.run(command, text=True, capture_output=True, check=True).stdout.strip()
    git(repository, "reset", "--soft", commit)


@pytest.mark.parametrize("kind", ["files", "empty folders"])
def test_a_small_repository_with_many_entries(repository: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    command = ["git", "-C", str(repository), "hash-object", "-w", "--stdin"]
    blob = subprocess.run(command, input="# x\n", text=True, capture_output=True, check=True).stdout.strip()
    empty = subprocess.run(
        [*command, "-t", "tree"], input="", text=True, capture_output=True, check=True
    ).stdout.strip()
    bomb(repository, 7, ("100644 blob", blob) if kind == "files" else ("040000 tree", empty))
    tree = Tree(git=repository.as_uri(), path="docs")
    with pytest.raises(QuireError, match="more than 200,000 entries"):
        git_trees.fetch(tree)
    assert not list(tree.clone.parent.iterdir())
    monkeypatch.setattr(git_trees, "MOST_BYTES", 10)
    small = Tree(git=repository.as_uri(), path="docs/0.md/0.md/0.md/0.md/0.md")
    with pytest.raises(QuireError, match="more than 0 MB" if kind == "files" else "there is no document"):
        git_trees.fetch(small)


def test_only_documents_and_what_decides_about_them_are_written(repository: Path) -> None:
    commit(repository, docs__index_md="# X\n", docs__sub__mkdocs_yml="site_name: x\n", mkdocs_yml="site_name: y\n")
    for name in ("docs/a.png", "docs/.vitepress/theme/x.js", "docs/x.py", "docs/.gitignore", "package.json", "a.md"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("a.md")
    commit(repository)
    tree = Tree(git=repository.as_uri(), path="docs/")
    git_trees.fetch(tree)
    assert files(tree) == ["docs/.gitignore", "docs/hooks.md", "docs/index.md", "docs/sub/mkdocs.yml", "mkdocs.yml"]
    assert (tree.folder / ".vitepress").is_dir()


def test_names_that_lead_elsewhere(repository: Path, tmp_path: Path) -> None:
    """git refuses to make such trees, so that their objects are written by hand."""
    blob = hashed(repository, "blob", b"# Evil\n")
    for name in (b"../evil.md", b"../../evil.md", b".git/evil.md", b".GIT/evil.md", b"/evil.md", b"a\\b.md"):
        inner = hashed(repository, "tree", b"100644 %s\0%s" % (name, bytes.fromhex(blob)))
        top = hashed(repository, "tree", b"40000 docs\0" + bytes.fromhex(inner))
        evil = hashed(
            repository, "commit", b"tree %s\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nx\n" % top.encode()
        )
        git(repository, "update-ref", "--no-deref", "HEAD", evil)
        tree = Tree(git=repository.as_uri(), path="docs")
        with pytest.raises(QuireError, match="there is no document in docs"):
            git_trees.fetch(tree)
    assert not [*tmp_path.rglob("*evil.md")]


def test_names_and_folders_that_no_system_has(repository: Path) -> None:
    blob = hashed(repository, "blob", b"# Evil\n")
    tree = hashed(repository, "tree", b"100644 a.md\0%s" % bytes.fromhex(blob))
    deep = tree
    for _ in range(1500):  # below git's own limit
        deep = hashed(repository, "tree", b"40000 d\0%s" % bytes.fromhex(deep))
    for _ in range(30):
        tree = hashed(repository, "tree", b"40000 %s\0%s" % (b"d" * 200, bytes.fromhex(tree)))
    entries = {b"40000 deep": deep, b"100644 good.md": blob, b"40000 long": tree, b"100644 %s.md" % (b"x" * 300): blob}
    top = hashed(
        repository, "tree", b"".join(b"%s\0%s" % (name, bytes.fromhex(each)) for name, each in entries.items())
    )
    evil = hashed(repository, "commit", b"tree %s\nauthor a <a> 0 +0\ncommitter a <a> 0 +0\n\nx\n" % top.encode())
    git(repository, "update-ref", "--no-deref", "HEAD", evil)
    tree = Tree(git=repository.as_uri())
    git_trees.fetch(tree)
    assert files(tree) == ["good.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_server_that_says_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.read.git_process.SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        with pytest.raises(QuireError, match="git takes more than 1 seconds"):
            git_trees.fetch(Tree(git=address))
        commands = [each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if each.exists()]
        assert not [command for command in commands if address.encode() in command]  # none waits on


def hashed(repository: Path, kind: str, data: bytes) -> str:
    command = ["git", "-C", str(repository), "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode().strip()


def test_what_a_killed_fetch_left_is_swept(repository: Path) -> None:
    tree = Tree(git=repository.as_uri(), path="docs")
    (tree.clone.parent / ".new-abc" / "clone" / "objects").mkdir(parents=True)
    (tree.clone.parent / ".new-abc" / "clone" / "x").write_text("x")
    git_trees.fetch(tree)
    assert [entry.name for entry in tree.clone.parent.iterdir()] == [tree.clone.name]


@pytest.mark.parametrize(
    "path", [".git", ".GIT", ".git/", "./.git", "sub/.git/x", ".Git/hooks", "docs/../.git", ".git."]
)
def test_the_folder_of_git_itself_is_refused(repository, tmp_path, monkeypatch, capsys, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["add", repository.as_uri(), "--path", path]) == 2
    assert "cannot be a folder of a repository" in capsys.readouterr().err
    assert not (tmp_path / "quire.toml").exists()
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("path", ["../up", "/etc", ".git", "a/.Git"])
def test_a_path_that_leaves_the_repository(tmp_path: Path, monkeypatch, capsys, path: str) -> None:
    (tmp_path / "quire.toml").write_text(f'[trees.react]\ngit = "https://example.org/x"\npath = "{path}"\n')
    monkeypatch.chdir(tmp_path)
    assert main(["search", "hooks"]) == 2
    assert "must be a folder in the repository" in capsys.readouterr().err
