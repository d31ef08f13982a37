"""The reference has all there is and nothing else: findings, the Python API, the JSON of the commands, limits."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import quire
from quire import errors
from quire.cli import main
from quire.cut.guard import Reason
from quire.evals.figures import SHARES
from quire.index.file_records import FileRecord
from quire.index.node import Node
from quire.read.file_endings import EXTENSIONS, MARKDOWN_EXTENSIONS
from quire.search.hit import Hit, Results
from quire.search.index_api import Status, TreeInfo, Update
from quire.workspace.settings import search_fields

ROOT = Path(__file__).parents[1]
SOURCE = Path(quire.__file__).parent
PAGES = ROOT / "docs" / "reference"

pytestmark = pytest.mark.skipif(not PAGES.is_dir(), reason="not in quire's repository")


def page(name: str) -> str:
    return (PAGES / name).read_text("utf-8")


def part(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one."""
    (found,) = [section.body for section in quire.parse(text).sections[1:] if section.title == heading]
    return text[found.start : found.end]


def tables(text: str) -> list[list[str]]:
    """For each table the names in the first column, without its head."""
    rows = [
        re.findall(r"^\| (.*?) \|", table, re.MULTILINE)[1:]
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    ]
    return [[name for row in table for name in re.findall(r"`([^`]+)`", row)] for table in rows]


# docs/reference/findings.md


HYPHENATED = re.compile("[a-z]+(?:-[a-z]+)+")
WITH_PLACES = ("parsing", "cut")
"""The folders that make findings of positions: a code is any text of theirs that looks like one."""


