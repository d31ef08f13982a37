"""``quire web`` in a process of its own, for the tests of the server and of the page."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx


class Served:
    """A running server: its address and a client."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.process, self.address = process, address
        parts = urlsplit(address)
        self.port, self.token = parts.port, parts.path.strip("/")
        self.client = httpx.Client(base_url=address, trust_env=False)

    def ask(self, name: str, status: int = 200, **asked: Any) -> Any:
        answer = self.client.post(f"api/{name}", json=asked)
        assert answer.status_code == status, answer.text
        return answer.json()


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    with subprocess.Popen(
        [sys.executable, "-m", "quire", "web", *arguments], cwd=folder, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            served = Served(process, process.stdout.readline().decode().strip())
            with served.client:
                yield served
        finally:
            process.kill()
