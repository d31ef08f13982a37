"""``quire outline``: the documents of a folder, or the heading tree of a document, with token counts."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click

from quire import pipeline, size
from quire.auto_slugs import tree_options
from quire.cli import output
from quire.cli.command_group import NOTHING_FOUND
from quire.cli.command_options import JSON, argument, option, quire_command
from quire.cli.cut_options import ERRORS, SYNTAX, TITLE, TOKENIZER
from quire.cli.input_documents import STANDARD_INPUT, STANDARD_INPUT_NAME, read_text, renamed
from quire.cli.open_workspace import INDEX_OPTIONS, IndexOptions, resolve, show_not_found
from quire.dialects import dialect_of, page_url
from quire.document_list import DocumentList, document_list
from quire.errors import NotFoundError
from quire.index.file_records import FileRecord, storable
from quire.llms_txt import PublishedPage, llms_full_txt, llms_txt
from quire.model import Document, Syntax
from quire.offsets import lines_at, text_end
from quire.options import DEFAULT_TOKENIZER
from quire.token_counters import TokenCounter
from quire.trees import OnUndecodable
from quire.validation import NO_LIMIT
from quire.workspace import Workspace
from quire.workspace.selection import exists, is_file

_DETAILS = 16  # the columns of a terminal that a long name leaves to the details


class Row(NamedTuple):
    """A line of a table with token counts."""

    name: str
    tokens: int
    details: str
    style: Callable[[str], str]
    branch: str = ""  # the lines of a tree before the name
    file: str = ""  # the file that the name is a link to


@quire_command("quire outline docs/search.md", "quire outline docs --headings --max-tokens 500")
def command(
    *,
    name: str | None = argument("[PATH|TREE|ID]", required=False),
    headings: bool = option("Of a folder or tree: list the headings, too, with ids."),
    max_tokens: int | None = option(
        "Maximum tokens of the list; if headings do not fit, it has documents, else folders.", least=64
    ),
    form: Literal["text", "llms-txt"] = option(
        "Of a folder or tree, llms-txt: a list of the published pages.", "--format", default="text"
    ),
    full: bool = option("With llms-txt: the texts of the pages, as in llms-full.txt."),
    base_url: str = option("With llms-txt: the address of the pages of the tree.", metavar="URL", default=""),
    depth: int = option("Show headings down to this depth.", "-d", least=0, most=6, default=6),
    tokenizer: str | None = TOKENIZER,
    title: str | None = TITLE,
    syntax: Syntax | None = SYNTAX,
    errors: OnUndecodable = ERRORS,
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
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
    with index.open(paths) as workspace:
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
    pairs = [(record, workspace.file(record.tree, record.path)) for record in records]
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
            for record, file in pairs
        )
    else:
        style = output.Paint(sys.stdout).path
        _print([Row(file, record.tokens, record.title, style, file=file) for record, file in pairs])


def _print(rows: Sequence[Row]) -> None:
    """Print names, token counts and details in columns: shortened to fit a terminal, complete when piped."""
    paint = output.Paint(sys.stdout)
    digits = max((len(f"{row.tokens:,}") for row in rows), default=0)
    name = details = sys.maxsize
    if output.is_terminal(sys.stdout) and rows:
        room = output.terminal_width(sys.stdout) - digits - len("   tokens  ")
        wanted = max(len(row.branch) + output.width(output.visible(row.name)) for row in rows)
        name = min(wanted, output.MOST_WIDE, room - min(max(output.width(row.details) for row in rows), _DETAILS))
        details = room - name
    table = []
    for row in rows:
        title = row.style(output.clip(output.visible(row.name), name - len(row.branch)))
        title = paint.faint(row.branch) + paint.linked(title, row.file)
        tokens = paint.number(f"{row.tokens:>{digits},}"), paint.faint("token " if row.tokens == 1 else "tokens")
        table.append((title, " ".join(tokens), paint.faint(output.clip(output.visible(row.details), details))))
    output.print_table(table, wraps=False)


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
    fits = lambda entries: counter.count(_text(entries)) <= max_tokens  # noqa: E731
    listed = document_list(records, workspace.index.outline, fits, max_tokens=max_tokens)
    if as_json:
        output.write_json({"rows": [entry._asdict() for entry in listed.entries], "total": listed.total})
    else:
        output.echo(_text(listed).removesuffix("\n"))
    if len(listed.entries) < listed.total:
        output.note(f"only {len(listed.entries)} of {listed.total} lines fit; raise --max-tokens")


def _text(listed: DocumentList) -> str:
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
    record = _heading_records(document, counter, depth)[first]
    if as_json:
        output.write_json({"path": document.path and storable(document.path), **record})
    elif first:
        _print([*_tree_rows(record)])
    else:
        _print([*_tree_rows({**record, "title": _label(document)}, file=file)])


def _tree_rows(record: Mapping[str, Any], branch: str = "", below: str = "", file: str = "") -> Iterator[Row]:
    """A line for a heading and for each one below it; ``branch`` and ``below`` draw the tree before their titles."""
    style = output.Paint(sys.stdout).title if record["depth"] < 2 else output.visible
    lines = output.lines_of(record["startLine"], record["endLine"])
    yield Row(record["title"] or "(no title)", record["tokens"], lines, style, branch, file)
    *others, last = record["children"] or [None]
    for child in others:
        yield from _tree_rows(child, f"{below}├─ ", f"{below}│  ")
    if last:
        yield from _tree_rows(last, f"{below}└─ ", f"{below}   ")


def _heading_records(document: Document, counter: TokenCounter, depth: int) -> list[dict[str, Any]]:
    """The document and each of its headings, in order, as JSON has them; ``children`` down to ``depth``."""
    text, sections = document.text, document.sections
    edges = [*(section.start for section in sections), len(text)]
    own_tokens = [counter.count(text[start:end]) for start, end in pairwise(edges)]
    tokens = own_tokens.copy()
    for section in reversed(sections):
        if section.parent is not None:
            tokens[section.parent] += tokens[section.number]
    last = [max(section.start, text_end(text, section.start, section.end) - 1) for section in sections]
    positions = sorted({*edges[:-1], *last})
    lines = dict(zip(positions, lines_at(text, positions), strict=True))
    records: list[dict[str, Any]] = [
        {
            "title": section.title,
            "depth": section.depth,
            "slug": section.slug,
            "tokens": tokens[section.number],
            "ownTokens": own_tokens[section.number],
            "startLine": lines[section.start],
            "endLine": lines[last[section.number]],
            "children": [],
        }
        for section in sections
    ]
    for section in sections:
        if section.parent is not None and section.depth <= depth:
            records[section.parent]["children"].append(records[section.number])
    return records


def _label(document: Document) -> str:
    """The file name of a document, and its title if no heading has it."""
    name = document.path or STANDARD_INPUT_NAME
    first = next((heading.title for heading in document.sections if heading.depth == 1), None)
    return name if document.title in ("", Path(name).stem, first) else f"{name} · {document.title}"
