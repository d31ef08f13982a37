"""What no documentation is: installed packages, build outputs, and the ``.txt`` files of programs.

Patterns under ``include`` bring it back; a file that is named is always taken.
"""

from collections.abc import Container, Mapping
from pathlib import Path
from types import MappingProxyType

HIDDEN_WITH_NOTES = (".github", ".claude", ".cursor")
"""Hidden folders that have documents for readers and agents."""
NEVER_NOTES = frozenset({"cmakelists.txt", "constraints.txt", "requirements.txt", "robots.txt", "top_level.txt"})
_PACKAGES = frozenset({"node_modules", "site-packages", "third_party", "vendor"})
_PACKAGE_ENDINGS = (".dist-info", ".egg-info")
_OUTPUTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "target": ("Cargo.toml", "pom.xml", "build.sbt"),
        "build": ("package.json", "pyproject.toml", "setup.py", "build.gradle", "build.gradle.kts", "CMakeLists.txt"),
        "dist": ("package.json", "pyproject.toml", "setup.py"),
    }
)
"""Folders of build outputs, by the files beside them that say so."""
_MANIFESTS = frozenset(
    {
        "pyproject.toml", "setup.py", "requirements.txt", "package.json", "Cargo.toml", "go.mod", "pom.xml",
        "build.gradle", "build.gradle.kts", "CMakeLists.txt", "Makefile", "Gemfile", "composer.json",
    }
)  # fmt: skip
"""Files that show a code repository."""
_DOCUMENTATION = frozenset(
    {"content", "contents", "doc", "docs", "documentation", "guide", "guides", "handbook", "help", "manual", "wiki"}
)
_MOST_FOLDERS_ABOVE = 8


def folder_reason(name: str, beside: Container[str]) -> str:
    """Why a folder is left out; empty if it is not. ``beside`` are the entries beside it."""
    if name in _PACKAGES or name.endswith(_PACKAGE_ENDINGS):
        return "installed packages"
    return "build output" if any(manifest in beside for manifest in _OUTPUTS.get(name, ())) else ""


def is_code_repository(folder: Path) -> bool:
    """Whether a folder has a file that only the top of a program's source has."""
    return any((folder / name).exists() for name in _MANIFESTS)


def is_documentation(folder: str) -> bool:
    """Whether a folder is called as folders of documentation are."""
    return folder.lower() in _DOCUMENTATION


def has_notes(path: str, names: frozenset[str] | set[str], above: bool) -> bool:
    """Whether ``.txt`` files in a folder are documents; ``above`` is the answer for the folder around it.

    ``path`` is that of the folder and ``names`` are its entries.
    """
    if is_documentation(path.rstrip("/").rpartition("/")[2]):
        return True
    return above and not _MANIFESTS & names


def has_notes_above(folder: Path) -> bool:
    """``has_notes`` for a folder that was named, by the folders above it if it is in a repository."""
    above = [folder, *folder.parents[:_MOST_FOLDERS_ABOVE]]
    top = next((number for number, path in enumerate(above) if (path / ".git").exists()), 0)
    for path in above[: top + 1]:
        if is_documentation(path.name):
            return True
        if is_code_repository(path):
            return False
    return True
