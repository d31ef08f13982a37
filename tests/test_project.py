"""What the project says about itself: its name, its addresses, and the files that other services read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import quire
from quire.cli.agents import AGENTS, UVX, configuration
from quire.cli.command_group import COMMANDS

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HOME = PROJECT["urls"]["Homepage"]
NOT_OURS = re.compile(
    r"(?:pip|pipx|uv|uv tool) (?:install|add|run) (?:-\S+ )*['\"]?quire(?![\w-])"  # the package of somebody else
    r"|--from ['\"]?quire(?![\w-])"
    rf"|(?<![\w-])quire\\?\[(?:{'|'.join(PROJECT['optional-dependencies'])})\b"
)
VERSIONS = [line.split(" :: ")[-1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
YAML_FILES = [
    ".pre-commit-hooks.yaml",
    "action.yml",
    ".github/dependabot.yml",
    *(str(file.relative_to(ROOT)) for file in sorted((ROOT / ".github").glob("*/*.yml"))),
]


def text_files() -> Iterator[Path]:
    """The files of the repository; those of a source distribution where there is no repository."""
    git = shutil.which("git")
    listed = subprocess.run(
        [git or "false", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=False
    )
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else map(str, ROOT.rglob("*"))
    for file in (ROOT / name for name in names):
        if file.is_file() and file.suffix not in (".bin", ".png") and "__pycache__" not in file.parts:
            yield file


def load(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def commands(value: object) -> Iterator[str]:
    """What the steps of a workflow run."""
    if isinstance(value, dict):
        if isinstance(value.get("run"), str):
            yield value["run"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from commands(item)


def test_the_name_is_that_of_the_distribution() -> None:
    assert PROJECT["name"] == quire.DISTRIBUTION
    assert PROJECT["urls"]["Issues"] == quire.ISSUES == f"{HOME}/issues"
    assert "DISTRIBUTION" not in quire.__all__


@pytest.mark.parametrize(
    "text",
    [
        "pip install quire",
        "pipx install 'quire[mcp]'",
        "uvx --from quire quire mcp",
        "needs `quire[web]`",
        "uv add quire",
    ],
)
def test_the_package_of_somebody_else_is_recognised(text: str) -> None:
    assert NOT_OURS.search(text)
    assert not NOT_OURS.search(re.sub(r"quire(?= |\[|$)(?! mcp)", "quire-md", text))


def test_nothing_tells_users_to_install_the_package_of_somebody_else() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in text_files()
        if file != Path(__file__)
        for match in NOT_OURS.finditer(file.read_text("utf-8", errors="replace"))
    ]
    assert wrong == []


@pytest.mark.parametrize("name", YAML_FILES)
def test_files_of_services_are_yaml(name: str) -> None:
    assert load(name)


def test_all_supported_pythons_are_tested_on_all_systems() -> None:
    matrix = load(".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == VERSIONS
    assert PROJECT["requires-python"] == f">={VERSIONS[0]}"
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"PYTHONS := {' '.join(VERSIONS[1:])}\n" in makefile


def test_workflows_make_what_there_is() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for name in YAML_FILES:
        for line in commands(load(name)):
            assert set(re.findall(r"\bmake ([a-z-]+)", line)) <= targets, name
            assert set(re.findall(r"\bquire ([a-z-]+)", line)) <= set(COMMANDS), name


def test_hooks_and_the_action_call_commands() -> None:
    hooks = load(".pre-commit-hooks.yaml")
    assert [hook["entry"] for hook in hooks] == ["quire links", "quire verify"]
    inputs = load("action.yml")["inputs"]
    used = re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8"))
    assert sorted(used) == sorted(inputs)


def test_pages_show_the_action_and_the_hooks_of_this_version() -> None:
    """Both are used by tag, as the action installs the quire beside it."""
    assert "$GITHUB_ACTION_PATH" in (ROOT / "action.yml").read_text("utf-8")
    pages = [page.read_text("utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]]
    shown = [tag for page in pages for tag in re.findall(r"(?:quire-md/quire@|\brev: )(\S+)", page)]
    assert shown == [f"v{quire.__version__}"] * 2


@pytest.mark.skipif(not shutil.which("sed"), reason="the workflow runs on Linux")
def test_a_tag_of_the_version_is_published_without_a_token() -> None:
    release = load(".github/workflows/release.yml")
    publish = release["jobs"]["publish"]
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads the key "on" as a truth value
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == "build"
    assert "make dist" in commands(release)
    [check] = [line for line in commands(release) if "__version__" in line]
    variables = {**os.environ, "GITHUB_REF_NAME": f"v{quire.__version__}"}
    assert subprocess.run(["sh", "-c", check], cwd=ROOT, env=variables, check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "agent"), [("plugin/.mcp.json", "claude-code"), ("plugin/skills/quire/SKILL.md", "skill")]
)
def test_the_plugin_has_what_quire_agents_writes(name: str, agent: str) -> None:
    """``QUIRE_UPDATE_DOCS=1`` writes it anew."""
    made = configuration(AGENTS[agent], "", UVX)
    if "QUIRE_UPDATE_DOCS" in os.environ:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(made, "utf-8", newline="\n")
    assert (ROOT / name).read_text("utf-8") == made


def test_the_manifests_of_the_plugin() -> None:
    marketplace = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text("utf-8"))
    plugin = json.loads((ROOT / "plugin/.claude-plugin/plugin.json").read_text("utf-8"))
    [entry] = marketplace["plugins"]
    assert (ROOT / entry["source"] / ".claude-plugin/plugin.json").is_file()
    assert entry["name"] == plugin["name"] == marketplace["name"] == "quire"
    assert (plugin["version"], plugin["repository"], marketplace["owner"]["name"]) == (
        quire.__version__,
        HOME,
        PROJECT["authors"][0]["name"],
    )


def test_the_entry_of_the_registry_of_servers() -> None:
    """By the rules of its schema of 2025-12-11: the name is in the README, versions are exact, descriptions short."""
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    [package] = entry["packages"]
    owner = HOME.split("/")[-2]
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    assert entry["name"] == f"io.github.{owner}/quire"
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text("utf-8")
    assert (package["registryType"], package["identifier"]) == ("pypi", quire.DISTRIBUTION)
    assert entry["version"] == package["version"] == quire.__version__
    assert len(entry["description"]) <= 100
    assert package["identifier"] in PROJECT["scripts"]  # `uvx quire-md` starts a program of that name
    assert package["packageArguments"][0]["value"] in COMMANDS


def test_addresses_are_those_of_the_project() -> None:
    owner = HOME.removeprefix("https://github.com/").partition("/")[0]
    for file in text_files():
        text = file.read_text("utf-8", errors="replace")
        for address in re.findall(r"github\.com/[\w.-]+/quire(?![\w.-])", text):
            assert address == f"github.com/{owner}/quire", file
