"""The worked examples of docs/contributing.md: each is made in a copy of quire as printed, and is there everywhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import quire

ROOT = Path(__file__).parents[1]
SOURCE = Path(quire.__file__).parent
PAGE = ROOT / "docs" / "contributing.md"
SETTINGS_TEST = "tests/unit/workspace/test_settings.py"
DIFF = re.compile(r"^```diff\n--- (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NEW_FILE = re.compile(r'^```py\n"""(src/\S+): (.*?)^```$', re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")


def apply(difference: str, file: Path) -> None:
    """Make a change to a file. The lines without ``+`` must be there once, as printed."""
    lines = difference.splitlines(keepends=True)
    before, after = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
    text = file.read_text("utf-8")
    assert text.count(before) == 1, f"{file.name} has these lines {text.count(before)} times:\n{before}"
    file.write_text(text.replace(before, after), "utf-8")


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """A copy of the repository with every change of the page, and a project with one document."""
    folder: Path = tmp_path_factory.mktemp("repository")
    shutil.copytree(SOURCE, folder / "src" / "quire", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs" / "reference", folder / "docs" / "reference")
    (folder / SETTINGS_TEST).parent.mkdir(parents=True)
    shutil.copy(ROOT / SETTINGS_TEST, folder / SETTINGS_TEST)
    page = PAGE.read_text("utf-8")
    for name, difference in DIFF.findall(page):
        apply(difference, folder / name)
    for name, text in NEW_FILE.findall(page):
        (folder / name).write_text(f'"""{text}', "utf-8")
    (folder / "project" / "docs").mkdir(parents=True)
    return folder


@pytest.fixture
def python(repository):
    """Runs Python with the copy, by default in the project."""
    project = repository / "project"
    (project / "docs" / "a.md").write_text("# A\n\na needle\n")
    (project / "quire.toml").unlink(missing_ok=True)

    def run(*arguments: str, folder: Path = project, **environment: str) -> str:
        paths = os.pathsep.join([str(repository / "src"), str(ROOT / "tests")])
        variables = {**os.environ, "PYTHONPATH": paths, **environment}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    return run


def test_the_page_has_an_example_for_each_thing() -> None:
    page = PAGE.read_text("utf-8")
    assert len(DIFF.findall(page)) == page.count("```diff\n")
    assert len(NEW_FILE.findall(page)) == page.count("```py\n")
    titles = re.findall("^### (.*)$", page, re.MULTILINE)
    assert {"An option of cutting", "A strategy", "A dialect", "A command", "A store"} <= set(titles)


def test_a_new_option_is_there_everywhere(repository, python) -> None:
    assert "wordCount" not in python("-m", "quire", "chunk", "docs", "--format", "nodes")
    assert '"metadata":{"chunkingOptions"' in python("-m", "quire", "chunk", "docs")
    assert '"word_counts":true' in python("-m", "quire", "chunk", "docs", "--word-counts")
    assert '"wordCount":4' in python("-m", "quire", "chunk", "docs", "--word-counts").partition('"metadata"')[2]
    assert "--word-counts" in python("-m", "quire", "verify", "--help")
    (repository / "project" / "quire.toml").write_text("[chunk]\nword_counts = 3\n")
    assert "chunk.word_counts=3 is invalid: must be true or false" in python("-m", "quire", "chunk", "docs")


READ_BACK = """
import quire
from support.chunk_schema import generated
[chunk] = quire.read_jsonl("chunks.jsonl")
assert (chunk.word_count, quire.Chunk.from_dict(chunk.to_dict())) == (4, chunk)
import pyarrow.parquet
print(pyarrow.parquet.read_table("chunks.parquet")["wordCount"].to_pylist(), generated()["properties"]["wordCount"])
"""


