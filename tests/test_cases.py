"""The golden cases: each gives what its file says, and keeps the laws."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import quire
from support import cases

FILES = sorted(path for path in cases.FOLDER.rglob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(cases.FOLDER)) for file in FILES])
def test_case(file: Path) -> None:
    case = cases.read(file)
    chunks = cases.cut(case)
    got = cases.render(case, chunks)
    if os.environ.get("QUIRE_UPDATE_CASES"):
        cases.write(case, got)
        case = cases.read(file)
    assert quire.verify(case.text, chunks, tokenizer=case.options.get("tokenizer")) == []
    assert got == case.expected


WITH_TIKTOKEN = """
import sys
sys.modules["toktok"] = None
import pytest
from quire.tokens.tokenizers import resolve
for name in ("o200k_base", "cl100k_base"):
    resolve(name, name).count("\\U00010330")  # a letter that takes an engine, which then counts everything
assert "tiktoken" in sys.modules
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "tests/test_cases.py::test_case"]))
"""


def test_all_cases_counted_by_tiktoken() -> None:
    """Systems that toktok-rs has no wheel for count with tiktoken and the shipped vocabulary."""
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", WITH_TIKTOKEN], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
