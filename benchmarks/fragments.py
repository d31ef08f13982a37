"""How many links with a fragment find their section: by ``Index.get``, and by the resolver of ``quire links``.

Other folders are measured, too, if they are named: ``QUIRE_FRAGMENTS="Flax (MyST)=flax/docs,…"``.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import quire
from quire.links.broken_links import LinkTargets
from quire.read.discover import discover

COLLECTIONS = {
    "Docusaurus": "wild/docusaurus",
    "Vue (VitePress)": "wild/vitepress",
    "FastAPI (MkDocs)": "wild/fastapi",
    "Kubernetes (Hugo)": "linkqa/k8s",
    "Material for MkDocs": "wild/mkdocs-material",
    "Docker (Hugo)": "linkqa/docker",
    "Rust Book (mdBook)": "linkqa/rustbook",
}
_COLUMNS = ("", "pages", "links", "with a fragment", "`Index.get`", "resolver", "made elsewhere", "broken", "seconds")


def run() -> Iterator[str]:
    data = Path(os.environ.get("QUIRE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
    yield f"| {' | '.join(_COLUMNS)} |"
    yield "|---" * len(_COLUMNS) + "|"
    others = filter(None, os.environ.get("QUIRE_FRAGMENTS", "").split(","))
    folders = {name: data / folder for name, folder in COLLECTIONS.items()}
    folders |= {name: Path(folder) for name, _, folder in (each.partition("=") for each in others)}
    for name, folder in folders.items():
        if folder.is_dir():
            yield f"| {name} | {' | '.join(_row(folder))} |"
    yield ""
    yield from _EXPLAINED


_EXPLAINED = (
    "*With a fragment*: links that lead to a page of the collection and name a section or an id in it. *`Index.get`*",
    "and *resolver*: those whose section is found, by `Index.get` as `docs:page.md#id`. *Made elsewhere*: the resolver",
    "does not see the anchor and does not call the link broken: the page includes other files or has only a component,",
    "or a shortcode writes headings or lists pages there; a few are ids above the first heading. *Broken*: reported by",
    "`quire links`. *Seconds*: processor time for parsing the pages and resolving all links. Collections below the",
    "Rust Book are in the packages of these projects on PyPI and npm. Hatch's reference is made of its code.",
)


def _row(folder: Path) -> Iterator[str]:
    started = time.process_time()
    found = discover(str(folder)).documents
    documents = {each.path: quire.parse(each.file.read_text(encoding="utf-8"), path=each.path) for each in found}
    targets = LinkTargets(documents, exists=lambda path: (folder / path).exists())
    resolved = [(link, targets.resolve(path, link)) for path, links in targets.links.items() for link in links]
    seconds = time.process_time() - started
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place, quire.Index.open(place) as index:
        index.update({"docs": folder})
        for link, target in resolved:
            fragment = unquote(link.target.partition("#")[2])
            if fragment and target.path:
                kind = "broken" if target.problem else "found" if target.section else "elsewhere"
                counts.update(["all", kind, "got" if _is_got(index, f"docs:{target.path}#{fragment}") else "not got"])
    yield f"{len(documents):,}"
    yield f"{len(resolved):,}"
    yield from (f"{counts[kind]:,}" for kind in ("all", "got", "found", "elsewhere", "broken"))
    yield f"{seconds:.1f}"


def _is_got(index: quire.Index, name: str) -> bool:
    try:
        return bool(index.get(name))
    except quire.NotFoundError:
        return False
