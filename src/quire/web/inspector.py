"""The server of the page: every call is a POST of a small JSON record to ``api/NAME``.

Only the browser that got the address may ask, on this machine (Host), from this page (Origin), with the token.
"""

import gc
import os
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from quire import __version__
from quire.errors import InputError, NotFoundError, OptionError, QueryError, QuireError
from quire.index.file_records import storable
from quire.index.folder import is_inside
from quire.model.document import Finding
from quire.model.trees import unused_name
from quire.output.chunk_json import to_json
from quire.read.discover import Found
from quire.read.source import read_file
from quire.tokens.tokenizers import NAMES
from quire.web import chunk_view
from quire.web.html_pages import asset
from quire.web.local_server import HEADERS, guarded, page_refusal, serve

Options = Mapping[str, Any]  # the strategy under its name, and options
Search = Callable[[str, "ServedDocuments"], dict[str, Any]]

_ASSETS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}  # types by endings
MOST_LISTED = 500  # the most entries in one list; the filter finds the others
MOST_BYTES = 16_000_000  # the largest document that the page shows
_STARTS = ("readme.", "index.", "_index.")  # how the names of documents begin that introduce a folder
_LONGEST_QUERY = 2_000


class Text(NamedTuple):
    """A text to cut."""

    text: str
    path: str  # in ids
    findings: tuple[Finding, ...] = ()  # of decoding it
    file: str = "-"


class ServedDocuments:
    """The documents that the page may read, in a table that each ``refresh`` fills again.

    A request names a document by a key of the table, never by a path, so nothing outside can be read, whatever a
    request names. Links inside the folders are not followed.
    """

    def __init__(self, find: Callable[[], Sequence[Found]]) -> None:
        self._find = find
        self.refresh()

    def refresh(self) -> None:
        """Look for documents again."""
        documents = self._find()
        labels: dict[str, str] = {}
        for root in dict.fromkeys(document.root for document in documents):
            name = os.path.basename(os.path.abspath(root)) or "documents"  # noqa: PTH100, PTH119
            labels[root] = unused_name(name, labels.values())
        files = {root for root in labels if Path(root).is_file()}
        self._table = {
            storable(labels[each.root] + ("" if each.root in files else f"/{each.path}")): each for each in documents
        }
        # by the absolute path, as the index writes it; links stay as named
        self.keys = {storable(os.path.abspath(each.file)): key for key, each in self._table.items()}  # noqa: PTH100

    def __len__(self) -> int:
        return len(self._table)

    def first(self) -> str | None:
        """The document to open first: a README or index near the top, else the first one."""
        starts = [key for key in self._table if key.rpartition("/")[2].lower().startswith(_STARTS)]
        return min(starts, key=lambda key: (key.count("/"), key), default=next(iter(self._table), None))

    def get(self, key: str) -> Found:
        """A document by its key."""
        if key not in self._table:
            raise NotFoundError(f"{key[:200]!r}: no such document", "choose one in the list")
        return self._table[key]

    def text(self, key: str) -> Text:
        """The text of a document."""
        document = self.get(key)
        if not is_inside(os.path.realpath(document.file), os.path.realpath(document.root)):
            raise InputError(key, "leads out of the given folders", "it is now a symbolic link; start quire web again")
        if document.file.stat().st_size > MOST_BYTES:
            raise InputError(key, f"larger than {MOST_BYTES // 1_000_000} MB", "use quire chunk")
        text, findings = read_file(document.file, key, "replace")
        return Text(text, storable(document.path), findings, storable(str(document.file)))

    def listing(self, folder: str) -> dict[str, Any]:
        """The folders, with their numbers of documents, and the documents of one folder."""
        start = f"{folder}/" if folder else ""
        inside = [key.removeprefix(start) for key in self._table if key.startswith(start)]
        folders = sorted(Counter(path.partition("/")[0] for path in inside if "/" in path).items())
        documents = [path for path in inside if "/" not in path]
        more = len(folders[MOST_LISTED:]) + len(documents[MOST_LISTED:])
        return {"folders": folders[:MOST_LISTED], "documents": documents[:MOST_LISTED], "more": more}

    def matching(self, text: str) -> dict[str, Any]:
        """The documents whose keys contain all of the words."""
        words = text.lower().split()
        keys = [key for key in self._table if all(word in key.lower() for word in words)]
        return {"documents": keys[:MOST_LISTED], "more": len(keys[MOST_LISTED:])}


class PageRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends: a document or a text and how to cut it; or as a text a folder, a filter or a query."""

    document: str | None = None
    text: str | None = None
    path: str = "pasted.md"  # of a text
    strategy: str = "packed"
    options: dict[str, int | bool | str] = {}
    chunk: int = 0
    near: int | None = None  # a position: the chunks around it are enough


class Inspector:
    """The answers to the page's calls."""

    def __init__(self, documents: ServedDocuments, options_of: Callable[[str], Options], search: Search) -> None:
        self._documents = documents
        self._options_of = options_of
        self._calls: dict[str, Callable[[PageRequest], Any]] = {
            "start": self._start,
            "refresh": self._refresh,  # when the page has drawn the first document
            "folder": lambda request: documents.listing(request.text or ""),
            "filter": lambda request: documents.matching(request.text or ""),
            "search": lambda request: search((request.text or "")[:_LONGEST_QUERY], documents),
            "document": self._document,
            "cut": lambda request: chunk_view.part_record(**self._cut_arguments(request), near=request.near),
            "chunk": self._chunk,
            "verify": lambda request: chunk_view.violations(chunk_view.cut(**self._cut_arguments(request))),
        }

    def app(self, token: str) -> Starlette:
        """The application, whose paths start with a token."""
        routes = [Route(path, self._asset) for path in ("/", "/{name:str}")]
        routes.append(Route("/api/{name:str}", self._answer, methods=["POST"]))
        return Starlette(routes=[Mount(f"/{token}", routes=routes)], max_body_size=2 * MOST_BYTES)

    async def _asset(self, request: Request) -> Response:
        name = request.path_params.get("name", "inspector.html")
        if name not in ("icon.svg", "inspector.css", "inspector.html", "inspector.js"):
            return PlainTextResponse("not found\n", 404)
        return Response(asset(name), media_type=_ASSETS[name.rpartition(".")[2]])

    async def _answer(self, request: Request) -> Response:
        call = self._calls.get(request.path_params["name"])
        if call is None:
            return _json({"error": "no such call"}, 404)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return _json({"error": "send JSON"}, 415)
        try:
            return _json(await run_in_threadpool(call, msgspec.json.decode(await request.body(), type=PageRequest)))
        except (QuireError, msgspec.DecodeError, OSError) as error:
            text = (error.strerror if isinstance(error, OSError) else None) or str(error)
            is_answer = isinstance(error, OptionError | QueryError)  # a browser would log any other status
            status = 200 if is_answer else 404 if isinstance(error, NotFoundError) else 400
            return _json({"error": text, "option": getattr(error, "option", "")}, status)

    def _start(self, request: PageRequest) -> dict[str, Any]:
        options = {"defaults": chunk_view.page_options(self._options_of("")), **chunk_view.option_table()}
        return {"version": __version__, "first": self._documents.first(), **self._tree(), **options}

    def _tree(self) -> dict[str, Any]:
        return {"documents": len(self._documents), "root": self._documents.listing("")}

    def _refresh(self, request: PageRequest) -> dict[str, Any]:
        self._documents.refresh()
        return self._tree()

    def _input(self, request: PageRequest) -> tuple[Text, Options]:
        """A document of the table or a text, and the options of its tree."""
        if request.document is not None:
            return self._documents.text(request.document), self._options_of(self._documents.get(request.document).root)
        if request.text is None or "\0" in request.path:
            raise NotFoundError("no document", "name one, or send a text")
        return Text(request.text, request.path), self._options_of("")

    def _document(self, request: PageRequest) -> dict[str, Any]:
        text, options = self._input(request)
        record = chunk_view.document_record(chunk_view.parsed(text.text, text.path, options), text.findings)
        return {**record, "defaults": chunk_view.page_options(options), "file": text.file}

    def _cut_arguments(self, request: PageRequest) -> dict[str, Any]:
        """The text, its path and the page's options, with the substitutions of the document's tree."""
        text, options = self._input(request)
        name = request.options.get("tokenizer", NAMES[0])
        if name not in (*NAMES, options.get("tokenizer")):  # it may be a file, and the page reads only documents
            problem = f"tokenizer {name!r:.80} is not one of the page's"
            raise OptionError(problem, "name it when you start quire web", option="tokenizer")
        texts = {"text": text.text, "path": text.path, "strategy": request.strategy}
        return {**request.options, **texts, "substitutions": options.get("substitutions")}

    def _chunk(self, request: PageRequest) -> dict[str, Any]:
        chunks = chunk_view.cut(**self._cut_arguments(request))
        if not 0 <= request.chunk < len(chunks):
            raise NotFoundError(f"there is no chunk {request.chunk}")
        return chunk_view.chunk_record(chunks[request.chunk])


def _json(value: Any, status: int = 200) -> Response:
    return Response(to_json(value), status, media_type="application/json")


def serve_inspector(inspector: Inspector, listener: socket.socket, token: str) -> None:
    """Answer requests until Ctrl-C."""
    gc.freeze()
    # A cut makes many records and no cycles; collecting takes a fifth to a third of its time.
    gc.set_threshold(100_000, 50, 50)
    app = guarded(inspector.app(token), partial(page_refusal, token, listener.getsockname()[1]), **HEADERS)
    serve(app, listener, lifespan="off")
