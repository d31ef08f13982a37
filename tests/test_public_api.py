"""The public names, what they promise, and what importing them costs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import quire

NAMES = {
    "Block", "BusyError", "Chunk", "Chunks", "Citation", "Document", "EmbedderError", "Finding", "GuardError", "Hit", "Index", "IndexDamagedError",
    "InputError", "Link", "MissingExtraError", "NotFoundError", "OptionError", "QueryError", "QuireError", "Results", "Section", "Span", "StoreError",
    "TokenizerError",
    "UndecodableError", "__version__", "chunk", "chunk_dir", "chunk_file", "cite", "expand", "flat", "match_ranges", "parse",
    "read_jsonl", "verify", "write_jsonl",
}  # fmt: skip


def test_names() -> None:
    assert set(quire.__all__) == NAMES
    assert set(dir(quire)) == NAMES
    for name in NAMES:
        assert getattr(quire, name) is not None


def test_type_checkers_see_the_same_names() -> None:
    imports = [node for node in ast.walk(ast.parse(inspect.getsource(quire))) if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname for node in imports if str(node.module).startswith("quire.") for alias in node.names}
    assert seen == NAMES - {"__version__"}


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="chunk_file"):
        quire.nothing  # noqa: B018


def test_parse_stays_a_function_after_its_stage_is_loaded() -> None:
    quire.chunk("# A\n\nx\n")
    assert quire.parse("# A\n\nx\n").title == "A"


def modules_after(code: str) -> set[str]:
    script = f"import sys; before = set(sys.modules); {code}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing() -> None:
    assert modules_after("import quire") == {"quire"}


def test_version_loads_no_command_line_library() -> None:
    loaded = modules_after(
        "from quire.cli import main; import io; sys.stdout = io.StringIO(); main(['--version']); sys.stdout = sys.__stdout__"
    )
    assert {name for name in loaded if name.startswith("quire")} == {"quire", "quire.cli"}
    assert "click" not in loaded


def test_parsing_loads_no_tokenizer() -> None:
    loaded = modules_after("import quire; quire.parse('# A')")
    assert not {"toktok", "tiktoken", "tokenizers", "yaml", "click"} & loaded


def test_an_estimate_loads_no_tokenizer() -> None:
    loaded = modules_after("import quire; quire.chunk('# A', strategy='tree', tokenizer='estimate')")
    assert not {"toktok", "tiktoken", "tokenizers"} & loaded


def test_document() -> None:
    document = quire.parse("---\ntitle: T\ntags: [x]\n---\n# A\n\ntext\n\n## B\n\nmore\n", path="guides/auth.md")
    assert document.title == "T"
    assert document.frontmatter == {"title": "T", "tags": ["x"]}
    assert document.path == "guides/auth.md"
    assert [section.title for section in document.sections] == ["T", "A", "B"]
    assert [block.kind for block in document.blocks] == ["heading", "paragraph", "heading", "paragraph"]
    assert [section.title for section in document.path_to(document.sections[2])] == ["A", "B"]


@pytest.mark.parametrize(
    ("text", "path", "given", "title"),
    [
        ("---\ntitle: F\n---\n# H\n", "file.md", "Given", "Given"),
        ("---\ntitle: F\n---\n# H\n", "file.md", None, "F"),
        ("## Two\n\n# H *e*\n", "file.md", None, "H e"),
        ("## Two\n\nx\n", "a/file.tar.md", None, "file.tar"),
        ("## Two\n\nx\n", None, None, ""),
        ("---\ntitle: 2024\n---\n", "file.md", None, "2024"),
        ("---\ntitle: [a]\n---\nx\n", "file.md", None, "file"),
        ("x", ".hidden", None, ".hidden"),
        ("x", "a.md", "", ""),
    ],
)
def test_title(text: str, path: str | None, given: str | None, title: str) -> None:
    assert quire.parse(text, path=path, title=given).title == title


def test_chunks_are_a_list() -> None:
    chunks = quire.chunk("# A\n\nx\n\n## B\n\n# C\n\ny\n", strategy="tree", path="a.md")
    assert isinstance(chunks, list)
    assert len(chunks) == 2
    assert [finding.code for finding in chunks.findings] == ["heading-without-text"]
    assert chunks.document.title == "A"
    assert chunks.options.strategy == "tree"


def test_records_are_frozen() -> None:
    chunk = quire.chunk("x")[0]
    with pytest.raises(AttributeError):
        chunk.id = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        chunk.source_position.char_start = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        chunk.metadata["x"] = 1  # type: ignore[index]


def test_a_document_can_be_cut_again_and_again() -> None:
    document = quire.parse("# A\n\nx\n", path="a.md")
    assert quire.chunk(document, strategy="tree") == quire.chunk("# A\n\nx\n", strategy="tree", path="a.md")


def test_two_documents_in_a_row_do_not_meet() -> None:
    first = quire.chunk("# A\n\nx\n", strategy="tree")
    quire.chunk("# B\n\ny\n", strategy="tree")
    assert quire.chunk("# A\n\nx\n", strategy="tree") == first


def test_chunk_file(tmp_path: Path) -> None:
    file = tmp_path / "guide.md"
    file.write_bytes(b"\xef\xbb\xbf# A\r\n\r\ntext \xc3\xa9\r\n")
    (chunk,) = quire.chunk_file(file, strategy="tree")
    place = chunk.source_position
    assert file.read_bytes()[place.byte_start : place.byte_end].decode() == chunk.original_text == "text é"
    assert (chunk.id, chunk.metadata["sourceFile"]) == ("doc:guide.md#a", "guide.md")
    assert chunk.breadcrumb == ("guide.md", "A")


def test_chunk_file_errors(tmp_path: Path) -> None:
    with pytest.raises(quire.InputError, match="does not exist"):
        quire.chunk_file(tmp_path / "none.md")
    file = tmp_path / "bad.md"
    file.write_bytes(b"# A\n\nx \xff y\n")
    with pytest.raises(quire.UndecodableError, match="line 3") as caught:
        quire.chunk_file(file)
    assert caught.value.offset == 7
    chunks = quire.chunk_file(file, strategy="tree", errors="replace")
    assert chunks[0].original_text == "x \ufffd y"
    assert [finding.code for finding in chunks.findings] == ["undecodable"]


def test_json_names() -> None:
    record = quire.chunk("# A\n\nx\n", strategy="tree", path="a.md")[0].to_dict()
    assert list(record["sourcePosition"]) == [
        "charStart", "charEnd", "totalChars", "byteStart", "byteEnd", "startLine", "endLine",
    ]  # fmt: skip
    assert record["tokenStats"] == {"tokens": 1, "estimatedTokens": 1, "embedTokens": 3}
    assert {"id", "parentId", "chunkNumber", "contentType", "embedText", "originalText", "fileTitle", "sectionTitle",
            "headerPath", "headerBreadcrumb", "headerDepths", "headerSlugs", "sectionSlug", "prevId", "nextId",
            "nodeTypes", "metadata", "contentHash", "strategy", "overlapChars", "addedChars", "breadcrumb",
            "containedHeadings"} <= set(record)  # fmt: skip


def test_places_among_the_nodes_are_numbers_also_where_a_heading_makes_no_node() -> None:
    sections = quire.parse("# A\n\ntext\n\n# B\n\n# C\n\ntext\n").sections
    assert [repr(section.position) for section in sections] == ["0", "1", "None", "2"]
    assert [repr(chunk.position) for chunk in quire.chunk("# A\n\ntext\n\n# B\n", "tree")] == ["1"]


@pytest.mark.parametrize("given", [None, b"text", Path("a.md"), 3])
def test_what_is_no_text_is_said_to_be_none(given: Any) -> None:
    for work in (quire.parse, quire.chunk, lambda text: quire.verify(text, [])):
        with pytest.raises(TypeError, match="text"):
            work(given)


@pytest.mark.parametrize("errors", ["ignore", "x", None])
def test_an_impossible_way_to_decode_is_refused(tmp_path: Path, errors: Any) -> None:
    (tmp_path / "a.md").write_text("# A\n\ntext\n")
    with pytest.raises(quire.OptionError, match="'strict', 'replace'"):
        quire.chunk_file(tmp_path / "a.md", errors=errors)


def test_a_record_made_of_a_chunk_does_not_hold_it() -> None:
    chunks = quire.chunk("---\ntags: [a]\n---\n# A\n\nx\n\n# B\n\ny\n", "tree")
    chunks[0].to_dict()["metadata"]["tags"].append("b")
    assert [chunk.to_dict()["metadata"]["tags"] for chunk in chunks] == [["a"], ["a"], ["a"]]