def constants(file: Path) -> Iterator[tuple[str, bool]]:
    """The texts in a module, and whether each is given as ``code=``."""
    tree = ast.parse(file.read_text("utf-8"))
    codes = {node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "code"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node in codes


def made_codes() -> set[str]:
    """The codes of findings that the source makes, but for the guard's."""
    return {
        text
        for file in sorted(SOURCE.rglob("*.py"))
        if file.name != "guard.py"
        for text, is_code in constants(file)
        if is_code or (file.relative_to(SOURCE).parts[0] in WITH_PLACES and HYPHENATED.fullmatch(text))
    }


def test_every_code_of_a_finding_is_listed_and_no_other() -> None:
    text = page("findings.md")
    guard = part(text, "The guard")
    listed = [code for table in tables(text.replace(guard, "")) for code in table]
    assert len(listed) == len(set(listed))
    assert set(listed) == made_codes()


def test_the_codes_that_are_made_are_found() -> None:
    """Each way in which the source makes them."""
    assert {"undecodable", "heading-too-long", "fence-left-out", "torn-block", "same-id"} <= made_codes()


def test_every_reason_of_the_guard_is_listed() -> None:
    modes, reasons = tables(part(page("findings.md"), "The guard"))
    assert modes == ['"warn"', '"drop"', '"raise"']
    assert reasons == list(get_args(Reason))


@pytest.mark.parametrize(("mode", "code"), [("warn", "guard-kept-REASON"), ("drop", "guard-dropped-REASON")])
def test_codes_of_the_guard_are_as_listed(mode, code) -> None:
    chunks = quire.chunk("***\n", "flow", guard=mode)
    assert [finding.code for finding in chunks.findings] == [code.replace("REASON", "formatting-only")]
    assert f'| `"{mode}"` | `{code}` |' in page("findings.md")


def test_a_guard_that_raises_leaves_no_finding() -> None:
    with pytest.raises(quire.GuardError, match="formatting-only"):
        quire.chunk("***\n", "flow", guard="raise")


# docs/reference/python.md


def signature(name: str, function: Callable[..., Any]) -> str:
    """How a function is called, without types."""
    parameters = [each.replace(annotation=each.empty) for each in inspect.signature(function).parameters.values()]
    given = [each for each in parameters if each.name != "self"]
    return f"{name}{inspect.Signature(given)}"


FUNCTIONS = [name for name in quire.__all__ if inspect.isfunction(getattr(quire, name))]
METHODS = [name for name in vars(quire.Index) if not name.startswith("_")]
ERRORS = [
    name
    for name, each in vars(errors).items()
    if isinstance(each, type) and issubclass(each, Exception) and name[0] != "_"
]


def test_there_is_something_to_compare() -> None:
    assert FUNCTIONS == [
        "chunk",
        "chunk_dir",
        "chunk_file",
        "cite",
        "expand",
        "flat",
        "match_ranges",
        "parse",
        "read_jsonl",
        "verify",
        "write_jsonl",
    ]
    assert {"open", "update", "search", "get", "close"} <= set(METHODS)
    assert {"QuireError", "QueryError", "BusyError"} <= set(ERRORS)


@pytest.mark.parametrize("name", quire.__all__)
def test_every_public_name_is_on_the_page(name) -> None:
    assert re.search(rf"[`.]{name}\b", page("python.md"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_called_as_the_page_says(name) -> None:
    assert f"\n{signature(f'quire.{name}', getattr(quire, name))}\n" in page("python.md")


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_the_index_are_called_as_the_page_says(name) -> None:
    text = part(page("python.md"), "Index")
    assert f"\n{signature(f'Index.{name}', getattr(quire.Index, name))}\n" in text
    assert name in tables(text)[0]


def test_every_parameter_is_explained() -> None:
    text = page("python.md")
    (cutting,) = tables(part(text, "Cutting"))
    methods, searching = tables(part(text, "Index"))
    assert set(methods) == set(METHODS)
    for function in (getattr(quire, name) for name in FUNCTIONS if name not in ("cite", "match_ranges")):
        assert {name for name in inspect.signature(function).parameters if name != "chunks"} <= {
            name.removeprefix("**") for name in cutting
        }
    own = {"self", "folder", "settings", "query", "name", "document"}  # said where the method is
    for method in (getattr(quire.Index, name) for name in METHODS):
        assert set(inspect.signature(method).parameters) - own <= set(searching)


@pytest.mark.parametrize("record", [quire.Finding, Update, Status, TreeInfo], ids=lambda record: record.__name__)
def test_fields_of_records_are_on_the_page(record) -> None:
    (listed,) = tables(part(page("python.md"), record.__name__))
    assert sorted(listed) == sorted(inspect.signature(record).parameters)


def test_types_for_annotations_are_where_the_page_says() -> None:
    homes = re.findall(r"`(quire(?:\.[\w.]+)?)\.([A-Z]\w+)`", page("python.md").partition("For annotations:")[2])
    assert {getattr(import_module(home), name) for home, name in homes} == {Update, Status, TreeInfo, Hit, Results}


def test_attributes_of_lists_are_on_the_page() -> None:
    text = page("python.md")
    assert tables(part(text, "Results")) == [list(Results.__annotations__)]
    assert sorted(tables(part(text, "Chunks and Chunk"))[0]) == sorted(vars(quire.chunk("text")))


@pytest.mark.parametrize(
    ("made_by", "record"), [("documents", FileRecord), ("outline", Node)], ids=["documents", "outline"]
)
def test_what_the_page_says_of_documents_and_nodes_is_there(made_by, record) -> None:
    row = re.search(rf"^\| `{made_by}` \|.*?: (.*)$", part(page("python.md"), "Index"), re.MULTILINE)
    assert row
    names = re.findall("`([a-z_]+)(?:\\(\\))?`", row[1])
    assert len(names) > 5
    assert [name for name in names if not hasattr(record, name)] == []


def test_what_the_page_says_of_documents_is_there() -> None:
    text = part(page("python.md"), "Document")
    document = quire.parse("# A\n\ntext\n")
    names = [name.partition("(")[0] for name in tables(text)[0]]
    assert [name for name in names if not hasattr(document, name)] == []
    for kind, record in (("Section", document.sections[0]), ("Block", document.blocks[0])):
        said = re.search(rf"^A `{kind}` has(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
        assert said
        outside = re.sub(r"\([^()]*(?:\(\))?[^()]*\)", "", said[1].replace("walk()", "walk"))
        named = re.findall("`([a-z_]+)`", outside)
        assert len(named) > 5
        assert [name for name in named if not hasattr(record, name)] == []


def test_every_error_is_on_the_page_with_what_it_carries() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*)\|$", part(page("python.md"), "Errors"), re.MULTILINE)
    assert [name for name, _ in rows] == ERRORS
    for name, carries in rows:
        known = set(vars(_an_error(name))) - {"_line", "_message", "problem", "advice"}  # these all of them carry
        assert set(re.findall("`(\\w+)`", carries)) == known


def _an_error(name: str) -> Exception:
    kind = getattr(errors, name)
    values = {"offset": 1, "position": 1, "line": 1}
    own = kind.__init__ if inspect.isfunction(kind.__init__) else None
    needed = [each for each in inspect.signature(own).parameters if each != "self"] if own else []
    made = kind(**{each: values.get(each, "text") for each in needed})
    assert isinstance(made, quire.QuireError)
    return made


# docs/reference/json.md


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys) -> Callable[..., Any]:
    """What a command prints with ``--json``, in a folder with a quire.toml and two trees."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\ntext\n\n## B\n\ntext\n")
    (tmp_path / "docs" / "bad.md").write_bytes(b"\xfd\n")
    (tmp_path / "quire.toml").write_text('[trees]\ndocs = "docs"\n')

    def run(*arguments: str) -> Any:
        main([*arguments, "--json"])
        return json.loads(capsys.readouterr().out)

    return run


def documented(command: str) -> list[list[str]]:
    return tables(part(page("json.md"), f"quire {command}"))


def test_the_json_of_cite(printed) -> None:
    Path("answer.md").write_text('"text" [docs:a.md]\n')
    (record,) = printed("cite", "answer.md")
    assert [list(record)] == documented("cite")
    assert all(f"`{name}`" in part(page("json.md"), "quire cite") for name in record["places"][0])


def test_the_json_of_context(printed) -> None:
    assert [list(printed("context", "docs/a.md"))] == documented("context")


def test_the_json_of_index(printed) -> None:
    (update,) = documented("index")
    done = printed("index")
    assert sorted(done) == sorted(update)
    assert [list(finding) for finding in done["failed"]] == documented("verify")


def test_the_json_of_status(printed) -> None:
    printed("index")
    status = printed("status")
    assert [sorted(status)] == list(map(sorted, documented("status")))
    said = re.search(r"^\| `trees` \| (.*) \|$", part(page("json.md"), "quire status"), re.MULTILINE)
    assert said
    assert [list(tree) for tree in status["trees"].values()] == [re.findall("`(\\w+)`", said[1])]
    assert [list(finding) for finding in status["failed"]] == documented("verify")


def test_the_json_of_outline(printed) -> None:
    heading, document, rows = documented("outline")
    outlined = printed("outline", "docs/a.md")
    assert sorted(outlined) == sorted(heading)
    assert sorted(outlined["children"][0]) == sorted({*heading} - {"path"})
    assert [sorted(record) for record in printed("outline", "docs")] == [sorted(document)]
    assert list(printed("outline", "--headings")) == rows


def test_the_json_of_config(printed) -> None:
    values = printed("config")
    assert {"index", "trees.docs.path", *(f"search.{name}" for name in search_fields())} <= set(values)
    assert [list(value) for value in values.values()] == documented("config") * len(values)


def test_the_json_of_links(printed) -> None:
    Path("docs/c.md").write_text("[x](gone.md)\n")
    broken, linking = documented("links")
    assert [list(record) for record in printed("links", "docs/c.md")] == [broken]
    Path("docs/c.md").write_text("[x](a.md)\n")
    assert [sorted(record) for record in printed("links", "--to", "a.md")] == [sorted(linking)]
    assert printed("links", "--orphans") == ["docs/c.md"]


def test_the_json_of_eval(printed) -> None:
    Path("docs/bad.md").unlink()
    Path("docs/c.md").write_text("[to the text](a.md)\n")
    Path("a.toml").write_text("")
    record = printed("eval")
    compared = printed("eval", "--compare", "a.toml", "a.toml")
    tables_of_eval = documented("eval")
    assert [list(record), list(compared)] == tables_of_eval
    said = part(page("json.md"), "quire eval")
    assert set(record["figures"]) == {*SHARES, "tokens"} == set(compared["difference"])
    assert all(f"`{name}`" in said for name in (*record["figures"], *record["figures"]["mrr"]))


def test_the_json_of_verify(printed) -> None:
    assert printed("verify", "docs/a.md") == []
    assert documented("verify") == [[field.name for field in msgspec.structs.fields(quire.Finding)]]


def test_the_json_of_migrate(printed) -> None:
    record = quire.chunk("x")[0].to_dict()
    Path("new.json").write_text(json.dumps(record))
    assert printed("migrate", "new.json") == [record]


def test_every_command_with_json_is_on_the_page() -> None:
    text = page("json.md")
    commands = "".join(file.read_text("utf-8") for file in sorted((PAGES / "cli").glob("*.md")))
    with_json = re.findall(r"^## quire (\w+)\n(?:(?!^## ).*\n)*?\| `--json`", commands, re.MULTILINE)
    assert len(with_json) > 5
    elsewhere = {"chunk", "search", "get", "stats"}
    assert {command for command in with_json if f"## quire {command}\n" in text} == set(with_json) - elsewhere
    head = text.partition("\n## ")[0]
    assert all(command in head for command in elsewhere)


# Limits


def test_the_endings_that_are_read_are_on_the_page() -> None:
    said = part(page("cli.md"), "What is read")
    markdown, all_of_a_folder = said.partition("| Markdown |")[0], said.partition("\n\n`--syntax`")[0]
    assert set(ENDING.findall(markdown)) == MARKDOWN_EXTENSIONS
    assert set(ENDING.findall(all_of_a_folder)) == set(EXTENSIONS)


ENDING = re.compile(r"`(\.[a-z]+)`")
