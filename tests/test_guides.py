"""The four guides for a first visit: their commands run as printed, on the sample documentation of docs/sample/.

``QUIRE_UPDATE_DOCS=1`` writes the output of the commands anew. A line ``…`` stands for any lines.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = [DOCS / "guides" / f"{name}.md" for name in ("embed", "agent", "maintain")] + [DOCS / "many-machines.md"]
BLOCK = re.compile(r"^```console\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
UPDATE = "QUIRE_UPDATE_DOCS" in os.environ

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="not in quire's repository")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the sample documentation, and a user who has no settings."""
    folder = tmp_path / "my-project"
    shutil.copytree(DOCS / "sample", folder / "docs")
    (folder / "src").mkdir()
    (folder / "src" / "receipts.py").write_text("def send_receipt(order):\n    '''A job that must not run twice.'''\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    program = tools / "quire"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m quire "$@"\n')
    program.chmod(0o755)
    return folder


def run(command: str, folder: Path) -> str:
    """What a command prints, both streams."""
    home = folder.parent
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")},
        **{name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")},
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
    }
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(command, check=False, shell=True, cwd=folder, env=variables, text=True, **both).stdout


def steps(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with the output that is printed below it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def matches(printed: str, expected: str) -> bool:
    pattern = "".join(r"(?s:.*\n)?" if line == "…" else re.escape(line) + r"\n" for line in expected.splitlines())
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.skipif(sys.platform == "win32", reason="the guides are written for a POSIX shell")
@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_prints_what_it_says(guide: Path, project: Path) -> None:
    text, done = guide.read_text("utf-8"), 0
    for block in BLOCK.findall(text):
        made = ""
        for command, expected in steps(block):
            printed = expected
            if re.match(r"(quire|git diff) ", command):
                printed, done = run(command.partition("  #")[0], project), done + 1
                if matches(printed, expected):
                    printed = expected
            made += f"$ {command}\n{printed}"
        if made != block and UPDATE:
            text = text.replace(block, made)
            guide.write_text(text, "utf-8", newline="\n")
        else:
            assert made == block
    assert done >= 2
