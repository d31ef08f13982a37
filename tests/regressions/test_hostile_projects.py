"""A project that comes from a stranger: its settings, its ignore files and its index folder do no harm."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import quire
from quire.cli import main
from quire.read.discover import Discovery

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")


Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text("# Apples\n\nsweet\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("# Secret\n\nsweet\n")
    (folder / "quire.toml").write_text('[trees]\ndocs = "docs"\n')
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return folder


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process: exit code, standard output, standard error."""

    def run_here(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        return main(arguments), *capfd.readouterr()

    return run_here


@pytest.fixture
def refused(run: Run) -> Refused:
    """The one line of a command that is refused."""

    def run_refused(*arguments: str) -> str:
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        return err

    return run_refused


def everything(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))


# Patterns

SLOW = [
    "a*a*a*a*a*a*a*a*b",
    "*a" * 60 + "b",
    "[a]*" * 40 + "b",
    "?*" * 40 + "b",
    "*" * 5000 + "b",
    "**/a*a*a*a*a*a*a*a*b",
    "**/a/" * 40 + "b",
    "**/*a/" * 40 + "b",
    "[" * 200_000,
]


@pytest.mark.parametrize("pattern", SLOW, ids=[pattern[:20] for pattern in SLOW])
def test_patterns_that_took_exponential_time(tmp_path: Path, pattern: str) -> None:
    deep = tmp_path / "docs" / "/".join("a" * 60)
    deep.mkdir(parents=True)
    name = "a" * 200 + ".md"
    (deep / name).write_text("x\n")
    (tmp_path / "docs" / ".gitignore").write_text(f"{pattern}\n")
    (tmp_path / "docs" / ".quireignore").write_text(f"{pattern}\n")
    assert [each.file.name for each in Discovery(str(tmp_path / "docs")).documents] == [name]
    with quire.Index.open(tmp_path / "index") as index:
        index.update({"docs": tmp_path / "docs"})
        assert index.documents(path=pattern) == []
        assert list(index.search("x", path=pattern)) == []


# What a project's file names


