"""An OpenAI-compatible endpoint on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server(ThreadingHTTPServer):
    """Answers with vectors [length of the text, its position], after the answers that are planned.

    At /rerank, a text's score is its number of words that are in the query. ``together`` is how many requests must have
    arrived before any is answered.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.planned: list[Any] = []
        """Answers: a status, headers and content; "hang up"; "wait" until the server stops; None for vectors."""
        self.models: list[tuple[int, dict[str, str], Any]] = [(404, {}, {})]
        """Answers to GET; the last one is repeated."""
        self.asked: list[str] = []
        self.stopping = threading.Event()
        self.together = threading.Barrier(1)
        self.headers: list[dict[str, str]] = []
        self.seen: list[tuple[str, dict[str, Any], str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        planned = self.server.models.pop(0) if len(self.server.models) > 1 else self.server.models[0]
        self.answer(*planned)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, body, self.headers.get("Authorization")))
        self.server.headers.append(dict(self.headers))
        self.server.together.wait(60)
        planned = self.server.planned.pop(0) if self.server.planned else None
        if planned == "hang up":
            self.connection.close()
            return
        if planned == "wait":
            self.server.stopping.wait()
            return
        if planned is None and self.path.endswith("/rerank"):
            words = set(body["query"].lower().split())
            texts = body.get("documents") or body["texts"]
            scores = [len(words.intersection(text.lower().split())) for text in texts]
            if "documents" in body:  # Cohere, Jina
                ranked = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
                planned = (200, {}, {"results": ranked[::-1]})
            else:  # TEI
                planned = (200, {}, [{"index": at, "score": score} for at, score in enumerate(scores)][::-1])
        if planned is None:
            data = [{"index": at, "embedding": [len(text), at]} for at, text in enumerate(body["input"])]
            planned = (200, {}, {"data": data[::-1]})
        self.answer(*planned)

    def answer(self, status: int, headers: dict[str, str], content: Any) -> None:
        encoded = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(encoded))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def serving() -> Iterator[Server]:
    """A server, until the end of the block."""
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.stopping.set()
        made.shutdown()
        thread.join()
