"""``quire context``: the sections that rules of quire.toml name."""

from __future__ import annotations

RULE = """\
[trees]
docs = "docs"

[[context]]
files = ["*.py"]
sections = ["docs:auth.md#auth", "zzzz"]
"""


def test_a_section_of_a_rule_that_is_missing_is_named(run, docs, monkeypatch) -> None:
    files = {"quire.toml": RULE, "docs/auth.md": "# Auth\n\nTokens expire.\n", "x.py": "def tokens(): pass\n"}
    monkeypatch.chdir(docs(files))
    result = run("context", "x.py", "--index", "other")
    assert (result.code, result.err) == (
        0,
        "quire: zzzz: not in the index; `quire outline --index other` shows what is\n",
    )
    assert b"Tokens expire." in result.out


def test_the_advice_for_another_encoding_works_here(run, docs, monkeypatch) -> None:
    monkeypatch.chdir(docs({"docs/a.md": "a\n", "latin.md": "Größe\n".encode("latin-1")}))
    for arguments in (["context", "latin.md"], ["search", "--like", "latin.md", "docs"]):
        result = run(*arguments)
        assert (result.code, result.err.partition("; ")[2]) == (2, "convert the file to UTF-8\n")