def test_a_new_field_of_the_chunk_is_there_everywhere(python) -> None:
    assert '"wordCount":4,' in python("-m", "quire", "chunk", "docs")
    for name in ("chunks.jsonl", "chunks.parquet"):
        python("-m", "quire", "chunk", "docs", "-o", name)
    said = "[4] {'type': 'integer', 'minimum': 0, 'default': 0, 'description': 'Words of `originalText`.'}\n"
    assert python("-c", READ_BACK) == said


def test_a_new_setting_is_there_everywhere(repository, python) -> None:
    project = repository / "project"

    def shown(**environment: str) -> list[str]:
        printed = python("-m", "quire", "config", **environment)
        return next(line.split() for line in printed.splitlines() if "short_sections" in line)

    assert shown() == ["search.short_sections", "0.2", "default"]
    variable = "QUIRE_SEARCH_SHORT_SECTIONS"
    assert shown(**{variable: "3"}) == ["search.short_sections", "3.0", variable]
    python("-m", "quire", "init")
    file = project / "quire.toml"
    assert "# Extra weight of sections below 100 tokens.\n# short_sections = 0.2\n" in file.read_text("utf-8")
    file.write_text("[search]\nshort_sections = 2\n")
    assert shown() == ["search.short_sections", "2", "quire.toml"]
    file.write_text("[search]\nshort_section = 2\n")
    assert "did you mean search.short_sections?" in python("-m", "quire", "search", "needle")
    file.write_text("[search]\nshort_sections = -2\n")
    said = "search.short_sections=-2 is invalid: must be a number from 0 to 1000"
    assert said in python("-m", "quire", "search", "needle")
    test = str(repository / SETTINGS_TEST)
    python(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, test, folder=repository, QUIRE_UPDATE_DOCS="1"
    )
    row = "| `search.short_sections` | `0.2` | a number from 0 to 1000 | extra weight of sections below 100 tokens |"
    assert row in (repository / "docs" / "reference" / "configuration.md").read_text("utf-8")


WHOLE = """
import quire
text = "---\\ntitle: T\\n---\\n\\n# A\\n\\none\\n\\n## B\\n\\n```sh\\ntwo\\n```\\n\\n"
chunks = quire.chunk(text, "whole", path="a.md")
print([chunk.original_text for chunk in chunks], quire.verify(text, chunks), len(quire.chunk("", "whole")))
"""


def test_a_new_strategy_keeps_the_laws(python) -> None:
    texts = "['# A\\n\\none\\n\\n## B\\n\\n```sh\\ntwo\\n```']"
    assert python("-c", WHOLE) == f"{texts} [] 0\n"
    assert "all laws hold" in python("-m", "quire", "verify", str(ROOT / "docs"), "-s", "whole")
    assert "whole" in python("-m", "quire", "stats", "docs")
    assert "not of strategy 'whole'" in python("-m", "quire", "chunk", "docs", "-s", "whole", "--max-tokens", "64")


DIALECT = """
import quire
[chunk] = quire.chunk("# A\\n\\ntext\\n", path="guide/a.md", dialect="mdbook", base_url="https://example.com/book")
print(chunk.url)
"""


def test_a_new_dialect_is_found_by_its_file(repository, python) -> None:
    assert python("-c", DIALECT) == "https://example.com/book/guide/a.html#a\n"
    (repository / "project" / "book.toml").write_text("[book]\n")
    found = python(
        "-c", "from pathlib import Path; from quire.model.dialects import dialect_of; print(dialect_of(Path('docs')))"
    )
    assert found == "mdbook\n"
    assert "mdbook" in python("-m", "quire", "chunk", "--help")


def test_a_new_command_is_there(python) -> None:
    assert python("-m", "quire", "words", "docs") == "a.md  4\n"
    assert python("-m", "quire", "words", "docs", "--json") == '{"a.md":4}\n'
    assert "words     Count the words of documents." in python("-m", "quire", "--help")
    assert "did you mean --json?" in python("-m", "quire", "words", "--jsn")
    assert "quire words docs --json" in python("-m", "quire", "words", "--help")
