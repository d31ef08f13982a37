"""A browser, and pages that fail a test for a console error or a request to another host. ``make test-web`` runs these."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.web_server import Served, serving

FOLDER = os.environ.get("QUIRE_BROWSER")
"""Where ``install.py`` has put the browser and axe-core."""
HOSTILE = """\
# <img src=x onerror="window.hurt = 1"> title

<script>window.hurt = 2</script>

<svg onload="window.hurt = 3"><script>window.hurt = 4</script><animate onbegin="window.hurt = 5" attributeName="x"/></svg>

<details open ontoggle="window.hurt = 6"><summary>x</summary></details> <iframe src="javascript:parent.hurt = 7"></iframe>

[link](javascript:window.hurt=8) ![image](https://other.example/pixel.png "><img src=x onerror=window.hurt=9>)

<style>body { display: none }</style> <base href="https://other.example/"> <meta http-equiv="refresh" content="0;url=//other.example">

## `</script><script>window.hurt = 10</script>` heading &lt;b&gt;

<link rel="stylesheet" href="https://other.example/a.css"> \u202e backwards \u202c <form action="https://other.example"><button autofocus onfocus="window.hurt = 11">x</button></form>
"""
"""A document that tries to run scripts and to reach another host."""
RELAY = Path(__file__).parents[2] / "docs" / "strategies" / "guide.md"


def installed(name: str) -> str:
    return Path(FOLDER or "", name).read_text("utf-8")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if FOLDER is None and "browser" in item.path.parts:
            item.add_marker(pytest.mark.skip(reason="make test-web runs these in a browser"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("browser")
    long = "\n\n".join(f"## Part {number}\n\n" + f"Sentence {number} of many words. " * 30 for number in range(120))
    files = {
        "docs/relay.md": RELAY.read_text("utf-8"),
        "docs/hostile.md": HOSTILE,
        "docs/guides/long.md": f"# Long\n\n{long}\n",
        "docs/guides/very-long.md": "".join(
            f"## Part {number} 🦊\n\n{'Many words. ' * 9}\n\n" for number in range(2500)
        ),
        "docs/guides/wide.md": "# Wide 🦊\n\nFoxes 🦊🦊 run.\r\n\r\n## Next 🦊\r\n\r\nAnd stop.\r\n",
        "docs/guides/empty.md": "",
        "docs/guides/blank.md": "\n \n",
        'docs/odd "name" <i>&#%3f?.md': "# Odd\n\nText.\n",
        "docs/guides/one-line.md": "word " * 200_000,
        "docs/guides/findings.md": "# A\n\nText.\n\n# Empty\n\n# B\n\n" + "word " * 3000 + "\n",
    }
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(text.encode())
    return top


@pytest.fixture(scope="session")
def server(folder: Path) -> Iterator[Served]:
    with serving(folder, "docs") as served:
        yield served


@pytest.fixture(scope="session")
def docs_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The documentation of quire."""
    with serving(tmp_path_factory.mktemp("docs"), str(RELAY.parents[1])) as served:
        yield served


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415  only make test-web installs it

    expect.set_options(timeout=60_000)  # a busy machine is slow; a page that is wrong fails all the same
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=installed("chromium").strip(),
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
        )
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Any, server: Served) -> Iterator[Callable[..., Any]]:
    """Opens the inspector, or another address, and watches what the page does."""
    problems: list[str] = []
    contexts = []

    def open_one(place: str = "", *, address: str = "", ready: str = ".band .label", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        allowed = (address.partition("#")[0] or server.address, "data:", "blob:")
        page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(allowed) else problems.append(asked.url))
        page.on("dialog", lambda dialog: (problems.append("a dialog"), dialog.dismiss()))
        page.problems = problems
        page.goto((address or server.address) + place)
        if ready:
            page.wait_for_selector(ready)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture(scope="session")
def axe() -> str:
    return installed("node_modules/axe-core/axe.min.js")
