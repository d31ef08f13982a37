"""Documents to write the chunks of, and what was written; for test_cli_output.py and test_cli_strategies.py."""

from __future__ import annotations

import json

import quire

LONG = " ".join(f"This is sentence number {number} of a text that goes on." for number in range(150))
DOCUMENTS = {
    "a.md": f"# A\n\nOne  \ntwo.\n\n\n\n## B\n\n{LONG}\n\n### C\n\n- x\n- y\n\n#### D\n\nfour words in all\n",
    "guides/a.md": f"Before.\n\n# Guide\n\n## Empty\n\n## Setup Ä\n\n{LONG[:900]}\n\n## Use\n\nshort\n",
    "guides/deep/a.md": "text only\n",
    "more.md": "".join(f"# M{number}\n\n{LONG[:600]}\n\n{LONG[600:1100]}\n\n" for number in range(6)) + "# M\n\nlast\n",
}


def cut(source, strategy="packed", **options) -> list[quire.Chunks]:
    """What the library makes of the documents in a folder, in the order of the command line."""
    files = sorted(source.rglob("*.md"), key=lambda file: file.relative_to(source).as_posix())
    return [quire.chunk_file(file, strategy, path=file.relative_to(source).as_posix(), **options) for file in files]


def written(out) -> dict[str, bytes]:
    """All files in a folder but quire's own."""
    found = {file.relative_to(out).as_posix(): file.read_bytes() for file in out.rglob("*") if file.is_file()}
    return {name: data for name, data in found.items() if not name.startswith(".quire/")}


def left(folder) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def lines(data: bytes) -> list[dict]:
    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def refused(result) -> str:
    """The one line of a run that was refused before it did anything."""
    assert (result.code, result.out) == (2, b"")
    assert result.err.startswith("quire: ")
    assert result.err.count("\n") == 1
    return result.err
