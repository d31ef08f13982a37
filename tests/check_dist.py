# ruff: noqa: T201
"""``make dist``: build the sdist and the wheel, check them, and run the README in empty environments.

    python tests/check_dist.py [PYTHON …]

The wheel is installed without and with light extras, on every Python that is named. The README's Python examples and its
commands then run in a folder that has only the README and docs/, with the repository out of reach. With the extras that
the README installs, its first block runs in a shell as printed: `quire web` must serve its page, the agent's server answer.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from http import HTTPStatus
from pathlib import Path

from quire import __version__

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
LIGHT_EXTRAS = ("", "parquet", "huggingface", "mcp,web")
_PYTHON = re.compile(r"^```python[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ (quire .*)$", re.MULTILINE)
_NEED_EXTRAS = ("quire web", "quire agents")


def main(pythons: list[str]) -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    (wheel,) = DIST.glob("*.whl")
    (sdist,) = DIST.glob("*.tar.gz")
    run(sys.executable, "-m", "pyroma", "--min", "10", sdist)
    check_contents(wheel, sdist)
    check_links(wheel)
    for python in pythons or [sys.executable]:
        for extra in declared(wheel):
            with tempfile.TemporaryDirectory() as folder:
                check_installed(python, wheel, extra, Path(folder))


def metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        return archive.read(name).decode()


def declared(wheel: Path) -> list[str]:
    """The light extras that this wheel has."""
    extras = re.findall(r"^Provides-Extra: (.*)$", metadata(wheel), re.MULTILINE)
    return [extra for extra in LIGHT_EXTRAS if not extra or set(extra.split(",")) <= set(extras)]


def check_links(wheel: Path) -> None:
    """Links and pictures of the description lead to the repository, at the tag of this version, and the files exist."""
    for link in re.findall(r"\]\(([^)\s]+)\)", metadata(wheel)):
        inside = re.fullmatch(
            rf"https://[\w.]+/quire-md/quire/(?:blob/)?v{re.escape(__version__)}/([^#]+)(?:#.*)?", link
        )
        if not inside or not (ROOT / inside[1]).is_file():
            sys.exit(f"{wheel.name}: its description has the link {link}")


def check_contents(wheel: Path, sdist: Path) -> None:
    """The wheel has every file of the package and nothing else; the sdist also has tests and documentation."""
    sources = {
        file.relative_to(ROOT / "src").as_posix()
        for file in (ROOT / "src" / "quire").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    if packed != sources:
        sys.exit(f"{wheel.name}: differs from src/ in {sorted(packed ^ sources)}")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    files = {"CHANGELOG.md", "LICENSE", "Makefile", "README.md", "action.yml", "docs/search.md", "tests/test_laws.py"}
    missing = {*files, ".github/workflows/tests.yml", ".pre-commit-hooks.yaml", "zensical.toml"} - names
    if missing:
        sys.exit(f"{sdist.name}: lacks {sorted(missing)}")
    print(f"{wheel.name}: {len(packed)} files, {wheel.stat().st_size // 1024} KB; {sdist.name}: {len(names)} files")


def check_installed(python: str, wheel: Path, extra: str, folder: Path) -> None:
    """Install the wheel into an empty environment and follow the README there."""
    run(python, "-m", "venv", folder / "venv")
    tools = folder / "venv" / "bin"
    run(tools / "pip", "install", "--quiet", f"{wheel}[{extra}]" if extra else wheel)
    work = folder / "work"
    work.mkdir()
    shutil.copy(ROOT / "README.md", work)
    shutil.copytree(ROOT / "docs", work / "docs")
    readme = (work / "README.md").read_text("utf-8")
    for example in _PYTHON.findall(readme):
        run(tools / "python", "-I", "-c", example, folder=work)
    (block,) = _BLOCK.findall(readme)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    for command in _COMMAND.findall(block):
        if "web" in extra or not command.startswith(_NEED_EXTRAS):
            (serves if command.startswith("quire web") else prints)(command, work, environment)
    if "mcp" in extra:
        prints("quire agents --check claude-code", work, environment)
    print(f"{python}, {f'extras {extra}' if extra else 'no extra'}: the README works")


def prints(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Run a command as a shell does; it must end well."""
    run("sh", "-c", command, folder=folder, environment=environment)


def serves(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Start a server as a shell does, read the page at the address that it prints, and end it as Ctrl-C does."""
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(["sh", "-c", f"exec {command}"], cwd=folder, env=environment, **pipe) as process:
        address = next((line.strip() for line in process.stdout if line.startswith("http")), "")
        with urllib.request.urlopen(address) as page:
            if page.status != HTTPStatus.OK or b"<html" not in page.read():
                sys.exit(f"{command}: no page at {address}")
        process.send_signal(signal.SIGINT)


def run(*command: object, folder: Path | None = None, environment: dict[str, str] | None = None) -> None:
    words = [str(each) for each in command]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main(sys.argv[1:])
