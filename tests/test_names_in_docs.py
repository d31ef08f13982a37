"""Names of code in docs/architecture.md and docs/decisions/ exist in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "quire"
PAGES = [ROOT / "docs" / "architecture.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))]
NAME = re.compile(r"_?[A-Za-z]\w*(?:\.\w+)*")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FILE = re.compile(r"\]\(\.\./src/quire/([\w/]+\.py)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PRIVATE = re.compile("_[a-z]")  # in prose that names other packages, too, other words need not be names of quire
ENDINGS = (".md", ".py", ".toml", ".json", ".jsonl", ".yml", ".html", ".css", ".js", ".txt", ".svg")

pytestmark = pytest.mark.skipif(not PAGES[0].is_file(), reason="not in quire's repository")


@cache
def definitions(file: Path) -> frozenset[str]:
    """The names that a module defines, those of members of classes also as ``Class.member``."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef):
            members = [*node.body, *filter(_is_field, ast.walk(node))]
            names |= {f"{node.name}.{name}" for member in members for name in _defined(member)}
        names |= set(_defined(node))
    return frozenset(names)


def _is_field(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _defined(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))


@cache
def uses(file: Path) -> frozenset[str]:
    """Names that a module uses of other packages, and its texts that are names: values of options, keys of records."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                names.add(name)
            case ast.Constant(value=str(text)) if NAME.fullmatch(text):
                names.add(text)
    return frozenset(names)


@cache
def known_names() -> tuple[frozenset[str], frozenset[str]]:
    """All names of the source with its files and folders, and those that have members: its modules and classes."""
    files = sorted(SOURCE.rglob("*.py"))
    parts = {
        part
        for folder in (SOURCE, ROOT / "tests", ROOT / "benchmarks")
        for file in folder.rglob("*")
        for part in (file.name, file.stem)
    }
    names = parts.union(*map(definitions, files), *map(uses, files))
    names |= {re.sub("_([a-z])", lambda match: match[1].upper(), name) for name in names}  # as in JSON
    names |= {f"{file.stem}.{name}" for file in files for name in definitions(file)}
    return frozenset(names), frozenset(
        {name.partition(".")[0] for name in names if "." in name and not name.endswith(ENDINGS)}
    )


def unknown_names(text: str, *, is_about_quire: bool) -> Iterator[str]:
    """Names of code that the source does not have; beside a link to a module, those that this module does not have.

    A page that is not only about quire may have other plain words as code.
    """
    names, owners = known_names()
    for line in FENCE.sub("", text).splitlines():
        cells = line.strip().strip("|").split("|") if line.startswith("|") else [line]
        for cell in cells[1:] if is_about_quire and len(cells) > 1 else cells:  # the first says what users call it
            files = [(match.start(), SOURCE / match[1]) for match in FILE.finditer(cell)]
            for match in CODE.finditer(cell):
                name = match[1].removesuffix("()").removeprefix("quire.")
                linked = [definitions(file) for start, file in files if start < match.start()]
                if not NAME.fullmatch(name) or name.endswith(ENDINGS):
                    continue
                if is_about_quire and linked:
                    is_known = name in linked[-1]
                elif "." in name:
                    *_, last = name.split(".")
                    is_json = last in names and last != last.lower() and "_" not in last
                    is_known = name in names or is_json or name.partition(".")[0] not in owners
                else:
                    is_known = name in names or not (is_about_quire or PRIVATE.match(name))
                if not is_known:
                    yield name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_exist(page: Path) -> None:
    assert list(unknown_names(page.read_text("utf-8"), is_about_quire=page == PAGES[0])) == []


@pytest.mark.parametrize(
    "line",
    [
        "| a text is read | [pipeline.py](../src/quire/pipeline.py): `_text_or_document` |",
        "| a text is read | [pipeline.py](../src/quire/pipeline.py): `parse`, `unique_slugs` |",
        "| a document that fits | [pipeline.py](../src/quire/pipeline.py): `Chunks.fitsnot` |",
        "| a room | `nowherelike` |",
        "5. **Does it fit?** `units.entire_document` returns the document as one piece.",
        "   `Sizer.sumsup` counts the text once.",
    ],
)
def test_names_that_do_not_exist_are_found(line: str) -> None:
    assert len(list(unknown_names(line, is_about_quire=True))) == 1


def test_names_in_decisions_that_do_not_exist_are_found() -> None:
    text = "`_parse_sourcecode` parses, `pipeline.chunk` cuts, `pipeline.slice` does not, `ripgrep` is another program."
    assert list(unknown_names(text, is_about_quire=False)) == ["_parse_sourcecode", "pipeline.slice"]
