"""A page as a file: ``quire web --export``."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

import quire

HOSTILE = "# </script><script>alert(1)</script>\n\n<!-- --> ]]> <img src=x onerror=alert(2)> & text.\n\n## B\n\nMore.\n"


class Page(HTMLParser):
    """The tags of a page, and the texts of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open in self.texts:
            self.texts[self._open].append(data)

    @property
    def policy(self) -> str:
        metas = [each for tag, each in self.tags if each.get("http-equiv") == "Content-Security-Policy"]
        assert len(metas) == 1
        return metas[0]["content"] or ""

    def loads(self) -> list[str | None]:
        """What the page would load."""
        names = ("src", "href", "action", "srcset", "data", "poster")
        return [each[name] for _, each in self.tags for name in names if each.get(name)]


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("strategy", ["packed", "flow", "sections", "tree"])
def test_an_exported_page_has_everything_inside(run, docs, tmp_path, strategy) -> None:
    folder = docs({"a.md": HOSTILE})
    target = tmp_path / "out" / "page.html"
    result = run("web", "--export", target, folder / "a.md", "-s", strategy)
    assert (result.code, result.out) == (0, b"")
    page = Page(target.read_text("utf-8"))
    data, script = page.texts["script"]
    assert [each for tag, each in page.tags if tag == "script"] == [{"type": "application/json", "id": "data"}, {}]
    assert digest(script) in page.policy
    assert digest(page.texts["style"][0]) in page.policy
    assert "unsafe" not in page.policy
    assert [each for each in page.loads() if not each.startswith(("data:", "#"))] == []
    held = json.loads(data)
    assert held["document"]["text"] == HOSTILE
    assert held["start"]["defaults"]["strategy"] == strategy
    for name in ("packed", "flow", "sections", "tree"):
        chunks = quire.chunk(HOSTILE, name, path="a.md")
        assert [row[:2] for row in held["cuts"][name]["chunks"]] == [
            [chunk.source_position.char_start, chunk.source_position.char_end] for chunk in chunks
        ]
        assert [each["id"] for each in held["records"][name]] == [chunk.id for chunk in chunks]
        assert held["cuts"][name]["violations"] == []
    again = tmp_path / "again.html"
    run("web", "--export", again, folder / "a.md", "-s", strategy)
    assert again.read_bytes() == target.read_bytes()


def test_an_exported_page_has_the_options_of_the_command_line(run, docs, tmp_path) -> None:
    folder = docs({"a.md": "# A\n\n" + "word " * 300})
    run(
        "web", "--export", tmp_path / "p.html", folder / "a.md", "--hard-cap", "64", "--title", "Mine", "-t", "estimate"
    )
    held = json.loads(Page((tmp_path / "p.html").read_text("utf-8")).texts["script"][0])
    assert held["document"]["title"] == "Mine"
    assert held["cuts"]["packed"]["limits"]["cap"] == 64
    assert {each["options"]["tokenizer"] for each in held["cuts"].values()} == {"estimate"}
    assert held["cuts"]["flow"]["limits"]["cap"] == 512


def test_an_export_takes_one_document(run, docs, tmp_path) -> None:
    folder = docs({"a.md": "# A\n", "b.md": "# B\n"})
    result = run("web", "--export", tmp_path / "page.html", folder)
    assert result.code == 2
    assert "takes one document, not 2" in result.err
    assert not (tmp_path / "page.html").exists()


def test_an_unreadable_document_is_one_error(run, docs, tmp_path) -> None:
    folder = docs({"a.md": b"\xff\xfe\xff"})
    result = run("web", "--export", tmp_path / "page.html", folder / "a.md")
    assert result.code == 2
    assert "a.md" in result.err
    assert not (tmp_path / "page.html").exists()


def test_the_advice_for_another_encoding_works_here(run, docs, tmp_path) -> None:
    folder = docs({"latin.md": "# Größe\n".encode("latin-1")})
    result = run("web", "--export", tmp_path / "page.html", folder / "latin.md")
    assert result.err.endswith("; convert the file to UTF-8\n")
