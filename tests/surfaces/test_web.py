"""``quire web``: a real server in a process of its own, asked as a browser asks it, and as an intruder does."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.model.breadcrumbs import reader_line
from quire.output.chunk_json import to_json
from quire.web import chunk_view
from support.web_server import Served, serving

GUIDE = "# Guide\n\nRead this first 🦊.\n\n## Install\n\nRun `pip install relay`.\n\n## Tables\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
HOSTILE = (
    "# <img src=x onerror=alert(1)>\n\n<script>alert(2)</script>\n\n<svg onload=alert(3)><script>alert(4)</script></svg>\n\n"
    "[link](javascript:alert(5))\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("web")
    files = {
        "docs/guide.md": GUIDE, "docs/deep/er/hostile.md": HOSTILE, "docs/.hidden.md": "# Hidden\n",
        "docs/windows.md": "# A\r\n\r\nOne.\r\n\r\n## B\r\n\r\nTwo.\r\n", "secret.md": "# Secret\n",
    }  # fmt: skip
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(text.encode())
    (top / "docs" / "link.md").symlink_to(top / "secret.md")
    (top / "docs" / "out").symlink_to(top)
    return top


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with serving(folder, "docs") as served:
        yield served


def test_the_page_allows_nothing_from_elsewhere(server) -> None:
    answer = server.client.get("")
    assert answer.status_code == 200
    policy = dict(each.strip().partition(" ")[::2] for each in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "http" not in answer.text.replace("http-equiv", "")
    for name, kind in (("inspector.css", "text/css"), ("inspector.js", "text/javascript"), ("icon.svg", "image/svg")):
        asset = server.client.get(name)
        assert asset.status_code == 200
        assert asset.headers["content-type"].startswith(kind)


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/api/start", "/{token}", "/{token}x/", "/%00/", "//{token}/"])
def test_without_the_token_nothing_is_answered(server, path) -> None:
    answer = server.client.get(f"http://127.0.0.1:{server.port}{path.format(token=server.token)}")
    assert answer.status_code == 403
    assert server.token not in answer.text
    assert answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Host": "127.0.0.1:1"}, 403),
        ({"Host": "127.0.0.1:{port}@evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Host": "localhost:{port}"}, 200),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "http://localhost:{port}", "Host": "LOCALHOST:{port}"}, 200),
    ],
)
def test_only_this_page_on_this_machine_may_ask(server, headers, status) -> None:
    filled = {name: value.format(port=server.port) for name, value in headers.items()}
    assert server.client.post("api/start", json={}, headers=filled).status_code == status


def test_a_request_without_a_host_is_refused(server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(f"GET /{server.token}/ HTTP/1.0\r\n\r\n".encode())
        assert connection.recv(64).split()[1] in (b"403", b"400")


def test_it_listens_on_one_address_only(server) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.port), timeout=5)


@pytest.mark.parametrize(
    "name",
    [
        "secret.md", "../secret.md", "docs/../secret.md", "docs/..", "/etc/passwd", "docs//etc/passwd", "docs/link.md",
        "docs/out/secret.md", "docs/%2e%2e/secret.md", "docs/guide.md\0", "docs/.hidden.md", "", "docs", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_only_the_documents_of_the_given_folders_are_read(server, name) -> None:
    for call in ("document", "cut", "chunk", "verify"):
        assert "no such document" in server.ask(call, 404, document=name)["error"]


@pytest.mark.parametrize(
    "path",
    ["..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "inspector.html/..", "__init__.py", "api/nothing", "%00"],
)
def test_no_other_file_is_served(server, path) -> None:
    assert server.client.get(path).status_code in (403, 404, 405)
    assert server.client.post(path, json={}).status_code in (403, 404, 405)


def test_a_document_that_becomes_a_link_is_refused(folder) -> None:
    late = folder / "docs" / "late.md"
    late.write_text("# Late\n")
    with serving(folder, "docs") as served:
        assert served.ask("document", document="docs/late.md")["text"] == "# Late\n"
        late.unlink()
        late.symlink_to(folder / "secret.md")
        assert "leads out" in served.ask("document", 400, document="docs/late.md")["error"]
    late.unlink()


@pytest.mark.parametrize(
    ("strategy", "options"), [("packed", {"hard_cap": 64}), ("flow", {}), ("sections", {}), ("tree", {})]
)
@pytest.mark.parametrize("name", ["guide.md", "windows.md", "deep/er/hostile.md"])
def test_bands_are_the_chunks_of_the_file(server, folder, name, strategy, options) -> None:
    text = (folder / "docs" / name).read_bytes().decode()
    chunks = quire.chunk(text, strategy, path=name, **options)
    asked = {"document": f"docs/{name}", "strategy": strategy, "options": options}
    document = server.ask("document", document=f"docs/{name}")
    cut = server.ask("cut", **asked)
    assert document["text"] == text
    assert document["version"] == cut["version"]
    for row, chunk in zip(cut["chunks"], chunks, strict=True):
        start, end, first, last, tokens, embedded, breadcrumb, *added, own = row
        place = chunk.source_position
        assert (start, end, first, last) == (place.char_start, place.char_end, place.start_line, place.end_line)
        assert (tokens, embedded) == (chunk.token_stats.tokens, chunk.token_stats.embed_tokens)
        assert breadcrumb == reader_line(chunk.file_title, chunk.header_path)
        assert "".join([*added[:3], text[start:end] if own is None else own, added[3]]) == chunk.embed_text
        record = server.ask("chunk", **asked, chunk=chunk.chunk_number)
        assert record == {k: v for k, v in chunk.to_dict().items() if k not in ("embedText", "originalText")}
    assert cut["findings"] == [[each.line, each.code, each.message] for each in chunks.findings]
    assert server.ask("verify", **asked) == []


def test_chunks_around_a_position(server) -> None:
    text = "# All\n\n" + "".join(f"## Part {number}\n\n{'Some words. ' * 60}\n\n" for number in range(300))
    options = {"hard_cap": 200}
    whole = server.ask("cut", text=text, options=options)
    for near in (-1, 0, 100_000, 10**9):
        part = server.ask("cut", text=text, options=options, near=near)
        assert part["version"] == whole["version"]
        assert part["part"][0] <= max(0, min(near, len(text))) <= part["part"][1]
        assert all(row in whole["chunks"] for row in part["chunks"])
    assert "part" not in server.ask("cut", text="# A\n\nB.\n", near=3)


def test_an_impossible_option_is_named(server) -> None:
    wrong = server.ask("cut", document="docs/guide.md", strategy="packed", options={"hard_cap": 3})
    assert wrong["option"] == "hard_cap"
    assert "at least 32" in wrong["error"]
    assert "valid: " in server.ask("cut", document="docs/guide.md", strategy="best")["error"]


def test_a_tokenizer_file_is_not_read(server, folder) -> None:
    for name in (str(folder / "secret.md"), "/etc/passwd", "../secret.md"):
        wrong = server.ask("cut", document="docs/guide.md", options={"tokenizer": name})
        assert wrong["option"] == "tokenizer"
    assert (
        server.ask("cut", document="docs/guide.md", options={"tokenizer": "estimate"})["options"]["tokenizer"]
        == "estimate"
    )


def test_front_matter_of_any_kind_is_in_the_record(server) -> None:
    text = '---\ntitle: "a\\ud800"\ndate: 2026-01-01\ntags: [x, {y: .nan}]\n---\n\nText.\n'
    record = server.ask("chunk", text=text, path="a.md")
    assert record == json.loads(to_json(chunk_view.chunk_record(quire.chunk(text, path="a.md")[0])))


def test_pasted_text_is_cut(server) -> None:
    cut = server.ask("cut", text=GUIDE, path="mine.md", strategy="tree")
    assert len(cut["chunks"]) == 3
    assert server.ask("document", text="# Mine\n")["title"] == "Mine"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "text/plain", 415),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"strategy": 3}', "application/json", 400),
        (b'{"unknown": 3}', "application/json", 400),
        (b'{"text": "\\ud800", "strategy": "packed"}', "application/json", 400),
        (b'{"text": "a", "path": "a\\u0000"}', "application/json", 404),
        (b'{"text": "' + b"a" * 33_000_000 + b'"}', "application/json", 413),
    ],
)
def test_a_bad_request_is_one_error(server, body, kind, status) -> None:
    answer = server.client.post("api/cut", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status


def test_a_new_document_is_found_by_a_refresh(server, folder) -> None:
    new = folder / "docs" / "new.md"
    new.write_text("# New\n")
    assert server.ask("refresh")["documents"] == 4
    assert server.ask("document", document="docs/new.md")["title"] == "New"
    new.unlink()
    assert server.ask("document", 400, document="docs/new.md")["error"] == "No such file or directory"
    assert server.ask("refresh")["documents"] == 3


def test_folders_are_listed_one_at_a_time(server) -> None:
    assert server.ask("start")["root"] == {"folders": [["docs", 3]], "documents": [], "more": 0}
    listing = server.ask("folder", text="docs")
    assert listing == {"folders": [["deep", 1]], "documents": ["guide.md", "windows.md"], "more": 0}
    assert server.ask("folder", text="docs/deep/er")["documents"] == ["hostile.md"]
    assert server.ask("folder", text="../..") == {"folders": [], "documents": [], "more": 0}
    assert server.ask("filter", text="HOST deep")["documents"] == ["docs/deep/er/hostile.md"]


def test_a_search_explains_its_hits(server, folder) -> None:
    found = server.ask("search", text="install relay")
    hit = found["hits"][0]
    assert hit["document"] == "docs/guide.md"
    assert "Install" in hit["title"]
    text = (folder / "docs" / "guide.md").read_text()
    words = {text[hit["start"] + start : hit["start"] + end].lower() for start, end in hit["matches"]}
    assert words >= {"install", "relay"}
    assert [each["title"] for each in hit["tree"] if each["role"] == "result"] == [hit["title"]]
    assert any("“relay”" in reason and "body" in reason for reason in hit["reasons"])
    assert server.ask("search", text="  ")["hits"] == []
    assert "error" in server.ask("search", text='title:"')


def test_a_correction_is_said(server) -> None:
    assert any("instal" in note for note in server.ask("search", text="instll relay")["notes"])


def test_options_of_the_command_line_and_of_quire_toml_are_where_the_page_starts(tmp_path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(GUIDE)
    (tmp_path / "quire.toml").write_text(
        '[trees.docs]\npath = "docs"\n\n[chunk]\nstrategy = "flow"\nmax_tokens = 300\n'
    )
    with serving(tmp_path) as served:
        assert served.ask("document", document="docs/a.md")["defaults"] == {"strategy": "flow", "max_tokens": 300}
    with serving(tmp_path, "docs", "-s", "packed", "--hard-cap", "99") as served:
        assert served.ask("start")["defaults"] == {"strategy": "packed", "max_tokens": 99}


def test_the_dialect_is_the_one_of_the_command_line(tmp_path) -> None:
    text = "{{< tabs >}}\n# Not a heading of Hugo\n\n{{< /tabs >}}\n\n# A\n\nText.\n"
    (tmp_path / "a.md").write_text(text)
    chunks = quire.chunk(text, "tree", path="a.md", dialect="commonmark")
    assert len(chunks) != len(quire.chunk(text, "tree", path="a.md"))
    with serving(tmp_path, "a.md", "--dialect", "commonmark") as served:
        options = {"dialect": served.ask("document", document="a.md")["defaults"]["dialect"]}
        cut = served.ask("cut", document="a.md", strategy="tree", options=options)
        assert [row[0] for row in cut["chunks"]] == [chunk.source_position.char_start for chunk in chunks]


def test_odd_names(tmp_path) -> None:
    names = ['a "b" <i>&#%3f?.md', "ä🦊.md", "new\nline.md", b"latin-\xe9.md".decode("utf-8", "surrogateescape")]
    (tmp_path / "docs & <b>").mkdir()
    for name in names:
        (tmp_path / "docs & <b>" / name).write_text(f"# Odd\n\n{len(name)}\n")
    with serving(tmp_path, "docs & <b>") as served:
        listed = served.ask("folder", text="docs & <b>")["documents"]
        assert len(listed) == 4
        for name in listed:
            key = f"docs & <b>/{name}"
            assert served.ask("document", document=key)["text"].startswith("# Odd")
            assert served.ask("cut", document=key)["chunks"]
            assert served.ask("chunk", document=key)["id"]
        assert {hit["document"] for hit in served.ask("search", text="odd")["hits"]} == {
            f"docs & <b>/{name}" for name in listed
        }


def test_ctrl_c_ends_it(folder) -> None:
    with serving(folder, "docs") as served:
        served.ask("start")
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(timeout=60) == 0


def test_a_port_in_use_is_one_error(server, folder, run, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    result = run("web", "docs", "--port", server.port)
    assert result.code == 2
    assert "choose another --port" in result.err


def test_without_the_extra_it_says_what_to_install(run, folder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    for name in ("quire.web.local_server", "quire.web.inspector"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = run("web", "docs")
    assert result.code == 2
    assert "pip install 'quire-md[web]'" in result.err
    assert run("web", "--export", tmp_path / "page.html", "docs/guide.md").code == 0  # needs no server


def test_an_exported_page_needs_no_index(run, folder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("QUIRE_INDEX", "lancedb:store")
    assert run("web", "--export", tmp_path / "page.html", "docs/guide.md").code == 0


def test_a_path_that_does_not_exist_is_one_error(run, tmp_path) -> None:
    result = run("web", tmp_path / "missing")
    assert (result.code, result.out) == (2, b"")
    assert "no such file or folder" in result.err


def test_a_folder_without_documents_still_takes_pasted_text(tmp_path) -> None:
    with serving(tmp_path) as served:
        assert served.ask("start")["documents"] == 0
        assert served.ask("cut", text="# A\n\nB.\n")["chunks"]
    assert list(tmp_path.iterdir()) == []  # the index is made by the first search


def test_a_folder_without_documents_is_named(tmp_path, capfd) -> None:
    with serving(tmp_path):
        assert "quire: no documents in .; quire looks for Markdown" in capfd.readouterr().err


def test_every_answer_is_json(server) -> None:
    answer = server.client.post("api/start", json={})
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.content)["strategies"].keys() == {"packed", "flow", "sections", "tree"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_a_document_that_becomes_a_pipe_blocks_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\ntext\n")
    (tmp_path / "b.md").write_text("# B\n\ntext\n")
    with serving(tmp_path, ".") as served:
        (tmp_path / "a.md").unlink()
        os.mkfifo(tmp_path / "a.md")
        key = f"{tmp_path.name}/a.md"
        for name in ("document", "cut", "chunk", "verify"):
            assert "not a regular file" in served.ask(name, status=400, document=key)["error"]
        served.ask("search", text="text")
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(timeout=60) == 0
