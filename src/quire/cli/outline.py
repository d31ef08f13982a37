"""``quire outline``: the documents of a folder, or the heading tree of a document, with token counts."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from quire import pipeline
from quire.cli import output
from quire.cli.command_options import JSON, argument, option, quire_command
from quire.cli.cut_options import ERRORS, SYNTAX, TITLE, TOKENIZER
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.input_documents import STANDARD_INPUT, STANDARD_INPUT_NAME, read_text, renamed
from quire.cli.open_workspace import INDEX_OPTIONS, IndexOptions, get_section
from quire.index.document_list import DocumentList, document_list
from quire.index.file_records import FileRecord, storable
from quire.links.auto_slugs import tree_options
from quire.model.document import Document, Syntax
from quire.model.offsets import lines_at, text_end
from quire.model.options import DEFAULT_TOKENIZER
from quire.model.trees import OnUndecodable
from quire.model.validation import NO_LIMIT
from quire.tokens import tokenizers
from quire.tokens.token_counters import TokenCounter
from quire.workspace.selection import exists, is_file
from quire.workspace.workspace import Workspace

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
    depth: int = option("Show headings down to this depth.", "-d", least=0, most=6, default=6),
    tokenizer: str | None = TOKENIZER,
    title: str | None = TITLE,
    syntax: Syntax | None = SYNTAX,
    errors: OnUndecodable = ERRORS,
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """For a file, or - for standard input, the heading tree; the tokens of a section include those below it. For a
    folder or a tree, its documents; by default, those of all trees of quire.toml, else of the current folder. For an
    id, the headings of that document or section in the index. The exit code is 1 if nothing is found.
    """
    name = name or ""
    counter = tokenizers.resolve(tokenizer, DEFAULT_TOKENIZER)
    show_tree = partial(_show_tree, counter, depth, as_json=as_json)
    if name == STANDARD_INPUT or is_file(name):
        _show_file(name, errors, show_tree, title=title, syntax=syntax)
        return 0
    with index.open_named(name) as workspace:
        pattern = "" if exists(name) else name
        records = workspace.documents(pattern)
        is_document = any(pattern in (record.id, record.path) for record in records)
        if pattern and (is_document or not records):
            _show_indexed(workspace, name, show_tree)
        elif headings or max_tokens:
            _show_headings(workspace, records, counter, max_tokens or NO_LIMIT, as_json=as_json)
        else:
            _show_documents(workspace, records, as_json=as_json)
        return 0 if pattern or records else NOTHING_FOUND


def _show_file(name: str, errors: OnUndecodable, show_tree: Callable[..., None], **options: Any) -> None:
    path = None if name == STANDARD_INPUT else Path(name)
    shown = name if path else STANDARD_INPUT_NAME
    text, findings = read_text(path, shown, errors)
    values = tree_options({}, (), path.parent) if path else {}
    document = pipeline.parse(text, path=path and path.name, **options, **values)
    show_tree(document, name)
    output.show_findings(renamed((*findings, *document.findings), shown))


def _show_documents(workspace: Workspace, records: Sequence[FileRecord], *, as_json: bool) -> None:
    pairs = [(record, workspace.file(record.tree, record.path)) for record in records]
    if as_json:
        output.write_json_array(
            {"id": record.id, "path": record.path, "file": storable(file)}
            | {name: getattr(record, name) for name in ("title", "nodes", "tokens")}
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
        room = output.terminal_size(sys.stdout, "columns", 80) - digits - len("   tokens  ")
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


def _show_headings(
    workspace: Workspace, records: Sequence[FileRecord], counter: TokenCounter, max_tokens: int, *, as_json: bool
) -> None:
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


def _show_indexed(workspace: Workspace, name: str, show_tree: Callable[..., None]) -> None:
    hit = get_section(workspace, name)
    tree = workspace.trees[hit.tree]
    values = tree_options({"substitutions": tree.substitutions}, (), tree.folder)
    document = pipeline.parse(workspace.get(f"{hit.tree}:{hit.path}").text, path=hit.path, **values)
    first = next((section.number for section in document.sections if section.start == hit.span.start and hit.depth), 0)
    show_tree(document, workspace.file(hit.tree, hit.path), first)


def _show_tree(
    counter: TokenCounter, depth: int, document: Document, file: str, first: int = 0, *, as_json: bool
) -> None:
    record = _heading_records(document, counter, depth)[first]
    if as_json:
        output.write_json({"path": document.path and storable(document.path), **record})
    elif first:
        _print([*_tree_rows(record)])
    else:
        name = document.path or STANDARD_INPUT_NAME
        heading = next((section.title for section in document.sections if section.depth == 1), None)
        is_titled = document.title not in ("", Path(name).stem, heading)  # no heading has the title
        title = f"{name} · {document.title}" if is_titled else name
        _print([*_tree_rows({**record, "title": title}, file=file)])


def _tree_rows(record: Mapping[str, Any], branch: str = "", below: str = "", file: str = "") -> Iterator[Row]:
    """A line for a heading and for each one below it; ``branch`` and ``below`` draw the tree before their titles."""
    style = output.Paint(sys.stdout).title if record["depth"] < 2 else output.visible
    lines = output.lines_of(record["startLine"], record["endLine"])
    yield Row(record["title"] or "(no title)", record["tokens"], lines, style, branch, file)
    for left, child in enumerate(record["children"], start=1 - len(record["children"])):  # 0 is the last
        yield from _tree_rows(child, f"{below}{'├' if left else '└'}─ ", f"{below}{'│' if left else ' '}  ")


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
    records: list[dict[str, Any]] = []
    for section, size, own, end in zip(sections, tokens, own_tokens, last, strict=True):
        heading = {"title": section.title, "depth": section.depth, "slug": section.slug}
        position = {"startLine": lines[section.start], "endLine": lines[end]}
        records.append({**heading, "tokens": size, "ownTokens": own, **position, "children": []})
        if section.parent is not None and section.depth <= depth:
            records[section.parent]["children"].append(records[-1])
    return records
