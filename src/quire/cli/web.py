"""``quire web``: a local page that shows how documents are cut and searched."""

import os
import secrets
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from quire.cli.command_options import PATHS, option, quire_command, refuse
from quire.cli.cut_options import CUT_OPTIONS, TreeCutter, load_tokenizers
from quire.cli.input_documents import InputDocument, Inputs, Summary
from quire.cli.open_workspace import INDEX, IndexOptions, show_empty
from quire.cli.output import count_of, echo, note
from quire.errors import InputError, MissingExtraError
from quire.model.options import STRATEGIES
from quire.model.substitutions import flat_values
from quire.output.atomic_file import new_file
from quire.web.html_pages import MARK, export_page
from quire.web.score_explanation import search_record
from quire.workspace.selected_trees import display_path
from quire.workspace.workspace import Workspace

_HITS = 20


@quire_command("quire web docs", "quire web docs/search.md --export page.html")
def command(
    *,
    paths: tuple[str, ...] = PATHS,
    port: int = option("The port. [default: a free one]", least=0, most=65535, default=0),
    open_page: bool = option("Open the page in the browser.", "--open"),
    export: str | None = option("Write the page of one document to a file instead.", "FILE"),
    options: Mapping[str, Any] = CUT_OPTIONS,
    index_folder: str | None = INDEX,
) -> int:
    """Prints an address on this machine and serves the page there until Ctrl-C. Only a browser that has the whole
    address can use it, and it can read only the documents in PATH. Without PATH, these are the trees of quire.toml,
    else the current folder. Options set what the page starts with. A search updates the index, as quire search does.

    With --export, writes one file that shows one document, cut by every strategy, and that needs no server.
    """
    # Refuses a wrong folder now, not at the first search. The page of a file needs none.
    with nullcontext() if export and paths else Workspace.open(paths, index=index_folder) as workspace:
        trees = workspace.folders.values() if workspace and not workspace.settings.trees else ()
    inputs = Inputs.load(paths or tuple(map(display_path, trees)))
    documents = inputs.documents(summary := Summary())
    cutter = TreeCutter.of(inputs, options).with_documents(documents)
    if export is not None:
        summary.show(only_errors=True)
        refuse(len(documents) != 1, f"--export takes one document, not {len(documents)}; name a file")
        return _export(documents[0].read(), cutter, Path(export))
    if workspace and not documents:
        show_empty(workspace, paths)
    return _serve(inputs, cutter, paths, index_folder, port, open_page=open_page)


def _initial_options(options: Mapping[str, Any]) -> dict[str, Any]:
    values = tuple(flat_values(options.get("substitutions")))  # pairs, so that cuts can be remembered
    return {name: value for name, value in options.items() if value is not None} | {"substitutions": values}


def _export(document: InputDocument, cutter: TreeCutter, target: Path) -> int:
    options = _initial_options(cutter.options_of(document))
    page = export_page(document.text, document.path or "stdin.md", options.pop("strategy"), options, document.findings)
    is_new = not target.is_file()
    if not is_new and MARK not in target.read_bytes():
        raise InputError(str(target), "exists and is not a page of quire", "remove it, or choose another file")
    with new_file(target) as stream:
        stream.write(page)
    note(f"{'wrote' if is_new else 'replaced'} {target}, {len(page) / 1000:,.0f} KB")
    return 0


def _serve(
    inputs: Inputs, cutter: TreeCutter, paths: tuple[str, ...], index_folder: str | None, port: int, *, open_page: bool
) -> int:
    try:
        from quire.web.inspector import Inspector, ServedDocuments, serve_inspector  # noqa: PLC0415
        from quire.web.local_server import listen  # noqa: PLC0415  starlette and uvicorn are an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError("web", error.name) from error
    documents = ServedDocuments(lambda: [document.found for document in inputs.documents(Summary()) if document.found])
    cutter.prepare()
    load_tokenizers(STRATEGIES, None)  # the page may change the strategy

    def options_of(root: str) -> dict[str, Any]:
        return _initial_options(cutter.options.get(root) or next(iter(cutter.options.values())))

    def search(query: str, served: ServedDocuments) -> dict[str, Any]:
        with IndexOptions(folder=index_folder, no_update=False).open(paths) as workspace:
            if not query.strip():
                return {"hits": [], "notes": []}
            results = workspace.search(query, limit=_HITS, max_tokens=0, explain=True)
            files = [os.path.abspath(workspace.file(hit.tree, hit.path)) for hit in results]  # noqa: PTH100
            return search_record(workspace.index, results, [served.keys.get(file) for file in files])

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
