"""One file with the page and one document, cut by every strategy, to send to somebody. It needs no server."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from typing import Any

from quire import __version__
from quire.model import Finding
from quire.options import STRATEGIES, Options
from quire.web import chunk_view
from quire.web.assets import asset
from quire.wire import to_json


def export_page(
    text: str, path: str, strategy: str, options: Mapping[str, Any], findings: Iterable[Finding] = ()
) -> bytes:
    """The page with the chunks of ``text``: as ``options`` say, and by the other strategies with their defaults."""
    cuts, records = {}, {}
    common = {key: options[key] for key in options if key in (*Options.__struct_fields__, "title")}
    for name in STRATEGIES:
        chunks = chunk_view.cut(text, path, name, **(options if name == strategy else common))
        cuts[name] = {**chunk_view.cut_record(chunks), "violations": chunk_view.violations(chunks)}
        records[name] = [chunk_view.chunk_record(chunk) for chunk in chunks]
    document = chunk_view.document_record(chunk_view.parsed(text, path, options), findings)
    start = {"version": __version__, "defaults": {"strategy": strategy, **options}, **chunk_view.option_table()}
    return _page(document["title"] or path, {"start": start, "document": document, "cuts": cuts, "records": records})


def _page(title: str, data: dict[str, Any]) -> bytes:
    """The page with its style, script and data inside."""
    style, script = asset("inspector.css"), asset("inspector.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    # Nothing in the data can end the script element that it is in.
    json = to_json(data).replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")
    icon = b'href="data:image/svg+xml;base64,' + b64encode(asset("icon.svg")) + b'"'
    parts = {
        b"<!-- policy -->": f'<meta http-equiv="Content-Security-Policy" content="{policy}">'.encode(),
        b'href="icon.svg"': icon,
        b"<title>quire</title>": f"<title>{escape(title)} · quire</title>".encode("utf-8", "replace"),
        b'<link rel="stylesheet" href="inspector.css">': b"<style>" + style + b"</style>",
        b'<script src="inspector.js" defer></script>': b"",
        b"</body>": b'<script type="application/json" id="data">' + json + b"</script>\n"
        b"<script>" + script + b"</script>\n</body>",
    }
    page = asset("inspector.html")
    for old, new in parts.items():
        page = page.replace(old, new, 1)
    return page


def _hash(content: bytes) -> str:
    return f"sha256-{b64encode(sha256(content).digest()).decode()}"
