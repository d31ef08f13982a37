"""The path to `support`, folders of the user that are empty, the two ways to write files, and Hypothesis profiles.

The environment variable HYPOTHESIS_PROFILE chooses one:

    ci      150 examples a property; the default
    quick   25, while writing code
    fuzz    5,000, or as many as QUIRE_FUZZ_EXAMPLES says

`ci` and `quick` try the same examples every time; `fuzz` tries new ones, keeps those that fail in `.hypothesis` and
tries them first the next time.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# `support` is imported by that name whatever pytest's import mode is.
sys.path.insert(0, str(Path(__file__).parent))

# Hundreds of tests start quire as a process, which takes twice as long where it has to compile all modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_BASE = settings(
    settings.get_profile("default"),
    deadline=None,
    print_blob=True,
    # Whole documents are large and slow beside what these checks expect; the examples themselves are wanted.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

# The same examples every time, so that a green run stays green; `fuzz` is there to find new ones.
settings.register_profile("ci", _BASE, max_examples=150, derandomize=True)
settings.register_profile("quick", _BASE, max_examples=25, derandomize=True)
settings.register_profile("fuzz", _BASE, max_examples=int(os.environ.get("QUIRE_FUZZ_EXAMPLES", "5000")))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_NUMBERS = count()


@pytest.fixture(autouse=True)
def user_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder for each test, with the cache and the configuration in it; none of them exists yet."""
    folder = tmp_path_factory.getbasetemp() / f"home-{next(_NUMBERS)}"
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    return folder


@pytest.fixture(params=["exchanged", "renamed"])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder that quire may exchange as a whole, and one in which it must rename files."""
    folder = tmp_path / "out"
    if request.param == "renamed":
        (folder / "somebody's").mkdir(parents=True)  # which makes it another's folder
    return folder
