"""The limits of the servers, with real connections, and that Ctrl-C ends them whatever their threads do."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest

pytest.importorskip("uvicorn")

SERVER = """
import sys, h11
from threading import Event
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from quire.web import local_server

async def answer(request):
    return PlainTextResponse(str(len(await request.body())))

async def stuck(request):
    print("stuck", flush=True)
    await run_in_threadpool(Event().wait)

async def long(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for more in (True, False):  # the second half waits until the first is read, or the connection is closed
        await send({"type": "http.response.body", "body": b"x" * 25_000_000, "more_body": more})
    print("over", flush=True)

header, body, read, most = map(float, sys.argv[1:])
local_server.SECONDS = {h11.IDLE: header, h11.SEND_BODY: body}
local_server._READ_SECONDS = read
local_server.MOST_PER_CLIENT = int(most)
routes = [Route("/", answer, methods=["GET", "POST"]), Route("/stuck", stuck), Mount("/long", app=long)]
with local_server.listen("127.0.0.1", 0) as listener:
    print(listener.getsockname()[1], flush=True)
    local_server.serve(Starlette(routes=routes), listener, lifespan="off")
"""


@contextmanager
def server(
    *, header: float = 60, body: float = 60, read: float = 60, most: int = 400
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    limits = map(str, (header, body, read, most))
    command = [sys.executable, "-c", SERVER, *limits]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


def connect(port: int, data: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(data)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Whether the server closes a connection on which it has sent nothing; waits for it."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def status(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_header_must_come_in_time() -> None:
    with server(header=0.2) as (_, port), ExitStack() as stack:
        beginnings = (b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\nX: ") * 20
        connections = [stack.enter_context(connect(port, data)) for data in beginnings]
        assert all(map(is_closed, connections))
        assert status(port) == 200


def test_the_header_of_the_next_request_must_come_in_time() -> None:
    with server(header=0.2) as (_, port), connect(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as connection:
        answer = b""
        while not answer.endswith(b"\r\n\r\n0"):
            answer += connection.recv(1000)
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert is_closed(connection)


def test_a_body_must_come_in_time() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"
    with server(body=0.2) as (_, port), connect(port, head) as connection:
        assert is_closed(connection)
        assert status(port) == 200


def test_an_answer_must_be_read_in_time() -> None:
    with server(read=0.2) as (process, port), connect(port, b"GET /long/ HTTP/1.1\r\nHost: x\r\n\r\n") as connection:
        assert process.stdout
        assert process.stdout.readline() == b"over\n"
        assert is_closed_within(connection, 50_000_000)


def is_closed_within(connection: socket.socket, most: int) -> bool:
    """Whether a connection is closed before so many bytes came."""
    with suppress(ConnectionError):
        while data := connection.recv(1_000_000):
            most -= len(data)
    return most > 0


def test_the_oldest_connection_without_a_request_makes_room() -> None:
    with server(most=8) as (_, port), ExitStack() as stack:
        connections = [stack.enter_context(connect(port, b"GET")) for _ in range(30)]
        assert all(is_closed(connection) for connection in connections[:22])
        assert status(port) == 200
        assert is_closed(connections[22])
        connections[29].sendall(b" / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connections[29].recv(12) == b"HTTP/1.1 200"


def test_ctrl_c_ends_a_server_with_a_stuck_thread() -> None:
    with server() as (process, port), connect(port, b"GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n"):
        assert process.stdout
        assert process.stdout.readline() == b"stuck\n"
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=60) == 128 + signal.SIGINT
