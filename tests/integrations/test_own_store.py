"""A store in a package of its own: the one of docs/guides/own-store.md, installed and synced to."""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import quire
from quire.cli import main
from quire.stores import sync
from support.embedding_server import serving

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "own-store.md"

pytest.importorskip("numpy", reason="needs the extra vectors")
pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")


def fenced(language: str) -> str:
    return PAGE.read_text("utf-8").split(f"```{language}\n", 1)[1].split("\n```", 1)[0]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Installs the page's package with a module, as pip would: its files, and metadata with the entry point."""

    def installed(module: str) -> None:
        project = tomllib.loads(fenced("toml"))["project"]
        metadata = tmp_path / "packages" / f"quire_sqlite-{project['version']}.dist-info"
        metadata.mkdir(parents=True)
        (metadata.parent / "quire_sqlite.py").write_text(module)
        (metadata / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
        ((group, stores),) = project["entry-points"].items()
        lines = "\n".join(f"{name} = {value}" for name, value in stores.items())
        (metadata / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")
        monkeypatch.syspath_prepend(str(metadata.parent))
        monkeypatch.delitem(__import__("sys").modules, "quire_sqlite", raising=False)

    return installed


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "docs").mkdir()
    for name in ("a", "b"):
        (tmp_path / "docs" / f"{name}.md").write_text(f"# {name}\n\nText of {name}.\n")
    return tmp_path / "docs"


def texts() -> list[str]:
    with sqlite3.connect("vectors.db") as database:
        return [text for (text,) in database.execute("SELECT columns ->> 'text' FROM quire ORDER BY 1")]


def test_a_store_of_another_package(install, docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(fenced("python"))
    with serving() as server:
        model = ["--endpoint", server.url, "--model", "m"]
        assert main(["sync", "docs", "--to", "sqlite:vectors.db", *model, "--dry-run"]) == 0
        assert not Path("vectors.db").exists()
        assert main(["sync", "docs", "--to", "sqlite:vectors.db", *model]) == 0
        assert texts() == ["# a\n\nText of a.", "# b\n\nText of b."]
        (docs / "a.md").write_text("# a\n\nOther text.\n")
        (docs / "b.md").unlink()
        assert main(["sync", "docs", "--to", "sqlite:vectors.db", *model, "--delete"]) == 0
        assert texts() == ["# a\n\nOther text."]
        capsys.readouterr()
        assert main(["sync", "docs", "--to", "sqlite:vectors.db", *model, "--model-version", "2"]) == 0
        assert "a new generation, m 2, window 8191" in capsys.readouterr().out
        assert texts() == ["# a\n\nOther text."]


def test_documents_without_text_are_added_once(install, docs: Path) -> None:
    install(fenced("python"))
    for file in docs.iterdir():
        file.write_text("\n")

    def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0, 2.0] for _ in texts]

    reports = [sync(docs, "sqlite:vectors.db", embedder=embed) for _ in range(2)]
    assert [(report.added, report.unchanged, report.rows) for report in reports] == [(2, 0, 0), (0, 2, 0)]
    (docs / "a.md").write_text("Text.\n")
    assert (sync(docs, "sqlite:vectors.db", embedder=embed).changed, texts()) == (1, ["a\n\nText."])


def test_a_store_that_cannot_be_imported_says_so(install, docs: Path) -> None:
    install("import a_missing_package\n")
    with pytest.raises(
        quire.StoreError, match=r"sqlite:vectors.db#quire: quire_sqlite cannot be imported: .*a_missing"
    ):
        sync(docs, "sqlite:vectors.db", embedder=lambda texts: [[1.0] for _ in texts])


def test_an_unknown_store_names_those_that_are_installed(docs: Path) -> None:
    names = ", ".join(sorted(entry.name for entry in entry_points(group="quire.stores")))
    with pytest.raises(quire.OptionError, match=rf"write STORE:PLACE, as in lancedb:vectors.*; stores: {names}$"):
        sync(docs, "redis:there", embedder=len)
