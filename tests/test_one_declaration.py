"""The worked examples of docs/contributing.md: what is declared in one or two source files is there everywhere."""

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
DECLARED = "class SearchSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):\n"

PAGE = ROOT / "docs" / "contributing.md"
SETTINGS_TEST = "tests/unit/workspace/test_settings.py"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="not in quire's repository")


def edit(file: Path, before: str, added: str) -> None:
    """Add lines below those of a file that end with ``before``."""
    text = file.read_text("utf-8")
    assert text.count(before) == 1
    file.write_text(text.replace(before, before + added), "utf-8")


@pytest.fixture
def repository(tmp_path) -> Path:
    """A copy of the repository with the two fields of the page."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tmp_path / "src" / "quire", ignore=ignored)
    shutil.copytree(ROOT / "docs" / "reference", tmp_path / "docs" / "reference")
    (tmp_path / SETTINGS_TEST).parent.mkdir(parents=True)
    shutil.copy(ROOT / SETTINGS_TEST, tmp_path / SETTINGS_TEST)
    page = PAGE.read_text("utf-8")
    (weight,) = re.findall(r"^    short_sections: .*\n", page, re.MULTILINE)
    edit(tmp_path / "src/quire/search/search_settings.py", DECLARED, f'    """Settings."""\n\n{weight}')
    (field,) = re.findall(r"^    word_count: .*\n    .*\n", page, re.MULTILINE)
    (value,) = re.findall(r"^\+( +word_count=.*\n)", page, re.MULTILINE)
    above = '    """The kinds of block in it, by mdast\'s names."""\n'
    edit(tmp_path / "src/quire/model/record.py", above, field)
    edit(tmp_path / "src/quire/cut/assemble.py", "                strategy=strategy,\n", value)
    return tmp_path


@pytest.fixture
def python(repository):
    """Runs Python with the copy, by default in a project with one document."""
    project = repository / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs" / "a.md").write_text("# A\n\na needle\n")

    def run(*arguments: str, folder: Path = project, **environment: str) -> str:
        paths = os.pathsep.join([str(repository / "src"), str(ROOT / "tests")])
        variables = {**os.environ, "PYTHONPATH": paths, **environment}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    return run


READ_BACK = """
import quire
from support.chunk_schema import generated
[chunk] = quire.read_jsonl("chunks.jsonl")
assert (chunk.word_count, quire.Chunk.from_dict(chunk.to_dict())) == (4, chunk)
import pyarrow.parquet
print(pyarrow.parquet.read_table("chunks.parquet")["wordCount"].to_pylist(), generated()["properties"]["wordCount"])
"""


def test_a_new_field_of_the_chunk_is_there_everywhere(repository, python) -> None:
    assert '"wordCount":4,' in python("-m", "quire", "chunk", "docs")
    for name in ("chunks.jsonl", "chunks.parquet"):
        python("-m", "quire", "chunk", "docs", "-o", name)
    said = "[4] {'type': 'integer', 'minimum': 0, 'default': 0, 'description': 'Words of `originalText`.'}\n"
    assert python("-c", READ_BACK) == said


def test_a_new_weight_is_there_everywhere(repository, python) -> None:
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
