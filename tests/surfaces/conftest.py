"""What the tests of the command line share: running it in process, and making documents."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outputs import DOCUMENTS
from processes import Result

from quire.cli import main


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command line, in this process."""

    def run_here(*arguments: object, stdin: bytes = b"") -> Result:
        capfdbinary.readouterr()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(each) for each in arguments])
        out, err = capfdbinary.readouterr()
        return Result(code, out, err.decode())

    return run_here


@pytest.fixture
def docs(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder of documents from ``name=content`` pairs."""

    def make(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return make


@pytest.fixture
def chunks() -> Callable[[Result], list[dict[str, Any]]]:
    """The chunks on standard output, as JSON lines or as one array."""

    def read(result: Result) -> list[dict[str, Any]]:
        if result.out.startswith(b"["):
            found: list[dict[str, Any]] = json.loads(result.out)
            return found
        return [json.loads(line) for line in result.out.decode().splitlines()]

    return read


@pytest.fixture
def source(docs: Callable[..., Path], tmp_path: Path) -> Path:
    """A folder of documents; what is written goes beside it."""
    docs({f"in/{name}": text for name, text in DOCUMENTS.items()})
    return tmp_path / "in"
