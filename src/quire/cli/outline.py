"""``quire outline``: the documents of a folder, or the heading tree of a document, with token counts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import click

from quire import pipeline, size
from quire.auto_slugs import tree_options
from quire.cli import output
from quire.cli.command_group import NOTHING_FOUND
from quire.cli.cut_options import errors_option, syntax_option, title_option, tokenizer_option
from quire.cli.input_documents import STANDARD_INPUT, STANDARD_INPUT_NAME, read_text, renamed
from quire.cli.open_workspace import open_workspace, resolve, show_not_found
from quire.cli.shared_options import index_option, json_option, no_update_option, not_empty, quire_command
from quire.cli.tables import TokenRow, print_token_table
from quire.counter import TokenCounter
from quire.dialects import dialect_of, page_url
from quire.errors import NotFoundError
from quire.index.file_records import FileRecord, storable
from quire.llms_txt import PublishedPage, llms_full_txt, llms_txt
from quire.manifest import Manifest, manifest
from quire.model import Document, Section, Syntax
from quire.offsets import lines_at, text_end
from quire.options import DEFAULT_TOKENIZER
from quire.trees import OnUndecodable
from quire.validation import NO_LIMIT
from quire.workspace import Workspace
from quire.workspace.tree_paths import exists, is_file


class CountedSection(NamedTuple):
    """A section with its size and lines."""

    section: Section
    own: int
    """The tokens of its heading and own text."""
    total: int
    """The tokens of the whole section."""
    start_line: int
    end_line: int


@quire_command("quire outline docs/search.md", "quire outline docs --headings --max-tokens 500")
@click.argument("name", required=False, metavar="[PATH|TREE|ID]", callback=not_empty)
@click.option("--headings", is_flag=True, help="Of a folder or tree: list the headings, too, with ids.")
@click.option(
    "--max-tokens",
    type=click.IntRange(64),
    metavar="N",
    help="Of a folder or tree: list as many headings, else documents, else folders as fit.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "llms-txt"]),
    default="text",
    help="Of a folder or tree, llms-txt: a list of the published pages.",
)
@click.option("--full", is_flag=True, help="With llms-txt: the texts of the pages, as in llms-full.txt.")
@click.option("--base-url", default="", metavar="URL", help="With llms-txt: the address of the pages of the tree.")
@click.option(
    "-d", "--depth", type=click.IntRange(0, 6), default=6, metavar="N", help="Show headings down to this depth."
)
@tokenizer_option
@title_option
@syntax_option
@errors_option
@json_option
@index_option
@no_update_option
def command(
    *,
    name: str | None,
    headings: bool,
    max_tokens: int | None,
    form: str,
    full: bool,
    base_url: str,
    depth: int,
    tokenizer: str | None,
    title: str | None,
    syntax: Syntax | None,
    errors: OnUndecodable,
    as_json: bool,
    index_folder: str | None,
    no_update: bool,
) -> int:
    """List documents, or the headings of one, with token counts.

    For a file, or - for standard input, the heading tree; the tokens of a section include those below it. For a folder
    or a tree, its documents; by default, those of all trees of quire.toml, else of the current folder. For an id, the
    headings of that document or section in the index. The exit code is 1 if nothing is found.

    --format llms-txt writes what agents look for on a site, llms.txt or with --full llms-full.txt. Addresses follow the
    rules of the documentation generator, by its files beside or above the documents or by `dialect` in quire.toml.
    """
    name = name or ""
    if form == "text" and (full or base_url):
        raise click.UsageError("--full and --base-url belong to --format llms-txt")
    if form != "text" and (name == STANDARD_INPUT or is_file(name)):
        raise click.UsageError("--format llms-txt lists documents; name a folder or a tree")
    counter = size.resolve(tokenizer, DEFAULT_TOKENIZER)
    if name == STANDARD_INPUT or is_file(name):
        path = None if name == STANDARD_INPUT else Path(name)
        shown = name if path else STANDARD_INPUT_NAME
        text, findings = read_text(path, shown, errors)
        values = tree_options({}, (), path.parent) if path else {}
        document = pipeline.parse(text, path=path and path.name, title=title, syntax=syntax, **values)
        _show_tree(document, counter, depth, file=name, as_json=as_json)
        findings = (*findings, *document.findings)
        output.show_findings(renamed(findings[: output.MOST_SHOWN], shown), len(findings))
        return 0
    paths = [name] if name and exists(name) else []
    with open_workspace(paths, index_folder=index_folder, update=not no_update) as workspace:
        records = workspace.documents("" if paths else name)
        is_document = any(name in (record.id, record.path) for record in records)
        if name and not paths and (is_document or not records):
            return _show_indexed(workspace, name, counter, depth, as_json=as_json)
        if form == "llms-txt":
            _show_pages(workspace, records, base_url, full=full)
        elif headings or max_tokens:
            _show_headings(workspace, records, counter, max_tokens or NO_LIMIT, as_json=as_json)
        else:
            _show_documents(workspace, records, as_json=as_json)
    return 0 if records else NOTHING_FOUND


def _show_documents(workspace: Workspace, records: Sequence[FileRecord], *, as_json: bool) -> None:
    files = [workspace.file(record.tree, record.path) for record in records]
    if as_json:
        output.write_json_array(
            {
                "id": record.id,
                "path": record.path,
                "file": storable(file),
                "title": record.title,
                "nodes": record.nodes,
                "tokens": record.tokens,
            }
            for record, file in zip(records, files, strict=True)
        )
        return
    style = output.Paint(sys.stdout).path
    print_token_table(
        [
            TokenRow(file, record.tokens, record.title, style, file=file)
            for record, file in zip(records, files, strict=True)
        ]
    )


def _show_pages(workspace: Workspace, records: Sequence[FileRecord], base_url: str, *, full: bool) -> None:
    """Print llms.txt, or llms-full.txt."""
    tree_options = workspace.settings.tree_options
    dialects = {name: tree_options(name).dialect or dialect_of(folder) for name, folder in workspace.folders.items()}
    pages = []
    for record in records:
        document = pipeline.parse(workspace.get(record.id).text, path=record.path)
        dialect = dialects[record.tree] or (None if base_url else "github")
        url = page_url(base_url, record.path, dialect, document.frontmatter)
        pages.append(PublishedPage(document, record.tree, url))
    for text in llms_full_txt(pages) if full else [llms_txt(records[0].tree, pages)] if records else []:
        output.echo(text.removesuffix("\n"), wraps=False)


def _show_headings(
    workspace: Workspace, records: Sequence[FileRecord], counter: TokenCounter, max_tokens: int, *, as_json: bool
) -> None:
    """Print the most detailed list of documents and headings that fits, one line each, with ids."""
    listed = manifest(
        records, workspace.outline, lambda entries: counter.count(_text(entries)) <= max_tokens, max_tokens=max_tokens
    )
    if as_json:
        output.write_json({"rows": [entry._asdict() for entry in listed.entries], "total": listed.total})
    else:
        output.echo(_text(listed).removesuffix("\n"))
    if len(listed.entries) < listed.total:
        output.note(f"only {len(listed.entries)} of {listed.total} lines fit; raise --max-tokens")


def _text(listed: Manifest) -> str:
    return "".join(f"{output.visible(entry.line)}\n" for entry in listed.entries)


def _show_indexed(workspace: Workspace, name: str, counter: TokenCounter, depth: int, *, as_json: bool) -> int:
    """Print the headings of a document or section of the index."""
    try:
        hit = workspace.get(resolve(workspace, name))
    except NotFoundError as error:
        show_not_found(error, workspace)
        return NOTHING_FOUND
    whole = workspace.get(f"{hit.tree}:{hit.path}")
    tree = workspace.trees[hit.tree]
    values = tree_options({"substitutions": tree.substitutions}, (), tree.folder)
    document = pipeline.parse(whole.text, path=hit.path, **values)
    first = next((section.number for section in document.sections if section.start == hit.span.start and hit.depth), 0)
    _show_tree(document, counter, depth, first=first, file=workspace.file(hit.tree, hit.path), as_json=as_json)
    return 0


def _show_tree(
    document: Document, counter: TokenCounter, depth: int, *, first: int = 0, file: str, as_json: bool
) -> None:
    """Print the heading tree, from the section ``first`` on."""
    rows = [row for row in _counted_sections(document, counter)[first:] if row.section.depth <= depth]
    if first:
        end = rows[0].section.end
        rows = [row for row in rows if row.section.start < end]
    if as_json:
        output.write_json(_nested(document, rows))
        return
    bold = output.Paint(sys.stdout).title
    print_token_table(
        [
            TokenRow(label, row.total, output.lines_of(row.start_line, row.end_line), style, branch, link)
            for row, label, branch in zip(rows, _labels(document, rows), _branches(rows), strict=True)
            for style in [bold if row.section.depth < 2 else output.visible]
            for link in [file if row.section.depth == 0 else ""]
        ]
    )
    sys.stdout.flush()


def _counted_sections(document: Document, counter: TokenCounter) -> list[CountedSection]:
    """The document and each of its headings, in order."""
    text, sections = document.text, document.sections
    edges = [*(section.start for section in sections), len(text)]
    own = [counter.count(text[start:end]) for start, end in pairwise(edges)]
    total = own.copy()
    for section in reversed(sections):
        if section.parent is not None:
            total[section.parent] += total[section.number]
    starts = lines_at(text, edges[:-1])
    ends = _end_lines(text, sections)
    return [CountedSection(*row) for row in zip(sections, own, total, starts, ends, strict=True)]


def _end_lines(text: str, sections: Sequence[Section]) -> list[int]:
    """The line of the last character of each section that is not a line end."""
    last = [max(section.start, text_end(text, section.start, section.end) - 1) for section in sections]
    positions = sorted(set(last))
    lines = dict(zip(positions, lines_at(text, positions), strict=True))
    return [lines[position] for position in last]


def _labels(document: Document, rows: Sequence[CountedSection]) -> Iterator[str]:
    """The titles; the document's row has its file name, and its title if no heading has it."""
    name = document.path or STANDARD_INPUT_NAME
    first = next((section.title for section in document.sections if section.depth == 1), None)
    has_title = document.title not in ("", Path(name).stem, first)
    for row in rows:
        if row.section.depth:
            yield row.section.title or "(no title)"
        else:
            yield f"{name} · {document.title}" if has_title else name


def _branches(rows: Sequence[CountedSection]) -> Iterator[str]:
    """The lines of the tree before each title."""
    last_child = {row.section.parent: row.section.number for row in rows}
    below: dict[int | None, str] = {}
    for section in (row.section for row in rows):
        if section.parent not in below:
            yield ""
            below[section.number] = ""
        else:
            is_last = last_child[section.parent] == section.number
            yield below[section.parent] + ("└─ " if is_last else "├─ ")
            below[section.number] = below[section.parent] + ("   " if is_last else "│  ")


def _nested(document: Document, rows: Sequence[CountedSection]) -> dict[str, Any]:
    """The tree as nested JSON objects."""
    objects: dict[int | None, dict[str, Any]] = {}
    for section, own, total, start_line, end_line in rows:
        objects[section.number] = {
            "title": section.title,
            "depth": section.depth,
            "slug": section.slug,
            "tokens": total,
            "ownTokens": own,
            "startLine": start_line,
            "endLine": end_line,
            "children": [],
        }
        if section.parent in objects:
            objects[section.parent]["children"].append(objects[section.number])
    path = None if document.path is None else storable(document.path)
    return {"path": path, **objects[rows[0].section.number]}
