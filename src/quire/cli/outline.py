"""``quire outline``: the documents of a folder, or the heading tree of a document, with token counts."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

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
from quire.workspace.selected_trees import exists, is_file
from quire.workspace.workspace import Workspace


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
    show_tree(document)
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
        _print((style(_shortened(file)), record.tokens, _shortened(record.title, 18)) for record, file in pairs)


def _shortened(name: str, used: int = 0) -> str:
    """A name that takes at most half of a terminal, of which some columns are ``used``; complete when piped."""
    if not output.is_terminal(sys.stdout):
        return name
    return output.clip(output.visible(name), max(output.terminal_size(sys.stdout, "columns", 80) // 2 - used, 1))


def _print(rows: Iterable[tuple[str, int, str]]) -> None:
    """Print painted names, token counts and details in columns."""
    paint = output.Paint(sys.stdout)
    table = []
    for name, tokens, details in rows:
        size = paint.number(f"{tokens:,}") + paint.faint(" token " if tokens == 1 else " tokens")
        table.append((name, size, paint.faint(details)))
    output.print_table(table, right={1})


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
    show_tree(document, first)


def _show_tree(counter: TokenCounter, depth: int, document: Document, first: int = 0, *, as_json: bool) -> None:
    record = _heading_records(document, counter, depth)[first]
    if as_json:
        output.write_json({"path": document.path and storable(document.path), **record})
    elif first:
        _print(_tree_rows(record))
    else:
        name = document.path or STANDARD_INPUT_NAME
        heading = next((section.title for section in document.sections if section.depth == 1), None)
        is_titled = document.title not in ("", Path(name).stem, heading)  # no heading has the title
        title = f"{name} · {document.title}" if is_titled else name
        _print(_tree_rows({**record, "title": title}))


def _tree_rows(record: Mapping[str, Any], branch: str = "", below: str = "") -> Iterator[tuple[str, int, str]]:
    """A row for a heading and for each one below it; ``branch`` and ``below`` draw the tree before their titles."""
    paint = output.Paint(sys.stdout)
    style = paint.title if record["depth"] < 2 else output.visible
    lines = output.lines_of(record["startLine"], record["endLine"])
    title = style(_shortened(record["title"] or "(no title)", len(branch)))
    yield paint.faint(branch) + title, record["tokens"], lines
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
