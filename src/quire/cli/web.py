"""``quire web``: a local page that shows how documents are cut and searched."""

from __future__ import annotations

import secrets
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from quire.cli.cut_options import Cutter, TreeCutter, cut_options, load_tokenizers
from quire.cli.input_documents import Inputs, Summary
from quire.cli.open_workspace import open_workspace
from quire.cli.output import count_of, echo, note
from quire.cli.shared_options import index_option, not_empty, paths_argument, quire_command
from quire.errors import MissingExtraError
from quire.options import STRATEGIES
from quire.read.discover import Found
from quire.settings.precedence import load
from quire.web.html_pages import export_page
from quire.web.score_explanation import search_record
from quire.web.served_documents import ServedDocuments
from quire.workspace import Workspace, display_path
from quire.workspace.tree_paths import refuse_missing
from quire.write.atomic_file import new_file

_HITS = 20


@quire_command("quire web docs", "quire web docs/search.md --export page.html")
@paths_argument
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port. [default: a free one]")
@click.option("--open", "open_page", is_flag=True, help="Open the page in the browser.")
@click.option("--export", metavar="FILE", callback=not_empty, help="Write the page of one document to a file instead.")
@cut_options
@index_option
def command(
    *, paths: tuple[str, ...], port: int, open_page: bool, export: str | None, index_folder: str | None, **options: Any
) -> int:
    """Show on a local page how documents are cut and searched.

    Prints an address on this machine and serves the page there until Ctrl-C. Only a browser that has the whole address
    can use it, and it can read only the documents in PATH. Without PATH, these are the trees of quire.toml, else the
    current folder. Options set what the page starts with. A search updates the index, as quire search does.

    With --export, writes one file that shows one document, cut by every strategy, and that needs no server.
    """
    inputs = _inputs(paths)
    cutter = TreeCutter.of(inputs, options).with_documents(inputs.documents(Summary()))
    if export is not None:
        return _export(inputs, cutter, Path(export))
    return _serve(inputs, cutter, paths, index_folder, port, open_page=open_page)


def _inputs(paths: tuple[str, ...]) -> Inputs:
    """The paths; without any the trees of quire.toml, else the current folder."""
    refuse_missing(paths)
    if not paths and not load(Path.cwd()).trees:
        with Workspace.open() as workspace:
            paths = tuple(map(display_path, workspace.folders.values()))
    return Inputs.load(paths)


def _found(inputs: Inputs) -> list[Found]:
    return [document.found for document in inputs.documents(Summary()) if document.found]


def _initial_options(cutter: Cutter) -> dict[str, Any]:
    return {"strategy": cutter.strategy, **cutter.options} | (
        {"tokenizer": cutter.tokenizer} if cutter.tokenizer else {}
    )


def _export(inputs: Inputs, cutter: TreeCutter, target: Path) -> int:
    documents = inputs.documents(summary := Summary())
    if len(documents) != 1:
        summary.show(only_errors=True)
        raise click.UsageError(f"--export takes one document, not {len(documents)}; name a file")
    document = documents[0].read()
    options = _initial_options(cutter.cutter(document))
    page = export_page(document.text, document.path or "stdin.md", options.pop("strategy"), options, document.findings)
    with new_file(target) as stream:
        stream.write(page)
    note(f"wrote {display_path(target)}, {len(page) / 1000:,.0f} KB")
    return 0


def _serve(
    inputs: Inputs, cutter: TreeCutter, paths: tuple[str, ...], index_folder: str | None, port: int, *, open_page: bool
) -> int:
    try:
        from quire.local_server import listen  # noqa: PLC0415  starlette and uvicorn are an extra
        from quire.web.inspector import Inspector, serve_inspector  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("web", error.name) from error
    with Workspace.open(paths, index=index_folder) as workspace:
        workspace.check_index_folder()  # refuse a wrong folder now, not at the first search
    documents = ServedDocuments(lambda: _found(inputs))
    cutter.prepare()
    load_tokenizers(STRATEGIES, None)  # the page may change the strategy

    def options_of(root: str) -> dict[str, Any]:
        return _initial_options(cutter.cutters.get(root) or next(iter(cutter.cutters.values())))

    def search(query: str, served: ServedDocuments) -> dict[str, Any]:
        with open_workspace(paths, index_folder=index_folder) as workspace:
            if not query.strip():
                return {"hits": [], "notes": []}
            results = workspace.search(query, limit=_HITS, max_tokens=0, explain=True)
            files = [workspace.file(hit.tree, hit.path) for hit in results]
            return search_record(workspace.index, results, list(map(served.keys_of(files).get, files)))

    token = secrets.token_urlsafe(24)
    with listen("127.0.0.1", port) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/"
        note(f"{count_of(len(documents), 'document')}; Ctrl-C ends quire web")
        echo(address)
        sys.stdout.flush()
        if open_page:
            webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            serve_inspector(Inspector(documents, options_of, search), listener, token)
    return 0
