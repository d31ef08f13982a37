"""``quire chunk --engine`` with URLs: a server that speaks S3 has shards, or denies access."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from test_shards import DOCUMENTS, write_shard

from quire.cli.chunk import command as chunk_command
from quire.errors import InputError, QuireError

DENIED = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
LISTED = (
    b"<?xml version='1.0'?><ListBucketResult><Name>bucket</Name><Prefix>docs/</Prefix><IsTruncated>false</IsTruncated>"
    b"<Contents><Key>docs/a.md</Key><Size>5</Size></Contents></ListBucketResult>"
)


def listing(files: dict[str, bytes]) -> bytes:
    entries = "".join(f"<Contents><Key>{name}</Key><Size>{len(data)}</Size></Contents>" for name, data in files.items())
    return f"<?xml version='1.0'?><ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>".encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        files, name = self.server.files, self.path.partition("?")[0].removeprefix("/bucket/")  # type: ignore[attr-defined]
        may_list = self.server.may_list and "list-type" in self.path  # type: ignore[attr-defined]
        status, body = (200, listing(files) if files else LISTED) if may_list else (403, DENIED)
        if name in files:
            status, body = 200, files[name]
            if wanted := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or ""):
                status, body = 206, body[int(wanted[1]) : int(wanted[2]) + 1]
        self.send_response(status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = answer  # noqa: N815  names of the base class

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.may_list, made.files = False, {}
        made.query = f"endpoint_override=127.0.0.1:{made.server_address[1]}&scheme=http&region=us-east-1"
        made.url = f"s3://bucket/docs?{made.query}"
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def run(*arguments):
    return CliRunner().invoke(chunk_command, [*map(str, arguments), "--engine", "local"], standalone_mode=False)


def test_shards_are_read_from_object_storage(server, tmp_path) -> None:
    server.may_list = True
    for file in (
        write_shard(tmp_path / "a.parquet", DOCUMENTS[:30]),
        write_shard(tmp_path / "b.jsonl", DOCUMENTS[30:]),
    ):
        server.files[f"docs/{file.name}"] = file.read_bytes()
    for pattern, count in (("*.parquet", 30), ("b.jsonl", 10)):
        result = run(f"s3://bucket/docs/{pattern}?{server.query}", "-o", tmp_path / "out")
        assert result.return_value == 0, result.output
        paths = {row["sourcePath"] for row in pq.read_table(tmp_path / "out").to_pylist()}
        assert paths == {path for path, _ in (DOCUMENTS[:30] if count == 30 else DOCUMENTS[30:])}


def test_a_source_that_may_not_be_listed(server, tmp_path) -> None:
    error = run(server.url, "-o", tmp_path / "out").exception
    assert isinstance(error, InputError)
    assert "cannot be listed" in error.reason
    assert "check the address and your permissions" in str(error)
    assert not (tmp_path / "out").exists()


def test_a_document_that_may_not_be_read_is_reported(server, tmp_path) -> None:
    server.may_list = True
    result = run(server.url, "-o", tmp_path / "out")
    assert result.return_value == 2
    assert "a.md: cannot be read" in result.output
    assert "0 documents, 0 chunks, 0 tokens, 1 skipped" in result.output


def test_an_output_that_may_not_be_written(server, tmp_path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nText.\n")
    error = run(tmp_path / "docs", "-o", server.url).exception
    assert isinstance(error, QuireError)
    assert "cannot be written" in str(error)
    assert "check the address and your permissions" in str(error)
