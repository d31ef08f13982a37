"""Where quire looks on each system. Only the choice can be simulated here, not another system's paths."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from quire.model.operating_system import application_folder, interrupts_blocked, user_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths here are POSIX's")
WINDOWS = {"APPDATA": "/roaming", "LOCALAPPDATA": "/local", "XDG_CACHE_HOME": "/not-this"}
XDG = {"XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": "/o", "XDG_DATA_HOME": "/d", "APPDATA": "/not-this"}


@pytest.mark.parametrize(
    ("platform", "environment", "folders"),
    [
        ("linux", XDG, ("/c/quire", "/o/quire", "/d/quire")),
        ("linux", {}, ("/home/me/.cache/quire", "/home/me/.config/quire", "/home/me/.local/share/quire")),
        ("darwin", {}, ("/home/me/.cache/quire", "/home/me/.config/quire", "/home/me/.local/share/quire")),
        ("win32", WINDOWS, ("/local/quire", "/roaming/quire", "/local/quire")),
    ],
)
def test_the_folders_of_the_user(monkeypatch, platform, environment, folders) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/me")
    assert tuple(user_folder(kind, environment) for kind in ("cache", "config", "data")) == tuple(map(Path, folders))


def test_no_folder_where_there_is_no_home() -> None:
    assert user_folder("config", {"XDG_CONFIG_HOME": "relative", "APPDATA": "relative"}) is None


@pytest.mark.parametrize(
    ("platform", "folder"), [("linux", "~/.config"), ("darwin", "~/Library/Application Support"), ("win32", "/roaming")]
)
def test_the_folder_of_desktop_applications(monkeypatch, platform, folder) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("APPDATA", "/roaming")
    assert application_folder() == folder


def test_interrupts_are_blocked_and_let_through_again() -> None:
    def is_blocked() -> bool:
        return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    with interrupts_blocked():
        assert is_blocked()
    assert not is_blocked()
