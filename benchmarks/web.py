"""The inspector with a document of a megabyte, and with 15,000 documents: what the server and the page compute.

CPU time, as that is how long an answer takes on one core. The page is measured in a browser if ``QUIRE_BROWSER`` names
the folder that tests/browser/install.py made, and playwright is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.shapes import prose
from quire.model.options import STRATEGIES
from quire.output.chunk_json import to_json
from quire.read.discover import Found
from quire.web import chunk_view
from quire.web.inspector import ServedDocuments

ROUNDS = 3
CAPS = (1024, 512, 256, 128, 64)
NAME = "document.md"
SCREEN = 4_000  # characters that a reader sees at once, and more
CHANGE = """async ([id, value]) => {
  const field = document.getElementById(id), body = document.getElementById('body');
  const drawn = new Promise((done) => new MutationObserver((_, observer) => {
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(done));
  }).observe(body, { childList: true }));
  if (field.type === 'radio') field.click();
  else { field.focus(); field.value = value; field.dispatchEvent(new Event('input')); }
  await drawn;
}"""
"""Change an option and wait for the frame with the new bands."""


def run() -> list[str]:
    """The tables as lines of Markdown."""
    text = _joined(1_000_000)
    size = f"{len(text.encode()) / 1e6:.1f} MB"
    how = f"CPU time, the best of {ROUNDS}; of the browser, the page's thread."
    title = f"A document of {size}: pages of documentation, joined. {how}"
    return [title, "", *_server(text), "", *_page(text), "", *_many_documents()]


def _joined(size: int) -> str:
    """Pages of the shared data without front matter, up to ``size`` bytes; prose where there are none."""
    pages = [text for path, text in measure.documents() if path.startswith("linkqa") and not text.startswith("---")]
    joined, length = [], 0
    for page in pages[:: max(1, len(pages) // 400)]:
        if length < size:
            joined.append(page)
            length += len(page.encode())
    return "\n\n".join(joined) or prose(size)


def _server(text: str) -> list[str]:
    """What a changed option costs: the whole cut, and the chunks around a position."""
    document = chunk_view.document_record(chunk_view.parsed(text, NAME, {}))
    parse = _cpu(lambda: (chunk_view._parsed.cache_clear(), chunk_view.parsed(text, NAME, {})))  # noqa: SLF001
    sent = f"Opening it: {parse:.0f} ms to parse, {_cpu(lambda: to_json(document)):.0f} ms to send."
    lines = [sent, "", "| server | chunks | all, ms | around the view, ms | the same chunks |", "|---|---|---|---|---|"]
    for strategy, options in _options():
        whole = chunk_view.cut_record(chunk_view.cut(text, NAME, strategy, **options))["chunks"]
        cut = _cpu(
            lambda s=strategy, o=options: (
                chunk_view.cut.cache_clear(),
                _sent(chunk_view.cut(text, NAME, s, **o)),
            )
        )
        costs, same, seen = [], 0, 0
        for near in range(0, len(text), len(text) // 20):
            costs.append(
                _cpu(lambda s=strategy, o=options, n=near: to_json(chunk_view.part_record(text, NAME, s, n, **o)))
            )
            rows = chunk_view.part_record(text, NAME, strategy, near, **options)["chunks"]
            view = [row for row in whole if row[1] > near and row[0] < near + SCREEN]
            seen, same = seen + len(view), same + sum(row in rows for row in view)
        around = f"{sorted(costs)[len(costs) // 2]:.0f}, at most {max(costs):.0f}"
        lines.append(f"| {_name(strategy, options)} | {len(whole):,} | {cut:.0f} | {around} | {same} of {seen} |")
    return lines


def _options() -> Iterator[tuple[str, dict[str, int]]]:
    for strategy, kind in STRATEGIES.items():
        yield strategy, {}
        largest = kind().cap or 0
        yield from ((strategy, {"max_tokens": cap}) for cap in CAPS if cap < largest)


def _name(strategy: str, options: Mapping[str, int]) -> str:
    return f"`{strategy}`" + "".join(f", cap {cap}" for cap in options.values())


def _sent(chunks: Any) -> bytes:
    return to_json(chunk_view.cut_record(chunks))


def _cpu(work: Callable[[], object]) -> float:
    """The best CPU time of ``work`` in milliseconds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best * 1e3


