"""The official client of the protocol, connected to ``quire mcp`` in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from processes import QUIRE

MODES = ("2026-07-28", "legacy")
"""The protocol of today, and the one of clients that still begin with ``initialize``."""
TRANSPORTS = ("stdio", "http")


@asynccontextmanager
async def connected(
    transport: str, mode: str, *arguments: str, folder: Path, environment: dict[str, str] | None = None
) -> AsyncIterator[Client]:
    """A client of a server that was started in ``folder``."""
    if transport == "http":
        with http_server(*arguments, folder=folder, environment=environment) as url:
            async with Client(url, mode=mode) as client:
                yield client
    else:
        command = StdioServerParameters(
            command=QUIRE[0],
            args=[*QUIRE[1:], "mcp", *arguments],
            cwd=folder,
            env={**os.environ, **(environment or {})},
        )
        async with Client(command, mode=mode) as client:
            yield client


@contextmanager
def http_server(*arguments: str, folder: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """The URL of a server at any free port."""
    server = subprocess.Popen(
        [*QUIRE, "mcp", "--http", "--port", "0", *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        line = server.stderr.readline().decode()
        yield re.search(r"http://\S+", line)[0]
    finally:
        server.terminate()
        server.communicate()


def use(work: Callable[[Client], Awaitable[Any]], transport: str, mode: str, *arguments: str, **options: Any) -> Any:
    """The result of ``work`` with a client."""

    async def main() -> Any:
        async with connected(transport, mode, *arguments, **options) as client:
            return await work(client)

    return anyio.run(main)


def text_of(result: Any) -> str:
    """The text of a tool's answer."""
    [content] = result.content
    return content.text
