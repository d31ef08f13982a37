"""What no documentation is is left out of folders, counted, and brought back by patterns that name it."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.read.discover import Discovery


def paths(found: Discovery) -> list[str]:
    return [each.path for each in found.documents]


def tree(top: Path, *names: str) -> Path:
    for name in names:
        file = top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text\n", "utf-8")
    return top


@pytest.mark.parametrize(
    ("junk", "reason"),
    [
        ("node_modules/a/README.md", "installed packages"),
        ("web/vendor/b.md", "installed packages"),
        ("third_party/c/c.md", "installed packages"),
        ("lib/site-packages/d/d.md", "installed packages"),
        ("e-1.0.dist-info/licenses/e.md", "installed packages"),
        (".venv/f.md", "hidden"),
    ],
)
def test_folders_that_are_never_documentation(tmp_path: Path, junk: str, reason: str) -> None:
    walk = Discovery(str(tree(tmp_path, "docs/a.md", junk)))
    assert paths(walk) == ["docs/a.md"]
    assert walk.left_out == {reason: 1}


def test_virtual_environments_by_their_file(tmp_path: Path) -> None:
    walk = Discovery(str(tree(tmp_path, "a.md", "env/pyvenv.cfg", "env/lib/b.md")))
    assert (paths(walk), walk.left_out) == (["a.md"], {"virtual environment": 1})


@pytest.mark.parametrize(
    ("folder", "manifest"), [("target", "Cargo.toml"), ("build", "setup.py"), ("dist", "package.json")]
)
def test_outputs_only_where_a_manifest_says_so(tmp_path: Path, folder: str, manifest: str) -> None:
    tree(tmp_path, f"code/{folder}/a.md", f"code/{manifest}", f"manual/{folder}/b.md")
    walk = Discovery(str(tmp_path))
    assert (paths(walk), walk.left_out) == ([f"manual/{folder}/b.md"], {"build output": 1})


def test_texts_of_a_code_repository_are_taken_from_its_documentation_only(tmp_path: Path) -> None:
    tree(
        tmp_path, "pyproject.toml", "notes.txt", "src/data.txt", "docs/guide.txt", "docs/requirements.txt", "README.md"
    )
    walk = Discovery(str(tmp_path))
    assert paths(walk) == ["README.md", "docs/guide.txt"]
    assert walk.left_out == {".txt in a code repository": 3}


def test_a_named_folder_knows_the_repository_above(tmp_path: Path) -> None:
    tree(tmp_path, ".git/HEAD", "package.json", "src/a.txt", "docs/b.txt", "docs/c/d.txt")
    assert paths(Discovery(str(tmp_path / "src"))) == []
    assert paths(Discovery(str(tmp_path / "docs"))) == ["b.txt", "c/d.txt"]
    assert paths(Discovery(str(tmp_path / "docs" / "c"))) == ["d.txt"]
    tree(tmp_path, "docs/requirements.txt")  # of the generator
    assert paths(Discovery(str(tmp_path / "docs"))) == ["b.txt", "c/d.txt"]


def test_a_file_above_that_is_in_no_repository_with_it_says_nothing(tmp_path: Path) -> None:
    tree(tmp_path, "package.json", "notes/a.txt")
    assert paths(Discovery(str(tmp_path / "notes"))) == ["a.txt"]


def test_texts_elsewhere_are_documents(tmp_path: Path) -> None:
    assert paths(Discovery(str(tree(tmp_path, "notes.txt", "b/more.txt", "robots.txt")))) == [
        "b/more.txt",
        "notes.txt",
    ]


def test_patterns_that_name_it_bring_it_back(tmp_path: Path) -> None:
    tree(tmp_path, "Cargo.toml", "a.md", "notes.txt", "vendor/b/b.md", "node_modules/c.md")
    assert paths(Discovery(str(tmp_path), ["**"])) == ["a.md"]
    assert paths(Discovery(str(tmp_path), ["*.md", "vendor/**"])) == ["a.md", "vendor/b/b.md"]
    assert paths(Discovery(str(tmp_path), ["*.txt"])) == ["notes.txt"]
    tree(tmp_path, ".wiki/d.md", ".git/e.md")
    assert paths(Discovery(str(tmp_path), [".wiki/**", ".git/**"])) == [".wiki/d.md"]


def test_named_files_are_always_taken(tmp_path: Path) -> None:
    tree(tmp_path, "setup.py", "requirements.txt", "node_modules/a.md")
    for named, path in (
        ("requirements.txt", "requirements.txt"),
        ("node_modules/a.md", "a.md"),
        ("node_modules", "a.md"),
    ):
        assert paths(Discovery(str(tmp_path / named))) == [path]


def test_hidden_folders_that_are_known_to_have_documents(tmp_path: Path) -> None:
    tree(tmp_path, ".github/a.md", ".claude/b/c.md", ".cache/d.md", ".git/e.md", "f.md")
    assert paths(Discovery(str(tmp_path), hidden="known")) == [".claude/b/c.md", ".github/a.md", "f.md"]
    assert Discovery(str(tmp_path)).left_out == {"hidden": 3}
    assert paths(Discovery(str(tmp_path), hidden=True)) == [".cache/d.md", ".claude/b/c.md", ".github/a.md", "f.md"]