def _page(text: str) -> list[str]:
    """The main thread of the page and the server together, until the frame with the new bands is drawn."""
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  only make test-web installs it

        executable = Path(os.environ["QUIRE_BROWSER"], "chromium").read_text().strip()
    except (ImportError, KeyError):
        return ["The page was not measured: `QUIRE_BROWSER` is not set."]
    with _serving(text) as (address, server), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        opened = [_opened(browser, address, server) for _ in range(ROUNDS + 1)]
        page, session, _ = opened[-1]
        first, *others = [each[2] for each in opened]
        head = f"Opening the page in Chromium {browser.version}, until bands are drawn: {first:.0f} ms"
        lines = [
            f"{head}, {min(others):.0f} ms when it is opened again.",
            "",
            "| page and server | ms until the bands in view are drawn |",
            "|---|---|",
        ]
        best: dict[str, float] = {}
        for _ in range(ROUNDS):
            for strategy, options in _options():
                page.goto(f"{address}#doc=docs/{NAME}&s={'tree' if strategy != 'tree' else 'packed'}")
                page.reload()
                page.wait_for_selector(".laws:not(.unchecked) .ok", state="attached")
                changes = [(f"s-{strategy}", ""), *((f"o-{name}", value) for name, value in options.items())]
                for change in changes[:-1]:
                    page.evaluate(CHANGE, change)
                    page.wait_for_selector(".laws:not(.unchecked) .ok", state="attached")
                before = _spent(session, server)
                page.evaluate(CHANGE, changes[-1])
                name = _name(strategy, options)
                best[name] = min(best.get(name, 9e9), _spent(session, server) - before)
        browser.close()
    return [*lines, *(f"| {name} | {taken:.0f} |" for name, taken in best.items())]


def _opened(browser: Any, address: str, server: int) -> tuple[Any, Any, float]:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _spent(session, server)
    page.goto(f"{address}#doc=docs/{NAME}")
    page.wait_for_selector(".band .label")
    return page, session, _spent(session, server) - before


def _spent(session: Any, server: int) -> float:
    """The CPU time so far of the page's main thread and of the server, in milliseconds."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    page = next(each["value"] for each in metrics if each["name"] == "ThreadTime")
    clock = (~server << 3) | 2  # of another process, as clock_getcpuclockid(3) makes it on Linux
    return (page + time.clock_gettime(clock)) * 1e3


@contextmanager
def _serving(text: str) -> Iterator[tuple[str, int]]:
    """``quire web`` with one document: its address and its process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "docs", NAME)
        file.parent.mkdir()
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "quire", "web", "docs"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            yield process.stdout.readline().decode().strip(), process.pid
            process.kill()


def _many_documents() -> list[str]:
    """The calls that depend on the number of documents."""
    rows = ["| documents | start, ms | open a folder, ms | filter, ms |", "|---|---|---|---|"]
    for number in (10, 15_000):
        paths = [f"area-{index % 30}/page-{index}.md" for index in range(number)]
        found = [Found(Path("/docs") / path, path, "/docs") for path in paths]
        documents = ServedDocuments(partial(list, found))
        calls = (
            lambda d=documents: to_json([d.first(), d.listing("")]),
            lambda d=documents: to_json(d.listing("docs/area-3")),
            lambda d=documents: to_json(d.matching("page 1")),
        )
        rows.append(f"| {number:,} | " + " | ".join(f"{_cpu(call):.1f}" for call in calls) + " |")
    return rows
