"""``quire links``: list broken links between documents, the links to a section, or pages without links to them."""

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from quire.cli.command_options import FORMAT, JSON, PATHS, FindingForm, option, quire_command, refuse
from quire.cli.cut_options import ERRORS, TreeCutter
from quire.cli.exit_codes import NOTHING_FOUND
from quire.cli.input_documents import Inputs, Summary, Work, results
from quire.cli.open_workspace import INDEX_OPTIONS, IndexOptions, get_section
from quire.cli.output import count_of, echo, note, visible, write_findings, write_json
from quire.links.broken_links import LinkTargets
from quire.model.document import Document, Finding
from quire.model.offsets import lines_at
from quire.model.trees import OnUndecodable
from quire.workspace.selected_trees import exists
from quire.workspace.workspace import Workspace


@quire_command("quire links docs", "quire links docs --orphans")
def command(
    *,
    paths: tuple[str, ...] = PATHS,
    to: str | None = option("List the links that lead to this section or document.", "ID|PATH"),
    is_orphans: bool = option("List documents that no other one links to.", "--orphans"),
    errors: OnUndecodable = ERRORS,
    form: FindingForm = FORMAT,
    as_json: bool = JSON,
    index: IndexOptions = INDEX_OPTIONS,
) -> int:
    """Checks that every link between documents leads to an existing document and section. Prints each broken link with
    its file and line, the missing target and the nearest existing one. Links to other sites, to files other than
    documents, and to pages that may be outside of the folder are not checked. The exit code is 1 if a link is broken,
    and 2 if a document could not be read. Without PATH, checks the trees of quire.toml.

    --to and --orphans answer from the index. The exit code is 1 if no link leads there, or if there are orphans. A
    sidebar that the generator writes has no links for quire.
    """
    refuse(to and is_orphans, "--to and --orphans exclude each other; choose one")
    if to or is_orphans:
        with index.open(paths) as workspace:
            return _show_indexed(workspace, to, as_json=as_json)
    inputs = Inputs.load(paths, errors=errors)
    summary = Summary()
    trees: dict[str, dict[str, Document]] = defaultdict(dict)  # by their folder and their path in it
    names: dict[tuple[str, str], str] = {}
    found = inputs.documents(summary)
    cut = TreeCutter.of(inputs, {"tokenizer": None}).with_documents(found)
    parse: Work[Any] = lambda text: (Summary(Counter(documents=1)), (text, cut.parse(text)))  # noqa: E731
    for text, document in results(found, parse, summary, jobs=1, prepare=cut.prepare):
        path = text.path or text.name
        folder = os.path.normpath(Path(text.name).parent.joinpath(*[".."] * path.count("/")))
        trees[folder][path] = document
        names[folder, path] = text.name
    broken: list[Finding] = []
    records: list[dict[str, Any]] = []
    count = 0
    for folder, documents in trees.items():
        targets = LinkTargets(documents, exists=lambda path, folder=folder: exists(f"{folder}/{path}"))  # type: ignore[misc]
        count += sum(map(len, targets.links.values()))
        for path, link, target in targets.broken():
            [line] = lines_at(documents[path].text, [link.start])
            record = {"file": names[folder, path], "line": line, "text": link.text, "target": link.target}
            records.append({**record, "problem": target.problem, "nearest": target.nearest})
            near = f"; nearest: {target.nearest}" if target.nearest else ""
            message = f"[{link.text}]({link.target}): {target.problem}{near}"
            broken.append(Finding(code="broken-link", path=names[folder, path], line=line, message=message))
    write_findings(broken, "json" if as_json else form, records)
    summary.show(only_errors=True)
    code = summary.exit_code(inputs.paths)
    if number := summary.counts["documents"]:
        note(f"{count_of(count, 'link')} in {count_of(number, 'document')}, {len(broken):,} broken")
    return code or (NOTHING_FOUND if broken else 0)


def _show_indexed(workspace: Workspace, target: str | None, *, as_json: bool) -> int:
    rows: Sequence[Any]
    if target:
        links = workspace.index.links_to(get_section(workspace, target).id)
        rows = [{**structs.asdict(link), "file": workspace.file(link.tree, link.path)} for link in links]
        lines = [f"{row['file']}:{row['line']}: [{row['text']}] in {row['id']}" for row in rows]
        total = f"{count_of(len(rows), 'link')} from {count_of(len({link.id for link in links}), 'section')}"
    else:
        orphans = set(workspace.index.orphans())
        found = [record for record in workspace.documents() if record.id in orphans]
        rows = lines = [workspace.file(record.tree, record.path) for record in found]
        total = f"{count_of(len(rows), 'document')} without a link to it"
    if as_json:
        write_json(rows)
    elif lines:
        echo("\n".join(map(visible, lines)))
    note(total)
    return 0 if bool(rows) == bool(target) else NOTHING_FOUND
