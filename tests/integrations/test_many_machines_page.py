"""The examples of docs/many-machines.md, run as they are printed there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import quire

PAGE = Path(__file__).parents[2] / "docs" / "many-machines.md"
EXAMPLES = re.findall(r"```python[^\n]*\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "_index.md").write_text("# Start\n\nHello.\n")
    (docs / "empty.md").write_text("")
    (docs / "guide.md").write_text("# Guide\n\n" + "Words, and more words. " * 400 + "\n\n## Part\n\nMore.\n")
    return tmp_path


@pytest.mark.parametrize(("package", "strategy"), [("pyarrow", "packed"), ("dask", "flow"), ("pyspark", "packed")])
def test_an_example(package, strategy, folder):
    pytest.importorskip(package)
    if package == "pyspark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    code = next(
        each for each in EXAMPLES if package == "pyarrow" or f"import {package}" in each or f"from {package}" in each
    )
    (folder / "example.py").write_text(code)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}  # Spark's way to name the Python of its workers
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = [len(chunks) for chunks in quire.chunk_dir(folder / "docs", strategy)]
    assert str(sum(expected)) == done.stdout.split()[0]
    assert min(expected) == 0  # the empty document makes no row