@pytest.mark.parametrize("file", ["quire.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "~/.bashrc", "..", "../outside", "docs/../../outside", "link", "link/x"]
)
@pytest.mark.parametrize("key", ["trees.x", "trees.x.path", "index"])
def test_a_project_reaches_only_into_its_folder(
    project: Path, refused: Refused, file: str, path: str, key: str
) -> None:
    (project / "link").symlink_to("../outside")
    (project / "quire.toml").unlink()
    before = everything(project.parent)
    table = "[tool.quire]\n" if file == "pyproject.toml" else ""
    (project / file).write_text(f'{table}{key} = "{path}"\n')
    said = refused("search", "sweet")
    assert (
        f"{file}: {table[1:-2]}{'.' * bool(table)}{key.removesuffix('.path')} leads out of the project's folder" in said
    )
    assert str(project.parent / "home" / "quire" / "quire.toml") in said
    assert everything(project.parent) == sorted([*before, f"project/{file}"])


def test_a_user_may_reach_further(
    project: Path, refused: Refused, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "quire.toml").write_text('index = "../outside/index"\n[trees]\ndocs = "docs"\n')
    assert "the command line, the environment or your own" in refused("search", "sweet")
    assert "sweet" in run("search", "sweet", "--index", "../given")[1]
    monkeypatch.setenv("QUIRE_INDEX", "../variable")
    assert "sweet" in run("search", "sweet")[1]
    monkeypatch.delenv("QUIRE_INDEX")
    (project / "quire.toml").unlink()
    users = tmp_path / "home" / "quire"
    users.mkdir(parents=True)
    (users / "quire.toml").write_text(f'index = "../ix"\n[trees]\nx = "{tmp_path}/outside"\n')
    assert "Secret" in run("search", "sweet")[1]
    monkeypatch.chdir(users)
    assert "Secret" in run("search", "sweet")[1]


@pytest.mark.parametrize("missing", ["mroe", "dangling"])
def test_a_tree_that_is_missing_stops_no_search(project: Path, refused: Refused, run: Run, missing: str) -> None:
    (project / "dangling").symlink_to("nothing")
    (project / "quire.toml").write_text(f'[trees]\nmore = "{missing}"\ndocs = "docs"\n')
    for _ in range(2):
        code, out, err = run("search", "sweet")
        assert (code, err.count("\n")) == (0, 1)
        assert f"{missing} does not exist; correct trees.more in quire.toml" in err
        assert "docs/a.md" in out
    assert "docs/a.md" in run("search", "sweet", "--no-update")[1]
    assert "correct trees.more" in refused("search", "sweet", "--tree", "more")


@pytest.mark.parametrize("name", ["mkdocs.yml", "_config.yml", "data/variables/x.yml", "config/_default"])
def test_a_file_with_variables_that_is_a_link(project: Path, name: str) -> None:
    (project.parent / "outside" / "x.yml").write_text("extra:\n  token: SECRET\n")
    (project.parent / "outside" / "params.yaml").write_text("extra:\n  token: SECRET\n")
    names = ("config.extra.token", "token", "extra.token", "site.extra.token")
    used = " ".join(f"{{{{ {name} }}}}" for name in names) + " {% data variables.x.extra.token %}"
    (project / "docs" / "a.md").write_text(f"# A\n\n{used}\n")
    link = project / "docs" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(project.parent / "outside" / ("x.yml" if link.suffix else ""))
    [chunks] = quire.chunk_dir(project / "docs")
    assert "SECRET" not in repr([chunk.to_dict() for chunk in chunks])
    link.unlink()
    (project / "docs" / "mkdocs.yml").write_text("extra:\n  token: OWN\n")
    [chunks] = quire.chunk_dir(project / "docs")
    assert "OWN" in chunks[0].embed_text


# The folder of an index


@pytest.mark.parametrize("command", [["index", "docs"], ["search", "sweet", "docs"], ["outline"], ["status"]])
@pytest.mark.parametrize("target", ["../outside", "../nothing"])
def test_an_index_folder_that_is_a_link(project: Path, refused: Refused, command: list[str], target: str) -> None:
    (project / ".quire").symlink_to(target)
    before = everything(project.parent)
    assert refused(*command).startswith("quire: .quire: is a link, a pipe or a folder")
    with pytest.raises(quire.StoreError, match="is a link, a pipe or a folder"):
        quire.Index.open()
    assert everything(project.parent) == before


@pytest.mark.parametrize("name", [".gitignore", "index.current", "index.checked", "index.lock"])
def test_links_and_pipes_in_an_index_folder(project: Path, refused: Refused, name: str) -> None:
    (project / ".quire").mkdir()
    (project / ".quire" / name).symlink_to("../../outside/new")
    assert f".quire/{name}: is a link" in refused("search", "sweet", "docs")
    assert everything(project.parent / "outside") == ["secret.md"]
    (project / ".quire" / name).unlink()
    os.mkfifo(project / ".quire" / name)
    assert f".quire/{name}: is a link, a pipe" in refused("search", "sweet", "docs")


def test_links_in_a_generation(project: Path, refused: Refused, run: Run) -> None:
    run("index", "docs")
    (meta,) = project.glob(".quire/index-*/meta.json")
    meta.rename(project / "meta.json")
    meta.symlink_to("../../meta.json")
    assert "meta.json: is a link" in refused("search", "sweet")


@pytest.mark.parametrize("name", ["index.current", "index.lock", "index.checked", ".gitignore"])
def test_a_folder_in_the_place_of_a_file_of_the_index(project: Path, run: Run, name: str) -> None:
    run("index", "docs")
    (project / ".quire" / name).unlink()
    (project / ".quire" / name / "x").mkdir(parents=True)
    (project / "docs" / "b.md").write_text("# Pears\n\nsweet\n")
    code, out, err = run("search", "sweet")
    assert (code, out) == (2, "")
    assert f"{name}: is a link, a pipe or a folder, not a file of the index" in err
    (project / ".quire" / name / "x").rmdir()
    (project / ".quire" / name).rmdir()
    code, out, err = run("search", "sweet")
    assert (code, out.count("docs/")) == (0, 2), err


# Files that are read as configuration

BAD_TOML = {
    "arrays": ("x = " + "[" * 50_000, "nested too deep"),
    "tables": ("x = " + "{a=" * 50_000, "nested too deep"),
    "digits": ("x = " + "9" * 5_001, "Exceeds the limit"),
    "hex": ("index = 0x" + "f" * 5_001, "Exceeds the limit"),
    "in a list": ("index = [0x" + "f" * 5_001 + "]", "Exceeds the limit"),
    "dotted": (".".join("a" * 40_000) + " = 1", "more than 32 parts"),
    "dotted header": (f"[{'.'.join('a' * 40_000)}]", "more than 32 parts"),
    "dotted, quoted": ('"\\"".' + ".".join("a" * 40_000) + " = 1", "more than 32 parts"),
    "escaped quotes": ('x = "' + '\\"' * 120_000, "not TOML"),
    "large": ("#" * 300_000, "larger than 256 KB"),
    "long value": (f'index = ["{"a" * 200_000}"]', "must be a folder, or a table with a store"),
}


@pytest.mark.parametrize("file", ["quire.toml", "pyproject.toml", "../home/quire/quire.toml"])
@pytest.mark.parametrize("name", BAD_TOML)
def test_bad_toml_is_one_line(project: Path, refused: Refused, file: str, name: str) -> None:
    text, said = BAD_TOML[name]
    (project / "quire.toml").unlink()
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    head = "[tool.quire]\n" if file == "pyproject.toml" and not text.startswith("[") else "# tool.quire\n"
    (project / file).write_text(f"{head}{text}\n")
    line = refused("config")
    assert said in line
    assert Path(file).name in line
    assert len(line) < 1_000


@pytest.mark.parametrize("name", sorted(set(BAD_TOML) - {"hex", "in a list", "large", "long value"}))
def test_bad_toml_in_front_matter_is_a_finding(name: str) -> None:
    chunks = quire.chunk(f"+++\n{BAD_TOML[name][0]}\n+++\n\ntext\n")
    assert [each.code for each in chunks.findings if each.code.startswith("front")] == ["frontmatter-malformed"]


@pytest.mark.parametrize("file", ["quire.toml", "pyproject.toml", "../home/quire/quire.toml"])
def test_settings_that_are_no_regular_file(project: Path, refused: Refused, file: str) -> None:
    (project / "quire.toml").unlink()
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(project / file)
    assert "not a regular file" in refused("search", "sweet")
    (project / file).unlink()
    (project / file).symlink_to("/dev/zero")
    assert "not a regular file" in refused("search", "sweet")


@pytest.mark.parametrize("file", [".gitignore", ".quireignore"])
def test_ignore_files_that_are_large_or_no_regular_file(project: Path, file: str) -> None:
    ignore = project / file
    for make, said in (
        (lambda: os.mkfifo(ignore), "not a regular file"),
        (lambda: ignore.symlink_to("/dev/zero"), "not a regular file"),
        (lambda: ignore.write_bytes(b"x\n" * 200_000), "larger than 256 KB"),
    ):
        make()
        (skipped,) = Discovery(str(project)).skipped
        assert said in skipped.reason
        ignore.unlink()


# Tokenizers


def test_a_tokenizer_that_panics(project: Path, run: Run) -> None:
    pytest.importorskip("tokenizers")
    normalizer = '{"type": "Precompiled", "precompiled_charsmap": ""}'
    (project / "tokenizer.json").write_text(
        '{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "pre_tokenizer": null, '
        f'"normalizer": {normalizer}, "post_processor": null, "decoder": null, '
        '"model": {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}}'
    )
    with pytest.raises(quire.TokenizerError, match=r"tokenizer\.json fails .*; correct it, or use another"):
        quire.chunk("text", tokenizer="tokenizer.json")
    code, out, err = run("chunk", "--tokenizer", "tokenizer.json", "docs")
    assert (code, out) == (2, "")
    assert "tokenizer.json fails" in err.splitlines()[-1]
    assert "Traceback" not in err


def test_a_tokenizer_that_fails_on_some_texts() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="[UNK]"))
    with pytest.raises(quire.TokenizerError, match="fails"):
        quire.chunk("b", tokenizer=made)
