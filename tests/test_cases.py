"""The golden cases: each gives what its file says, and keeps the laws."""

from __future__ import annotations

import os
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
