"""The worked example of CONTRIBUTING.md: a new search weight changes one source file, and is there everywhere."""

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

pytestmark = pytest.mark.skipif(not (ROOT / "CONTRIBUTING.md").is_file(), reason="not in quire's repository")


@pytest.fixture
def repository(tmp_path) -> Path:
    """A copy of the repository in which ``search/ranking_settings.py`` has one more field."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tmp_path / "src" / "quire", ignore=ignored)
    shutil.copytree(ROOT / "docs" / "reference", tmp_path / "docs" / "reference")
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "unit" / "test_settings.py", tmp_path / "tests" / "unit")
    file = tmp_path / "src" / "quire" / "search" / "ranking_settings.py"
    (field,) = re.findall(r"^    short_sections: .*\n", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    text = file.read_text("utf-8")
    assert DECLARED in text
    file.write_text(text.replace(DECLARED, f'{DECLARED}    """Settings."""\n\n{field}', 1), "utf-8")
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
