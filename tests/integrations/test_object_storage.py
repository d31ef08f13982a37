"""Object storage, with a server of S3 in this process: documents and shards are read from it, results are written to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest

from quire.cli import main
from quire.errors import StoreError

pytest.importorskip("lancedb", reason="needs quire-md[lancedb]: make test-integrations")
pytest.importorskip("moto", reason="needs moto[server]: make test-integrations")

import boto3
from moto.server import ThreadedMotoServer

from integrations.written_sections import page
from quire.stores import NodeIndex, copy_documents, lancedb
from quire.stores.store import converted_errors

TEXTS = {f"page-{number}.md": page(number) for number in range(24)}
STORE = "lancedb:s3://bucket/sections"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path):
    """A bucket with the documents and with two shards of them; the current folder is empty."""
    for name, value in {
        "ACCESS_KEY_ID": "key",
        "SECRET_ACCESS_KEY": "secret",
        "REGION": "us-east-1",
        "ENDPOINT": address,
        "ENDPOINT_URL": address,
        "ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.chdir(tmp_path)
    bucket = boto3.resource("s3", endpoint_url=address, region_name="us-east-1").create_bucket(Bucket="bucket")
    put(bucket, TEXTS)
    yield bucket
    bucket.objects.all().delete()
    bucket.delete()


def put(bucket, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        bucket.put_object(Key=f"docs/{path}", Body=text.encode())
    rows = [json.dumps({"path": path, "text": text}) for path, text in texts.items()]
    for number in range(2):
        bucket.put_object(Key=f"shards/{number}.jsonl", Body="\n".join(rows[number::2]).encode())


def printed(capfd, *arguments: str) -> str:
    assert main([*arguments]) == 0, capfd.readouterr().err
    return capfd.readouterr().out


@pytest.mark.parametrize("source", ["s3://bucket/docs", "s3://bucket/shards/*.jsonl"])
def test_sections(source: str, bucket, capfd) -> None:
    """Written, changed, searched, and shown with an address that can be copied."""
    write = ["index", source, "--to", STORE, "--engine", "local"]
    assert "24 copied" in printed(capfd, *write)
    put(bucket, {**TEXTS, "page-3.md": f"{TEXTS['page-3.md']}\nA volcano has lava.\n"})
    assert "1 copied" in printed(capfd, *write)
    [hit] = json.loads(printed(capfd, "search", "volcano", "--index", STORE, "--json", "-n", "1"))
    assert hit["path"] == "page-3.md"
    status = printed(capfd, "status", "--index", STORE)
    assert STORE in status
    assert source in status
    assert json.loads(printed(capfd, "status", "--index", STORE, "--json"))["index"].startswith(STORE)


def test_a_second_writer(bucket) -> None:
    """Nobody locks a URL. What another command writes meanwhile stays."""
    others = []

    def write_another(*_: object) -> None:
        if not others:
            others.append(copy_documents({"others": "s3://bucket/shards/*.jsonl"}, STORE).written)

    assert copy_documents({"docs": "s3://bucket/docs"}, STORE, on_progress=write_another).written == 24
    assert others == [24]
    with NodeIndex.open(STORE) as index:
        assert {name: tree.files for name, tree in index.trees().items()} == {"docs": 24, "others": 24}
        found = {tree: index.search("monitoring", trees=[tree]) for tree in ("docs", "others")}
        assert [hit.text for hit in found["docs"]] == [hit.text for hit in found["others"]] != []


def test_a_conflict_of_two_writers_says_what_to_do() -> None:
    message = "lance error: Retryable commit conflict: preempted by concurrent transaction Update at version 19. Please retry."
    with (
        pytest.raises(StoreError, match="another command has written to it meanwhile; run again"),
        converted_errors(lancedb, STORE, "s3://bucket/sections"),
    ):
        raise RuntimeError(message)
