"""The worked examples of CONTRIBUTING.md: a search weight changes one source file, a field of the chunk two."""

from __future__ import annotations

import json
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

pytestmark = pytest.mark.skipif(not (ROOT / "CONTRIBUTING.md").is_file(), reason="not in quire's repository")


def insert(file: Path, above: str, pattern: str) -> None:
    """Insert the lines of CONTRIBUTING.md that match ``pattern`` below a line of ``file``."""
    (lines,) = re.findall(pattern, (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    text = file.read_text("utf-8")
    assert text.count(above) == 1
    file.write_text(text.replace(above, above + lines), "utf-8")


@pytest.fixture
def source(tmp_path) -> Path:
    """A copy of the package."""
    copy = tmp_path / "src" / "quire"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture
def repository(tmp_path, source) -> Path:
    """A copy of the repository in which ``search/ranking_settings.py`` has one more field."""
    shutil.copytree(ROOT / "docs" / "reference", tmp_path / "docs" / "reference")
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "unit" / "test_settings.py", tmp_path / "tests" / "unit")
    insert(source / "search" / "ranking_settings.py", DECLARED, r"^    short_sections: .*\n")
    return tmp_path


def test_a_new_weight_is_there_everywhere(repository) -> None:
    project = repository / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs" / "a.md").write_text("# A\n\nneedle\n")

    def python(*arguments: str, folder: Path = project, **environment: str) -> str:
        variables = {**os.environ, "PYTHONPATH": str(repository / "src"), **environment}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

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
    test = str(repository / "tests" / "unit" / "test_settings.py")
    python(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, test, folder=repository, QUIRE_UPDATE_DOCS="1"
    )
    row = "| `search.short_sections` | `0.2` | a number from 0 to 1000 | extra weight of sections below 100 tokens |"
    assert row in (repository / "docs" / "reference" / "configuration.md").read_text("utf-8")


def test_a_new_field_of_the_chunk_is_there_everywhere(tmp_path, source) -> None:
    insert(source / "record.py", '    """The text to show."""\n', r"^    words: .*\n    .*\n")
    insert(source / "finish" / "assemble.py", "chunk_number=number,", "`(words=.*,)`")
    program = """
import json, sys, pyarrow.parquet, quire
from quire.wire import json_schema
from quire.write import write_parquet
chunks = quire.chunk("# A\\n\\nthree more words")
(chunk,) = chunks
json.dump({
    "chunk": chunk.words,
    "record": chunk.to_dict()["words"],
    "read": quire.Chunk.from_dict(chunk.to_dict()) == chunk,
    "flat": quire.flat(chunk)["words"],
    "schema": json_schema.generated()["properties"]["words"],
    "rows": write_parquet("x.parquet", [chunks]),
    "parquet": pyarrow.parquet.read_table("x.parquet").column("words").to_pylist(),
}, sys.stdout)
"""
    variables = {**os.environ, "PYTHONPATH": str(source.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=variables, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == {
        "chunk": 5,
        "record": 5,
        "read": True,
        "flat": 5,
        "schema": {"type": "integer", "minimum": 0, "default": 0, "description": "How many words its text has."},
        "rows": 1,
        "parquet": [5],
    }
