"""``quire sync`` without any store: what is refused, and how. tests/integrations/ has the stores."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import quire
import quire.stores
from quire.cli import main
from quire.stores.store import shown

SECRET = "s3cret-word"


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\ntext\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["docs"], 2, "missing option '--to'"),
        (["docs", "--to", "redis:x"], 2, "stores: chroma, lancedb, pgvector, qdrant"),
        (["docs", "--to", "lancedb:"], 2, "write STORE:PLACE, as in lancedb:vectors"),
        (
            ["docs", "--to", "lancedb:x"],
            2,
            "no embedding model is named; under [embed] in your own quire.toml name an endpoint",
        ),
        (["docs", "--to", "lancedb:x", "--embedder", "nowhere"], 2, "embedder='nowhere' is invalid: no such folder"),
        (["docs", "--to", "lancedb:x#a b"], 2, "a table's name has"),
        (["docs", "--to", "lancedb:x#quire__next"], 2, "a table's name has"),
        (["-", "--to", "lancedb:x"], 2, "standard input has no path"),
        (["empty", "--to", "lancedb:x"], 1, "no documents in empty; quire looks for Markdown"),
        (["nope", "--to", "lancedb:x"], 2, "nothing was synced"),
        (["docs", "--to", "lancedb:x", "--model", "m"], 2, "--model needs --endpoint"),
        (["docs", "--to", "lancedb:x", "--embedder", "wordllama", "--model", "m"], 2, "leave out --embedder"),
        (["docs", "--to", "lancedb:x", "--endpoint", "x", "--model", "m"], 2, "the endpoint is not a URL"),
        (["docs", "--to", "lancedb:x", "--endpoint", "https://example.com"], 2, "name the model"),
        (["docs", "--to", f"redis:postgresql://me:{SECRET}@host/db"], 2, "postgresql://host/db"),
    ],
)
def test_what_is_refused(
    docs: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    assert main(["sync", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert SECRET not in err
    assert "Traceback" not in err
    assert not (docs / "x").exists()


@pytest.mark.parametrize("extra", ["lancedb", "pgvector", "chroma", "qdrant"])
def test_a_missing_store_is_one_line(docs: Path, monkeypatch: pytest.MonkeyPatch, extra: str) -> None:
    package = {"pgvector": "psycopg", "chroma": "chromadb", "qdrant": "qdrant_client"}.get(extra, extra)
    for name in (package, "numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"quire.stores.{extra}", raising=False)
    with pytest.raises(
        quire.MissingExtraError, match=rf"is not installed; install it: pip install 'quire-md\[{extra}\]'$"
    ):
        quire.stores.sync("docs", f"{extra}:there", embedder=lambda texts: [[1.0] for _ in texts])


@pytest.mark.parametrize("name", ["langchain", "llama_index", "haystack"])
def test_a_missing_framework_is_one_line(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    package = {"langchain": "langchain_core", "llama_index": "llama_index"}.get(name, name)
    for each in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, each)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"quire.adapters.{name}", raising=False)
    with pytest.raises(quire.MissingExtraError, match=rf"pip install 'quire-md\[{name.replace('_', '-')}\]'$"):
        __import__(f"quire.adapters.{name}")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (f"pgvector:postgresql://me:{SECRET}@host:5432/db#t", "pgvector:postgresql://host:5432/db#t"),
        (f"pgvector:host=h password={SECRET}", "pgvector"),
        (f"pgvector:postgresql://host/db?password={SECRET}", "pgvector:postgresql://host/db"),
        ("lancedb:some/folder#t", "lancedb:some/folder#t"),
    ],
)
def test_targets_are_shown_without_passwords(target: str, expected: str) -> None:
    assert shown(target) == expected


def test_the_core_does_not_load_stores_or_models() -> None:
    code = "import quire, sys; quire.chunk('# A'); quire.flat; print(any(n.startswith(('quire.stores', 'quire.embed', 'quire.adapters')) for n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
